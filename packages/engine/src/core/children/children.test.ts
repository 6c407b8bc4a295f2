import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { ChildCommand } from '../../ports/store.ts';
import { nextWake } from '../decide/advance.ts';
import { checkLog } from '../fold/log-checker.ts';
import { chain, edge, node, variable, type WorkflowSpec } from '../testing/definitions.ts';
import {
  fold,
  logEntries,
  simulate,
  type Simulation,
  type SimulationOptions,
} from '../testing/simulation.ts';

const CHILD: JsonObject = { workflowId: 'child-workflow' };

function parentOf(
  config: JsonObject = {},
  rest: Partial<WorkflowSpec> = {},
  options: SimulationOptions = {},
): Simulation {
  const run = simulate(
    { nodes: [node('sub', 'core.subWorkflow', { ...CHILD, ...config })], ...rest },
    options,
  );
  run.start();
  return run;
}

const childIdOf = (run: Simulation, key = 'sub'): string => run.run.state.nodes.get(key)?.child?.runId ?? '';
const cancelsOf = (run: Simulation) =>
  run.signals.flatMap(({ runId, command }) => (command.type === 'cancel' ? [{ runId, ...command }] : []));
const isLegal = (run: Simulation) =>
  expect(checkLog(logEntries(run.log), { terminal: run.run.state.endedAt !== undefined })).toEqual([]);

describe('a node that runs a child', () => {
  it('fixes the id of the child in the log before it asks for it (E-9)', () => {
    const run = parentOf();

    expect(run.story()).toEqual(['run.started', 'node.started sub', 'node.dispatched sub']);
    expect(run.payload('node.dispatched')).toEqual({
      childRunId: childIdOf(run),
      childWorkflowId: 'child-workflow',
    });
    expect(run.spawned).toMatchObject([{ key: 'sub', nodeId: 'sub', childRunId: childIdOf(run) }]);
    expect(run.run.state.status).toBe('running');
  });

  it('asks for the same child again after a crash, with the same inputs, until it is known to exist', () => {
    const run = simulate(
      {
        nodes: [
          node('sub', 'core.subWorkflow', { ...CHILD, inputMapping: { who: 'name', gone: 'missing' } }),
        ],
        variables: [variable('name')],
      },
      { inputs: { name: 'weft' } },
    );
    run.start();

    run.crash();

    expect(run.spawned).toHaveLength(2);
    expect(run.spawned[1]).toEqual(run.spawned[0]);
    expect(run.spawned[0]?.spec.inputs).toEqual({ who: 'weft' });
    expect(nextWake(run.run)).toBe(0);
    run.step({ type: 'child-created', key: 'sub', childRunId: childIdOf(run) });
    expect(nextWake(run.run)).toBeNull();
  });

  it('asks again for its child when a new holder finds the run paused', () => {
    const run = parentOf();
    run.command({ type: 'pause', policy: 'immediate' });

    run.crash();
    run.command({ type: 'resume' });

    expect(run.spawned.map(({ childRunId }) => childRunId)).toEqual([childIdOf(run), childIdOf(run)]);
  });

  it('does not ask again for a child that it has heard of', () => {
    const run = parentOf();
    run.child('sub', 'waiting-approval');

    run.crash();
    run.settle({
      type: 'child-created',
      key: 'sub',
      childRunId: childIdOf(run),
      error: { code: 'child_missing', message: 'The store is closed.' },
    });

    expect(run.spawned).toHaveLength(1);
    expect(run.run.state.status).toBe('waiting-approval');
    run.child('sub', 'running');
    run.crash();
    expect(run.spawned).toHaveLength(1);
    expect(nextWake(run.run)).toBeNull();
  });

  it('completes with who the child was, how it ended and what it put out', () => {
    const run = parentOf();

    const step = run.child('sub', 'completed', { outputs: { answer: 42 } });

    expect(step.commandResult).toMatchObject({ applied: true, status: 'completed' });
    expect(run.payload('node.completed')).toEqual({
      nodeId: 'sub',
      outputs: { childRunId: childIdOf(run), childStatus: 'completed', output: { answer: 42 } },
    });
    expect(run.run.state.children).toMatchObject([{ runId: childIdOf(run), status: 'completed' }]);
    isLegal(run);
  });

  it('waits for the same as its child, resumes with it, and follows a change of what it waits for (E-11)', () => {
    const run = parentOf();

    const statuses = (['waiting-approval', 'waiting-input', 'running', 'waiting-external'] as const).map(
      (status) => {
        run.child('sub', status);
        return run.run.state.status;
      },
    );
    run.child('sub', 'completed');

    expect(statuses).toEqual(['waiting-approval', 'waiting-input', 'running', 'waiting-external']);
    expect(run.story().slice(3)).toEqual([
      'node.suspended sub',
      'node.resumed sub',
      'node.suspended sub',
      'node.resumed sub',
      'node.suspended sub',
      'node.resumed sub',
      'node.completed sub',
      'run.completed',
    ]);
    expect(run.payload('node.suspended')).toMatchObject({
      reason: 'child-waiting',
      childRunId: childIdOf(run),
      childStatus: 'waiting-approval',
    });
    isLegal(run);
  });

  it('has no question of its own while its child waits', () => {
    const run = parentOf();
    run.child('sub', 'waiting-approval');
    const before = JSON.stringify(run.log);

    const step = run.answer('sub', { action: 'accept' });

    expect(step.commandResult).toMatchObject({ applied: false, refusal: { code: 'interrupt_not_found' } });
    expect(JSON.stringify(run.log)).toBe(before);
  });

  it('keeps the run running while another branch is at work', () => {
    const run = simulate({
      nodes: [node('go'), node('sub', 'core.subWorkflow', CHILD), node('work', 'test.effect')],
      edges: [edge('go', 'sub'), edge('go', 'work')],
    });
    run.start();

    run.child('sub', 'waiting-input');
    const whileBusy = run.run.state.status;
    run.succeed('work');

    expect([whileBusy, run.run.state.status]).toEqual(['running', 'waiting-input']);
  });

  it('is cancelled with its run, and the child gets a cancel', () => {
    const run = parentOf();

    run.command({ type: 'cancel', reason: 'enough' });

    expect(cancelsOf(run)).toEqual([
      { runId: childIdOf(run), type: 'cancel', reason: 'parent-cancelled', parentRunId: run.record.runId },
    ]);
    expect(run.run.state.children).toMatchObject([{ status: 'cancelled' }]);
    isLegal(run);
  });

  it('tells a waiting child as well', () => {
    const run = parentOf();
    run.child('sub', 'waiting-approval');

    run.command({ type: 'cancel' });

    expect(cancelsOf(run)).toHaveLength(1);
    expect(run.story().slice(-2)).toEqual(['node.cancelled sub', 'run.cancelled']);
  });

  it('leaves the child alone when cancellation is not to be passed on', () => {
    const run = parentOf({ propagateCancellation: false });

    run.command({ type: 'cancel' });

    expect(cancelsOf(run)).toEqual([]);
    expect(run.run.state.children).toMatchObject([{ status: 'running' }]);
  });

  it('leaves its source’s child alone when the run is a replay', () => {
    const source = parentOf();
    const replay = parentOf(
      {},
      {},
      { fork: { sourceRunId: source.record.runId, fromSeq: 0, mode: 'replay' } },
    );
    expect(childIdOf(replay)).toBe(childIdOf(source));

    replay.command({ type: 'cancel' });

    expect(replay.signals).toEqual([]);
  });

  it('takes the child with it when a cap ends the run elsewhere', () => {
    const run = simulate(
      {
        nodes: [
          node('go'),
          node('sub', 'core.subWorkflow', CHILD),
          node('wait', 'test.effect'),
          node('over'),
        ],
        edges: [edge('go', 'sub'), edge('go', 'wait'), edge('wait', 'over')],
      },
      { limits: { nodeExecutions: 3 } },
    );
    run.start();

    run.succeed('wait');

    expect(run.run.state).toMatchObject({ status: 'failed', error: { code: 'recursion_limit_exceeded' } });
    expect(cancelsOf(run).map(({ runId }) => runId)).toEqual([childIdOf(run)]);
    isLegal(run);
  });

  it('fails where the child cannot be created', () => {
    const run = parentOf();

    run.settle({
      type: 'child-created',
      key: 'sub',
      childRunId: childIdOf(run),
      error: { code: 'unknown_child_workflow', message: 'No workflow has this id.' },
    });

    expect(run.run.state).toMatchObject({ status: 'failed', error: { code: 'unknown_child_workflow' } });
    // Should it exist after all, because no one could tell whether it was written, it must not run on alone.
    expect(cancelsOf(run).map(({ runId }) => runId)).toEqual([childIdOf(run)]);
    isLegal(run);
  });
});

describe('what comes late or from elsewhere', () => {
  const ended: Partial<ChildCommand> = { outputs: { late: true } };

  it.each([
    ['a foreign child', { childRunId: 'other-run' }],
    ['an unknown node', { nodeKey: 'unknown' }],
    ['another iteration', { nodeKey: 'sub[0]' }],
  ])('changes nothing: %s', (_name, wrong) => {
    const run = parentOf();
    const before = JSON.stringify(run.log);

    const step = run.child('sub', 'completed', { ...ended, ...wrong });

    expect(step.commandResult).toMatchObject({ applied: false, status: 'running' });
    expect(JSON.stringify(run.log)).toBe(before);
  });

  it('changes nothing once the child has ended, or the run has (E-10)', () => {
    const run = simulate({
      nodes: [node('sub', 'core.subWorkflow', CHILD), node('after', 'test.effect')],
      edges: chain('sub', 'after'),
    });
    run.start();
    run.child('sub', 'completed');
    const before = JSON.stringify(run.log);

    const statuses = (['waiting-approval', 'running', 'failed', 'completed'] as const).map(
      (status) => run.child('sub', status).commandResult,
    );

    expect(statuses.map((commandResult) => commandResult?.applied)).toEqual([false, false, false, false]);
    expect(JSON.stringify(run.log)).toBe(before);
    run.succeed('after');
    expect(run.child('sub', 'failed').commandResult).toMatchObject({ applied: false, status: 'completed' });
  });

  it('changes nothing when the creation of a child that is over is reported', () => {
    const run = parentOf();
    run.child('sub', 'completed');
    const before = JSON.stringify(run.log);

    run.settle({
      type: 'child-created',
      key: 'sub',
      childRunId: childIdOf(run),
      error: { code: 'child_missing', message: 'It is not there.' },
    });

    expect(JSON.stringify(run.log)).toBe(before);
  });
});

describe('a node that asks after its child', () => {
  it('does not take a repeated word of the child for an answer', () => {
    const run = simulate({ nodes: [node('both', 'test.childThenAsk')] });
    run.start();
    run.child('both', 'completed');
    const before = JSON.stringify(run.log);

    const again = run.child('both', 'completed');

    expect(again.commandResult).toMatchObject({ applied: false, status: 'waiting-input' });
    expect(JSON.stringify(run.log)).toBe(before);
    run.answer('both', { fine: true });
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });
});

describe('a child that does not complete', () => {
  it('fails the parent, which says why', () => {
    const run = parentOf();

    run.child('sub', 'failed', { error: { code: 'boom', message: 'It broke.' } });

    expect(run.run.state.error).toMatchObject({
      code: 'child_failed',
      details: { childRunId: childIdOf(run), childStatus: 'failed', childError: { code: 'boom' } },
    });
    expect(run.run.state.children).toMatchObject([{ status: 'failed' }]);
  });

  it('fails the parent when it was cancelled on its own', () => {
    const run = parentOf();

    run.child('sub', 'cancelled');

    expect(run.run.state).toMatchObject({ status: 'failed', error: { code: 'child_failed' } });
    expect(run.run.state.children).toMatchObject([{ status: 'cancelled' }]);
    expect(cancelsOf(run)).toEqual([]);
  });

  it.each(['failed', 'cancelled'] as const)('is absorbed where the config says so: %s', (status) => {
    const run = parentOf(
      { onChildFailure: 'absorb', outputMapping: { mine: 'theirs' } },
      { variables: [variable('mine', { defaultValue: 'kept' })] },
    );

    run.child('sub', status, { variables: { theirs: 'lost' } });

    expect(run.run.state.status).toBe('completed');
    expect(run.payload('node.completed')).toMatchObject({ outputs: { childStatus: status } });
    expect(run.run.state.variables.get('mine')).toBe('kept');
    expect(run.run.state.children).toMatchObject([{ status }]);
  });
});

describe('variables of a child', () => {
  it('are taken over by name; one that the child never set leaves the parent’s as it is', () => {
    const run = parentOf(
      { outputMapping: { a: 'x', b: 'missing', c: 'empty' } },
      { variables: [variable('a'), variable('b', { defaultValue: 'kept' }), variable('c')] },
    );

    run.child('sub', 'completed', { variables: { x: 1, empty: null } });

    expect(Object.fromEntries(run.run.state.variables)).toEqual({ a: 1, b: 'kept', c: null });
    expect(run.story().filter((line) => line.startsWith('variable.changed'))).toHaveLength(2);
    isLegal(run);
  });

  it('are not mistaken for what every object has', () => {
    const run = parentOf({ outputMapping: { a: 'constructor', b: 'toString' } });

    run.child('sub', 'completed', { variables: {} });

    expect(run.run.state.variables.size).toBe(0);
    expect(run.run.state.status).toBe('completed');
  });

  it('may have any name, also one that objects treat in their own way', () => {
    const run = parentOf({ outputMapping: Object.fromEntries([['__proto__', 'x']]) as JsonObject });

    run.child('sub', 'completed', { variables: { x: 'kept' } });

    expect(run.run.state.variables.get('__proto__')).toBe('kept');
  });

  it('stay secret in the parent where the child’s workflow says so', () => {
    const run = parentOf({ outputMapping: { mine: 'theirs' } });

    run.child('sub', 'completed', { variables: { theirs: 'swordfish-9' }, sensitive: ['theirs'] });

    expect(run.log.map(({ payload }) => payload).join('\n')).not.toContain('swordfish-9');
    expect(run.run.state.variables.get('mine')).toBe('swordfish-9');
    expect(fold(run.plan, run.record, run.log).variables.get('mine')).toBe('swordfish-9');
    expect([...fold(run.plan, run.record, run.log).sensitiveVariables]).toEqual([['mine', true]]);
  });
});

describe('a paused parent', () => {
  it('hears of its child’s end after the resume', () => {
    const run = parentOf();
    run.command({ type: 'pause', policy: 'immediate' });

    const unheard = run.child('sub', 'completed');
    run.command({ type: 'resume' });
    const heard = run.child('sub', 'completed');

    expect(unheard.commandResult).toBeUndefined();
    expect(heard.commandResult).toMatchObject({ applied: true, status: 'completed' });
    isLegal(run);
  });

  it('that is cancelled takes its child with it', () => {
    const run = parentOf();
    run.command({ type: 'pause', policy: 'immediate' });

    run.command({ type: 'cancel' });

    expect(run.run.state.status).toBe('cancelled');
    expect(cancelsOf(run)).toHaveLength(1);
  });

  it('hears nothing while it drains', () => {
    const run = simulate({
      nodes: [node('go'), node('sub', 'core.subWorkflow', CHILD), node('work', 'test.effect')],
      edges: [edge('go', 'sub'), edge('go', 'work')],
    });
    run.start();
    run.command({ type: 'pause', policy: 'drain-current-node' });

    const unheard = run.child('sub', 'completed');

    expect(unheard.commandResult).toBeUndefined();
    expect(run.run.state.nodes.get('sub')?.status).toBe('running');
  });
});

describe('several children', () => {
  const twins: WorkflowSpec = {
    nodes: [node('go'), node('left', 'core.subWorkflow', CHILD), node('right', 'core.subWorkflow', CHILD)],
    edges: [edge('go', 'left'), edge('go', 'right')],
  };

  it('in parallel branches have ids of their own, and end in any order', () => {
    const run = simulate(twins);
    run.start();
    expect(childIdOf(run, 'left')).not.toBe(childIdOf(run, 'right'));

    run.child('right', 'completed');
    run.child('left', 'waiting-input');
    run.child('left', 'completed');

    expect(run.run.state.status).toBe('completed');
    expect(run.run.state.children.map(({ status }) => status)).toEqual(['completed', 'completed']);
    isLegal(run);
  });

  it('that wait give the run the status of the one that waited first', () => {
    const run = simulate(twins);
    run.start();

    run.child('right', 'waiting-input');
    run.child('left', 'waiting-approval');
    const both = run.run.state.status;
    run.child('right', 'completed');

    expect([both, run.run.state.status]).toEqual(['waiting-input', 'waiting-approval']);
  });

  it('in the iterations of a loop are one per iteration', () => {
    const run = simulate({
      nodes: [
        node('each', 'core.loop', { body: ['sub'], items: [1, 2, 3], maxIterations: 3 }),
        node('sub', 'core.subWorkflow', CHILD),
      ],
    });
    run.start();

    for (const index of [0, 1, 2]) {
      run.crash();
      run.child(`sub[${index}]`, 'completed', { outputs: { output: index } });
    }

    const ids = new Set(run.spawned.map(({ childRunId }) => childRunId));
    expect(ids.size).toBe(3);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });
});

describe('a run that is a child', () => {
  const parent = {
    runId: 'parent-run',
    nodeId: 'sub',
    nodeKey: 'sub',
    ancestors: ['above'],
    collect: ['mine'],
  };
  const tellings = (run: Simulation) =>
    run.signals.flatMap(({ command }) => (command.type === 'child' ? [command.status] : []));

  it('signals its parent that it waits, resumes and ends, each under an id of its own', () => {
    const run = simulate(
      {
        nodes: [node('gate', 'core.approvalGate'), node('work', 'test.effect')],
        edges: chain('gate', 'work'),
        variables: [variable('mine', { defaultValue: 'seven' }), variable('other')],
      },
      { parent },
    );
    run.start();
    run.answer('gate', { action: 'accept' });
    run.succeed('work', { output: 'done' });

    expect(tellings(run)).toEqual(['waiting-approval', 'running', 'completed']);
    expect(new Set(run.signals.map(({ commandId }) => commandId)).size).toBe(3);
    expect(run.signals.at(-1)).toMatchObject({
      runId: 'parent-run',
      command: { nodeKey: 'sub', outputs: { output: 'done' }, variables: { mine: 'seven' } },
    });
  });

  it('keeps its pauses to itself', () => {
    const run = simulate({ nodes: [node('work', 'test.effect')] }, { parent });
    run.start();

    run.command({ type: 'pause', policy: 'immediate' });
    run.command({ type: 'resume' });

    expect(tellings(run)).toEqual([]);
  });

  it('says why it failed, and that it was cancelled', () => {
    const failed = simulate({ nodes: [node('bad', 'core.fail')] }, { parent });
    const cancelled = simulate({ nodes: [node('work', 'test.effect')] }, { parent });
    failed.start();
    cancelled.start();
    cancelled.command({ type: 'cancel' });

    expect(failed.signals.at(-1)?.command).toMatchObject({
      status: 'failed',
      error: { code: expect.any(String) },
    });
    expect(cancelled.signals.at(-1)?.command).toMatchObject({ status: 'cancelled' });
  });

  it('names the variables that must stay secret', () => {
    const run = simulate(
      { nodes: [node('only')], variables: [variable('mine', { defaultValue: 's3cret', sensitive: true })] },
      { parent },
    );

    run.start();

    expect(run.signals.at(-1)?.command).toMatchObject({ variables: { mine: 's3cret' }, sensitive: ['mine'] });
  });
});
