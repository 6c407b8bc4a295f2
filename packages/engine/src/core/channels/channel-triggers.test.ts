import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { nextTimer, nextWake } from '../decide/advance.ts';
import { encodeState } from '../fold/checkpoint.ts';
import { checkLog } from '../fold/log-checker.ts';
import { chain, edge, node, type WorkflowSpec } from '../testing/definitions.ts';
import {
  fold,
  logEntries,
  simulate,
  type Simulation,
  type SimulationOptions,
  START,
} from '../testing/simulation.ts';

const channels = { log: { reducer: 'append' } };
const write = (id: string, value = id) => node(id, 'core.channelWrite', { channelName: 'log', value });
const onWrite = (nodeId: string, config: JsonObject = {}): JsonObject => ({
  id: `on-${nodeId}`,
  type: 'channel-write',
  nodeId,
  config: { channel: 'log', ...config },
});

/** Writers `a` … one after the other, with a delay between; `seen`, triggered, and `after` behind it. */
function watching(
  writers: readonly string[],
  config: JsonObject = {},
  rest: Partial<WorkflowSpec> = {},
  options: SimulationOptions = {},
): Simulation {
  const steps = writers.flatMap((id, index) =>
    index === 0 ? [write(id)] : [node(`wait-${id}`, 'core.delay', { ms: 100 }), write(id)],
  );
  return simulate(
    {
      nodes: [...steps, node('seen', 'test.effect'), node('after')],
      edges: [...chain(...steps.map(({ id }) => id)), edge('seen', 'after')],
      channels,
      triggers: [onWrite('seen', config)],
      ...rest,
    },
    options,
  );
}

const startsOf = (run: Simulation, nodeId: string): number =>
  run.story().filter((line) => line === `node.started ${nodeId}`).length;
const isLegal = (run: Simulation) =>
  expect(checkLog(logEntries(run.log), { terminal: run.run.state.endedAt !== undefined })).toEqual([]);

/** Lets everything that is left end well. */
function finish(run: Simulation): void {
  for (let guard = 0; guard < 200 && run.run.state.endedAt === undefined; guard += 1) {
    const [key] = run.open.keys();
    if (key !== undefined) run.succeed(key);
    else if (!run.passTime()) break;
  }
}

describe('a node with a channel-write trigger', () => {
  it('does not start with the run, but when the channel is written', () => {
    const run = watching(['a']);

    run.start();

    expect(run.story()).toEqual([
      'run.started',
      'node.started a',
      'channel.written a',
      'node.completed a',
      'weft.trigger.fired seen',
      'node.started seen',
    ]);
    finish(run);
    expect(run.run.state.status).toBe('completed');
    expect(run.run.state.nodes.get('after')?.status).toBe('completed');
    isLegal(run);
  });

  it('is skipped, and what is behind it, when its channel was not written and nothing else is left (E-15)', () => {
    const run = simulate({
      nodes: [node('a', 'test.effect'), node('seen'), node('after')],
      edges: [edge('seen', 'after')],
      channels,
      triggers: [onWrite('seen')],
    });
    run.start();
    expect(run.run.state.nodes.has('seen')).toBe(false);

    run.succeed('a');

    expect(run.run.state.status).toBe('completed');
    expect(run.run.state.nodes.get('seen')).toMatchObject({ status: 'skipped', reason: 'not-triggered' });
    expect(run.run.state.nodes.get('after')).toMatchObject({ status: 'skipped', reason: 'upstream-skipped' });
    isLegal(run);
  });

  it('runs once for all writes within the debounce, counted from the first of them (E-13)', () => {
    const run = watching(['a', 'b', 'c', 'd'], { debounceMs: 250 });

    run.start();
    finish(run);

    const fired = run.log.filter(({ type }) => type === 'weft.trigger.fired').map(({ at }) => at - START);
    expect(fired).toEqual([250, 550]);
    expect(startsOf(run, 'seen')).toBe(2);
    expect(startsOf(run, 'after')).toBe(2);
    expect(run.run.state.visits.get('seen')).toBe(1);
    isLegal(run);
  });

  it('keeps the run alive while it is due, and says when (E-15)', () => {
    const run = watching(['a'], { debounceMs: 60_000 });

    run.start();

    expect(run.run.state.status).toBe('running');
    expect(nextTimer(run.run)).toBe(START + 60_000);
    expect(nextWake(run.run)).toBe(START + 60_000);
    finish(run);
    expect(run.run.state.status).toBe('completed');
  });

  it('remembers writes while it is at work, and runs once more afterwards (E-14)', () => {
    const run = watching(['a', 'b', 'c']);
    run.start();
    run.passTime();
    run.passTime();
    expect(startsOf(run, 'seen')).toBe(1);

    run.succeed('seen');
    expect(startsOf(run, 'seen')).toBe(2);
    run.succeed('seen');

    expect(startsOf(run, 'seen')).toBe(2);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('is another effect with every visit', () => {
    const run = watching(['a', 'b']);
    run.start();
    run.passTime();
    expect(run.open.get('seen')?.visit).toBeUndefined();

    run.succeed('seen');

    expect(run.open.get('seen')).toMatchObject({ visit: 1, attempt: 0 });
  });

  it('is not started by itself or by what is behind it (E-12)', () => {
    const run = simulate({
      nodes: [write('a'), write('seen'), write('after')],
      edges: [edge('seen', 'after')],
      channels,
      triggers: [onWrite('seen')],
    });

    run.start();

    expect(startsOf(run, 'seen')).toBe(1);
    expect(run.run.state.channels.get('log')).toEqual(['a', 'seen', 'after']);
    expect(run.run.state.status).toBe('completed');
  });

  it('does again only what it alone leads to; a join with other nodes is done once', () => {
    const run = simulate({
      nodes: [
        write('a'),
        node('wait', 'core.delay', { ms: 10 }),
        write('b'),
        node('seen'),
        node('own'),
        node('join'),
      ],
      edges: [...chain('a', 'wait', 'b'), edge('seen', 'own'), edge('own', 'join'), edge('a', 'join')],
      channels,
      triggers: [onWrite('seen')],
    });

    run.start();
    finish(run);

    expect(run.plan.triggers.get('seen')?.again).toEqual(['own', 'seen']);
    expect([startsOf(run, 'own'), startsOf(run, 'join')]).toEqual([2, 1]);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('may run after it was skipped, when what came of that wrote', () => {
    const run = simulate({
      nodes: [node('a'), node('seen'), write('late'), node('other')],
      edges: [edge('other', 'late', { rule: 'all_complete' })],
      channels,
      triggers: [onWrite('seen'), { ...onWrite('other'), config: { channel: 'log', onlyFrom: 'child' } }],
    });

    run.start();
    finish(run);

    expect(run.run.state.nodes.get('other')?.status).toBe('skipped');
    expect(run.run.state.nodes.get('seen')?.status).toBe('completed');
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('forgets the failure of an earlier visit', () => {
    const run = watching(['a', 'b']);
    run.start();
    run.fail('seen');

    run.passTime();
    run.succeed('seen');

    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('fails the run when it would run more often than settings.maxLoopbackIterations allow', () => {
    const run = watching(['a', 'b', 'c'], {}, { settings: { maxLoopbackIterations: 2 } });

    run.start();
    finish(run);

    expect(startsOf(run, 'seen')).toBe(2);
    expect(run.payload('cap.breached')).toMatchObject({ kind: 'loop-iterations', limit: 2, observed: 3 });
    expect(run.run.state.error).toMatchObject({ code: 'loop_limit_exceeded' });
    expect(run.run.state.error?.message).toContain('settings.maxLoopbackIterations');
    isLegal(run);
  });
});

describe('the legal log', () => {
  it('does not let a trigger do again what is still at work', () => {
    const run = watching(['a', 'b']);
    run.start();
    run.passTime();
    finish(run);
    const broken = logEntries(run.log).filter(
      ({ type, nodeId }) => type !== 'node.completed' || nodeId !== 'seen',
    );

    const violations = checkLog(broken.map((entry, sequence) => ({ ...entry, sequence })));

    expect(violations.map(({ rule }) => rule)).toContain('L22');
  });
});

describe('a trigger, whatever happens to the run,', () => {
  it('fires the same way after a takeover at every event (E-12)', () => {
    const original = watching(['a', 'b', 'c', 'd'], { debounceMs: 150 }, {}, { budget: { maxNodes: 1 } });
    original.start();
    finish(original);

    for (let cut = 1; cut < original.log.length; cut += 1) {
      const prefix = original.log.slice(0, cut);
      const run = watching(['a', 'b', 'c', 'd'], { debounceMs: 150 });
      run.log.push(...prefix);
      run.now = prefix.at(-1)?.at ?? START;
      // A pure node is never cut in the middle of what it does.
      if (isMidway(prefix)) continue;

      run.crash();
      finish(run);

      expect(run.story(), `cut at ${cut}`).toEqual(original.story());
      expect(encodeState(fold(run.plan, run.record, run.log))).toBe(encodeState(run.run.state));
      isLegal(run);
    }
  });

  it('waits for the end of a pause', () => {
    const run = watching(['a'], { debounceMs: 50 });
    run.start();
    run.command({ type: 'pause', policy: 'immediate' });
    run.now += 1_000;
    run.step({ type: 'tick' });
    expect(startsOf(run, 'seen')).toBe(0);

    run.command({ type: 'resume' });

    expect(startsOf(run, 'seen')).toBe(1);
    finish(run);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('does not keep a run from draining', () => {
    const run = watching(['a', 'b']);
    run.start();
    run.passTime();
    run.command({ type: 'pause', policy: 'drain-current-node' });
    run.succeed('seen');
    const { commandResult } = run.command({ type: 'pause', policy: 'drain-current-node' });
    expect(commandResult).toMatchObject({ applied: true });
    expect(startsOf(run, 'seen')).toBe(1);

    run.command({ type: 'resume' });
    finish(run);

    expect(startsOf(run, 'seen')).toBe(2);
    isLegal(run);
  });

  it('is over when the run is cancelled', () => {
    const run = watching(['a'], { debounceMs: 50 });
    run.start();

    run.command({ type: 'cancel' });

    expect(run.run.state.status).toBe('cancelled');
    expect(nextTimer(run.run)).toBeUndefined();
    isLegal(run);
  });

  it('waits for a place when all are taken, and one start serves what was written meanwhile', () => {
    const run = simulate(
      {
        nodes: [
          node('busy', 'test.effect'),
          write('a'),
          node('wait', 'core.delay', { ms: 10 }),
          write('b'),
          node('seen', 'test.effect'),
        ],
        edges: chain('a', 'wait', 'b'),
        channels,
        triggers: [onWrite('seen')],
      },
      { limits: { concurrency: 1 } },
    );
    run.start();
    run.passTime();
    expect([...run.open.keys()]).toEqual(['busy']);

    run.succeed('busy');
    run.succeed('seen');

    expect(startsOf(run, 'seen')).toBe(1);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });
});

/** Between the start of a node that is no effect and no delay, and its end. */
function isMidway(log: Simulation['log']): boolean {
  const last = log.at(-1);
  const isPure = !['seen', 'wait-b', 'wait-c', 'wait-d'].includes(last?.nodeId ?? '');
  return (last?.type === 'node.started' && isPure) || last?.type === 'channel.written';
}
