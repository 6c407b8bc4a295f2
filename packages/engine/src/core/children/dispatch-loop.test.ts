import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { checkLog } from '../fold/log-checker.ts';
import { chain, edge, node, variable, type WorkflowSpec } from '../testing/definitions.ts';
import { logEntries, simulate, type Simulation, type SimulationOptions } from '../testing/simulation.ts';

const NEXT = (...nextWorkerIds: string[]): JsonObject => ({ kind: 'next-worker', nextWorkerIds });
const ASK: JsonObject = { kind: 'ask-user', prompt: 'Which way?' };
const DONE: JsonObject = { kind: 'terminate', reason: 'done' };

function orchestrated(
  decisions: JsonObject[],
  config: JsonObject = {},
  options: SimulationOptions = {},
  rest: Partial<WorkflowSpec> = {},
): Simulation {
  const run = simulate(
    {
      nodes: [
        node('sup', 'core.orchestrator.supervisor', { mockDecisions: decisions }),
        node('dis', 'core.dispatch', config),
      ],
      edges: chain('sup', 'dis', 'sup'),
      ...rest,
    },
    options,
  );
  run.start();
  return run;
}

const isLegal = (run: Simulation) =>
  expect(checkLog(logEntries(run.log), { terminal: run.run.state.endedAt !== undefined })).toEqual([]);
const eventsOf = (run: Simulation, type: string) => run.log.filter((event) => event.type === type);
const workers = (run: Simulation) => run.spawned.map(({ spec }) => spec.workflowId);

describe('a dispatch loop', () => {
  it('runs the named worker, comes back to the supervisor, and ends when that terminates', () => {
    const run = orchestrated([NEXT('worker-a'), DONE]);

    run.child('dis', 'completed');

    expect(run.story()).toEqual([
      'run.started',
      'node.started sup',
      'runOrchestrator.decided sup',
      'node.completed sup',
      'node.started dis',
      'node.dispatched dis',
      'node.completed dis',
      'node.started sup',
      'runOrchestrator.decided sup',
      'node.completed sup',
      'node.started dis',
      'node.completed dis',
      'run.completed',
    ]);
    expect(run.run.state.visits.get('dis')).toBe(1);
    isLegal(run);
  });

  it('names the decision as the cause of what it led to', () => {
    const run = orchestrated([NEXT('worker-a'), DONE]);
    run.child('dis', 'completed');

    const decisions = eventsOf(run, 'runOrchestrator.decided').map(({ seq }) => seq);
    const caused = run.log.filter(({ nodeId, type }) => nodeId === 'dis' && type !== 'node.started');

    expect(caused.map(({ causeSeq }) => causeSeq)).toEqual([decisions[0], decisions[0], decisions[1]]);
  });

  it('gives each worker of each round an id of its own, also when it is the same workflow', () => {
    const run = orchestrated([NEXT('worker-a', 'worker-a'), NEXT('worker-a'), DONE]);

    for (let count = 0; count < 3; count += 1) run.child('dis', 'completed');

    expect(workers(run)).toEqual(['worker-a', 'worker-a', 'worker-a']);
    expect(new Set(run.spawned.map(({ childRunId }) => childRunId)).size).toBe(3);
    expect(run.run.state.children.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
    expect(run.run.state.status).toBe('completed');
  });

  it('runs several workers one after the other, on one set of variables', () => {
    const run = orchestrated(
      [NEXT('first', 'second'), DONE],
      { inputMapping: { seen: 'note' }, outputMapping: { note: 'said' } },
      {},
      { variables: [variable('note', { defaultValue: 'start' })] },
    );
    expect(workers(run)).toEqual(['first']);

    run.child('dis', 'completed', { variables: { said: 'from first' } });
    run.child('dis', 'completed', { variables: { said: 'from second' } });

    expect(run.spawned.map(({ spec }) => spec.inputs)).toEqual([{ seen: 'start' }, { seen: 'from first' }]);
    expect(run.run.state.variables.get('note')).toBe('from second');
  });

  it('takes the mapping of the worker before the one for all', () => {
    const run = orchestrated(
      [NEXT('special'), DONE],
      { inputMapping: { a: 'x' }, perWorkerInputMappings: { special: { b: 'x' } } },
      { inputs: { x: 1 } },
    );

    expect(run.spawned[0]?.spec.inputs).toEqual({ b: 1 });
  });

  it('refuses several workers at once where its policy says so', () => {
    const run = orchestrated([NEXT('first', 'second')], { fanOutPolicy: 'reject' });

    expect(run.run.state.error).toMatchObject({ code: 'fan_out_unsupported', details: { workers: 2 } });
    expect(run.spawned).toEqual([]);
  });

  it('fails with its worker', () => {
    const run = orchestrated([NEXT('worker-a'), DONE]);

    run.child('dis', 'failed', { error: { code: 'boom', message: 'It broke.' } });

    expect(run.run.state).toMatchObject({ status: 'failed', error: { code: 'child_failed' } });
    expect(eventsOf(run, 'node.failed')[0]?.causeSeq).toBe(eventsOf(run, 'runOrchestrator.decided')[0]?.seq);
  });

  it('continues in the round in which a new holder takes over', () => {
    const run = orchestrated([NEXT('a'), NEXT('b', 'c'), DONE]);

    for (let count = 0; count < 3; count += 1) {
      run.crash();
      run.child('dis', 'completed');
    }

    expect(new Set(run.spawned.map(({ childRunId }) => childRunId)).size).toBe(3);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('leads on to what comes after it only when it is done', () => {
    const run = orchestrated(
      [NEXT('a'), DONE],
      {},
      {},
      {
        nodes: [
          node('sup', 'core.orchestrator.supervisor', { mockDecisions: [NEXT('a'), DONE] }),
          node('dis', 'core.dispatch'),
          node('out'),
        ],
        edges: [...chain('sup', 'dis', 'sup'), edge('dis', 'out')],
      },
    );
    expect(run.story()).not.toContain('node.started out');

    run.child('dis', 'completed');

    expect(run.story().filter((line) => line === 'node.started out')).toHaveLength(1);
  });

  it('runs in every iteration of a loop around it, whatever its workers change meanwhile', () => {
    const run = simulate({
      nodes: [
        node('each', 'core.loop', { body: ['sup', 'dis'], while: 'variables.count < 2', maxIterations: 5 }),
        node('sup', 'core.orchestrator.supervisor', { mockDecisions: [NEXT('a'), NEXT('b'), DONE] }),
        node('dis', 'core.dispatch', { outputMapping: { count: 'count' } }),
      ],
      edges: chain('sup', 'dis', 'sup'),
      variables: [{ name: 'count', type: 'number', defaultValue: 0 }],
    });
    run.start();

    run.child('dis[0]', 'completed', { variables: { count: 1 } });
    run.child('dis[0]', 'completed');
    run.child('dis[1]', 'completed', { variables: { count: 9 } });
    run.crash();
    run.child('dis[1]', 'completed');

    expect(workers(run).filter((name) => name === 'b').length).toBeGreaterThanOrEqual(2);
    expect(new Set(run.spawned.map(({ childRunId }) => childRunId)).size).toBe(4);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('does not begin again while a node of its round is still at work', () => {
    const run = simulate({
      nodes: [
        node('sup', 'core.orchestrator.supervisor', { mockDecisions: [NEXT('a'), DONE] }),
        node('slow', 'test.effect'),
        node('dis', 'core.dispatch'),
      ],
      edges: [
        edge('sup', 'slow'),
        edge('sup', 'dis', { rule: 'any_success' }),
        edge('slow', 'dis', { rule: 'any_success' }),
        edge('dis', 'sup'),
      ],
    });
    run.start();

    run.child('dis', 'completed');
    run.succeed('slow');

    expect(run.run.state.error).toMatchObject({ code: 'cycle_busy', details: { nodes: ['slow'] } });
    isLegal(run);
  });
});

describe('a decision', () => {
  it('must have been taken before a dispatch', () => {
    const run = simulate({
      nodes: [
        node('dis', 'core.dispatch'),
        node('sup', 'core.orchestrator.supervisor', { mockDecisions: [DONE] }),
      ],
      edges: chain('dis', 'sup'),
    });

    run.start();

    expect(run.run.state.error?.code).toBe('no_pending_decision');
  });

  it('is carried out once', () => {
    const run = simulate({
      nodes: [
        node('sup', 'core.orchestrator.supervisor', { mockDecisions: [NEXT('a')] }),
        node('one', 'core.dispatch'),
        node('two', 'core.dispatch'),
      ],
      edges: chain('sup', 'one', 'two'),
    });
    run.start();

    run.child('one', 'completed');

    expect(workers(run)).toEqual(['a']);
    expect(run.run.state.error?.code).toBe('no_pending_decision');
  });

  it('is neither taken up nor claimed as a cause by a node that does not act on it', () => {
    const run = simulate({
      nodes: [
        node('sup', 'core.orchestrator.supervisor', { mockDecisions: [NEXT('a')] }),
        node('sub', 'core.subWorkflow', { workflowId: 'other' }),
        node('dis', 'core.dispatch'),
      ],
      edges: chain('sup', 'sub', 'dis'),
    });
    run.start();

    run.child('sub', 'completed');

    expect(
      run.log.filter(({ nodeId }) => nodeId === 'sub').every(({ causeSeq }) => causeSeq === undefined),
    ).toBe(true);
    expect(workers(run)).toEqual(['other', 'a']);
  });
});

describe('two orchestrators side by side', () => {
  const pair = (first: JsonObject[], second: JsonObject[]): Simulation => {
    const run = simulate({
      nodes: [
        node('a-sup', 'core.orchestrator.supervisor', { mockDecisions: first }),
        node('b-sup', 'core.orchestrator.supervisor', { mockDecisions: second }),
        node('x-dis', 'core.dispatch'),
        node('y-dis', 'core.dispatch'),
      ],
      edges: [...chain('a-sup', 'x-dis', 'a-sup'), ...chain('b-sup', 'y-dis', 'b-sup')],
    });
    run.start();
    return run;
  };

  it('each have their decisions carried out by their own dispatch', () => {
    const run = pair([NEXT('for-a'), DONE], [NEXT('for-b'), DONE]);

    expect(run.spawned.map(({ nodeId, spec }) => `${nodeId} ${spec.workflowId}`)).toEqual([
      'x-dis for-a',
      'y-dis for-b',
    ]);
    run.child('y-dis', 'completed');
    run.child('x-dis', 'completed');
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('do not disturb a dispatch that has begun', () => {
    const run = pair([NEXT('a-1', 'a-2'), DONE], [NEXT('b-1'), ASK, DONE]);
    run.child('y-dis', 'completed');

    run.crash();
    run.child('x-dis', 'completed');
    run.child('x-dis', 'completed');
    run.answer('y-dis', { operation: 'close' });

    expect(run.run.state.children.map(({ workflowId }) => workflowId)).toEqual(['a-1', 'b-1', 'a-2']);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });
});

describe('the caps of a dispatch loop', () => {
  it('stop an orchestrator before the decision that would be one too many', () => {
    const run = orchestrated([NEXT('a'), NEXT('a'), NEXT('a')], {}, { limits: { loopIterations: 2 } });

    run.child('dis', 'completed');
    run.child('dis', 'completed');

    expect(eventsOf(run, 'runOrchestrator.decided')).toHaveLength(2);
    expect(run.payload('cap.breached')).toMatchObject({ kind: 'loop-iterations', limit: 2, observed: 3 });
    expect(run.run.state.error).toMatchObject({
      code: 'loop_limit_exceeded',
      details: { limit: 2, iteration: 3 },
    });
    isLegal(run);
  });

  it('stop a dispatch that has gone round as often as its own cap allows', () => {
    const run = orchestrated([NEXT('a'), NEXT('a'), NEXT('a')], { iterationCap: 2 });

    run.child('dis', 'completed');
    run.child('dis', 'completed');

    expect(workers(run)).toHaveLength(2);
    expect(run.payload('cap.breached')).toMatchObject({ kind: 'loop-iterations', limit: 2, nodeId: 'dis' });
    isLegal(run);
  });
});

describe('a decision to ask the user', () => {
  it('opens a conversation whose close leads back to the supervisor', () => {
    const run = orchestrated([ASK, DONE]);
    expect(run.run.state.status).toBe('waiting-approval');
    expect(run.payload('conversation.opened')).toMatchObject({
      conversationId: 'dis',
      initialTurn: { content: 'Which way?' },
    });

    run.answer('dis', { content: 'Left.' });
    expect(run.run.state.status).toBe('waiting-approval');
    run.answer('dis', { operation: 'close', outcome: 'left' });

    expect(run.run.state.status).toBe('completed');
    expect(run.run.state.visits.get('dis')).toBe(1);
    isLegal(run);
  });

  it('asks for clarification where the config says so', () => {
    const run = orchestrated([ASK, DONE], { askUserRouting: 'clarification' });
    expect(run.run.state.status).toBe('waiting-input');

    run.answer('dis', { answers: { answer: 'Left.' } });

    expect(run.run.state.status).toBe('completed');
    expect(eventsOf(run, 'node.completed')[1]?.causeSeq).toBe(
      eventsOf(run, 'runOrchestrator.decided')[0]?.seq,
    );
    isLegal(run);
  });

  it('asks under another id in each round, and an answer to an earlier one is too late', () => {
    const run = orchestrated([ASK, ASK, DONE], { askUserRouting: 'clarification' });
    run.answer('dis', { answers: { answer: 'one' } }, { interruptId: 'dis:0' });

    const late = run.answer('dis', { answers: { answer: 'one again' } }, { interruptId: 'dis:0' });

    expect(late.commandResult).toMatchObject({
      applied: false,
      refusal: { code: 'interrupt_already_resolved' },
    });
    expect(run.run.state.nodes.get('dis')?.interrupt?.interruptId).toBe('dis#1:0');
  });

  it('counts as clarification over all rounds', () => {
    const run = orchestrated(
      [ASK, ASK, ASK],
      { askUserRouting: 'clarification' },
      { limits: { clarificationRounds: 2 } },
    );

    run.answer('dis', { answers: { answer: 'one' } });
    run.crash();
    run.answer('dis', { answers: { answer: 'two' } });

    expect(run.payload('cap.breached')).toMatchObject({
      kind: 'clarification',
      limit: 2,
      observed: 3,
      nodeId: 'dis',
    });
    expect(run.run.state.error?.code).toBe('clarification_limit_exceeded');
    isLegal(run);
  });
});

describe('a decision the supervisor is not sure of', () => {
  const doubtful = (rest: JsonObject = {}) =>
    orchestrated([{ ...NEXT('a'), confidence: 0.4 }, DONE], rest, {});

  it('goes to a person before it is on record', () => {
    const run = doubtful();

    expect(run.run.state.status).toBe('waiting-approval');
    expect(run.payload('node.suspended')).toMatchObject({
      reason: 'low-confidence',
      threshold: 0.7,
      observed: 0.4,
    });
    expect(eventsOf(run, 'runOrchestrator.decided')).toEqual([]);
  });

  it.each([[{ ratified: true }], [{ action: 'accept' }]])(
    'is carried out when it is ratified by %j',
    (value) => {
      const run = doubtful();

      run.answer('sup', value);

      expect(run.payload('runOrchestrator.decided')).toMatchObject({ decision: { nextWorkerIds: ['a'] } });
      expect(workers(run)).toEqual(['a']);
    },
  );

  it('is replaced by another', () => {
    const run = doubtful();

    run.answer('sup', { decision: NEXT('b') });

    expect(workers(run)).toEqual(['b']);
    isLegal(run);
  });

  it.each([[{ rejected: true }], [{ action: 'reject' }]])(
    'fails the run when it is rejected by %j',
    (value) => {
      const run = doubtful();

      run.answer('sup', value);

      expect(run.run.state.error?.code).toBe('decision_rejected');
      isLegal(run);
    },
  );

  it.each([
    [{}],
    [{ ratified: 'yes' }],
    [{ action: 'maybe' }],
    ['yes'],
    [null],
    [{ decision: 'left' }],
    [{ decision: { kind: 'dance' } }],
    [{ decision: { kind: 'next-worker', nextWorkerIds: [] } }],
  ])('stays open after %j, and the log as it was', (value) => {
    const run = doubtful();
    const before = JSON.stringify(run.log);

    const step = run.answer('sup', value);

    expect(step.commandResult).toMatchObject({ applied: false, refusal: { code: 'validation_error' } });
    expect(JSON.stringify(run.log)).toBe(before);
  });

  it('is sure enough at the threshold itself, which a run may move', () => {
    const at = (confidence: number, configurable: JsonObject = {}) =>
      orchestrated([{ ...NEXT('a'), confidence }, DONE], {}, { configurable }).run.state.status;

    expect([
      at(0.7),
      at(0.69),
      at(0.5, { escalationThreshold: 0.5 }),
      at(0.9, { escalationThreshold: 1 }),
    ]).toEqual(['running', 'waiting-approval', 'running', 'waiting-approval']);
  });
});
