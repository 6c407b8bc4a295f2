import { describe, expect, it } from 'vitest';
import type { NodePlan } from '../../core/compile/plan.ts';
import type { RunLimits } from '../../model/run-state.ts';
import type { NumberedChunk, Outcome } from '../../core/decide/step.ts';
import { type Egress, NodeFailure } from '../../model/node-type.ts';
import type { OpenEffectPorts } from '../../ports/effect-ports.ts';
import { SILENT } from '../../ports/log.ts';
import { NO_MODELS } from '../../ports/models.ts';
import { NO_PEERS } from '../../ports/peers.ts';
import { NO_TOOLS } from '../../ports/tools.ts';
import { createPerformer, type EffectHandle, type Performer } from './performer.ts';
import { createEffects, type Effects, until } from '../testing/test-host.ts';
import { NO_STREAMS } from '../testing/no-streams.ts';

const egress: Egress = {
  ...NO_STREAMS,
  fetch: async () => {
    throw new Error('no test goes out');
  },
};

const LIMITS: RunLimits = {
  nodeExecutions: 100,
  runDurationMs: 0,
  concurrency: 2,
  maxPayloadBytes: 100,
  maxStateBytes: 1_000,
  loopIterations: 100,
  clarificationRounds: 3,
};

const openPorts: OpenEffectPorts = () => ({
  secrets: { resolve: () => Promise.reject(new NodeFailure('credential_unavailable', 'No secrets here.')) },
  models: NO_MODELS,
  tools: NO_TOOLS,
  peers: NO_PEERS,
  memory: { write: () => Promise.reject(new Error('no memory here')), list: () => Promise.resolve([]) },
  prompts: { find: () => Promise.resolve(undefined) },
  workflows: { describe: () => Promise.resolve(undefined) },
  artifacts: {
    put: () => Promise.reject(new Error('no artifacts here')),
    read: () => Promise.reject(new Error('no artifacts here')),
  },
  settleUsed: () => undefined,
  hideReasoning: (text) => text,
  hideOutcome: (outcome) => outcome,
  hideChunk: (chunk) => ({ ...chunk, chunk: chunk.chunk.replaceAll('secret', '…') }),
});

const NO_WORKERS: Pick<Performer, 'perform'> = {
  perform: () => {
    throw new Error('no test here has workers');
  },
};

const PLACE = {
  tenant: 't',
  principal: undefined,
  runId: 'r',
  epoch: 1,
  nodeId: 'a',
  nodeKey: 'a',
  attempt: 0,
  limits: LIMITS,
};

function setUp(maxActive = 10, maxPerTenant = maxActive): { performer: Performer; effects: Effects } {
  return {
    performer: createPerformer({
      maxActive,
      maxPerTenant,
      egress,
      openPorts,
      workers: NO_WORKERS,
      log: SILENT,
    }),
    effects: createEffects(),
  };
}

function start(
  { performer, effects }: { performer: Performer; effects: Effects },
  key: string,
  options: {
    tenant?: string;
    runId?: string;
    timeoutMs?: number;
    attempt?: number;
    visit?: number;
    holdsClaim?: () => boolean;
  } = {},
): { handle: EffectHandle; outcome: Promise<Outcome>; chunks: NumberedChunk[] } {
  let done: (outcome: Outcome) => void = () => undefined;
  const outcome = new Promise<Outcome>((resolve) => {
    done = resolve;
  });
  const chunks: NumberedChunk[] = [];
  const node = {
    id: key,
    type: effects.type,
    config: {},
    prepared: undefined,
    node: {},
  } as unknown as NodePlan;
  const handle = performer.perform({
    tenant: options.tenant ?? 't',
    runId: options.runId ?? 'r1',
    workflowId: 'w',
    epoch: 1,
    holdsClaim: options.holdsClaim ?? (() => true),
    principal: 'ada',
    configurable: {},
    limits: LIMITS,
    progress: (chunk) => void chunks.push(chunk),
    say: () => undefined,
    effect: {
      key,
      node,
      iteration: [],
      attempt: options.attempt ?? 0,
      ...(options.visit !== undefined && { visit: options.visit }),
      inputs: {},
      timeoutMs: options.timeoutMs ?? 0,
    },
    done,
  });
  return { handle, outcome, chunks };
}

/** Of the claims that a test takes away. */
let isHeld = true;

describe('the performer', () => {
  it('numbers streamed pieces, hides secrets in them, and hears none after the end', async () => {
    const test = setUp();
    const { chunks, outcome } = start(test, 'a');
    const [call] = test.effects.calls;
    call?.context.emit({ chunk: 'a secret', isLast: false });
    call?.context.emit({ chunk: '!', isLast: true });
    call?.succeed();
    await outcome;
    call?.context.emit({ chunk: 'late', isLast: true });

    expect(chunks).toEqual([
      { chunk: 'a …', isLast: false, index: 0 },
      { chunk: '!', isLast: true, index: 1 },
    ]);
  });

  it('performs no more effects of one run at a time than its limit', async () => {
    const test = setUp();
    const started = ['a', 'b', 'c'].map((key) => start(test, key));
    expect(test.effects.calls.map(({ input }) => input.nodeId)).toEqual(['a', 'b']);
    expect(test.performer.queued()).toBe(1);

    test.effects.calls[0]?.succeed();
    await started[0]?.outcome;

    expect(test.effects.calls.map(({ input }) => input.nodeId)).toEqual(['a', 'b', 'c']);
  });

  it('lets runs take turns when the host is at its limit', async () => {
    const test = setUp(1);
    const first = start(test, 'a', { runId: 'greedy' });
    const second = start(test, 'b', { runId: 'greedy' });
    start(test, 'c', { runId: 'greedy' });
    start(test, 'd', { runId: 'modest' });

    test.effects.calls[0]?.succeed();
    await first.outcome;
    test.effects.calls[1]?.succeed();
    await second.outcome;

    expect(test.effects.calls.map(({ input }) => input.nodeId)).toEqual(['a', 'b', 'd']);
  });

  it('lets tenants take turns, however many runs and effects one of them has (W-28)', async () => {
    const test = setUp(1, 10);
    const first = start(test, 'a', { tenant: 'greedy', runId: 'g0' });
    for (let run = 1; run <= 1_000; run += 1) start(test, `a${run}`, { tenant: 'greedy', runId: `g${run}` });
    const modest = start(test, 'b', { tenant: 'modest', runId: 'm' });

    test.effects.calls[0]?.succeed();
    await first.outcome;
    test.effects.calls[1]?.succeed();
    await until(() => test.effects.calls[2]);
    test.effects.calls[2]?.succeed();
    await modest.outcome;

    expect(test.effects.calls.slice(0, 3).map(({ input }) => input.nodeId)).toEqual(['a', 'a1', 'b']);
  });

  it('keeps places free that one tenant cannot take, however long its effects last (W-28)', () => {
    const test = setUp(10, 8);
    for (let run = 0; run < 50; run += 1) start(test, 'a', { tenant: 'greedy', runId: `g${run}` });
    expect(test.performer.active()).toBe(8);

    for (const runId of ['m1', 'm2', 'm3']) start(test, 'b', { tenant: 'modest', runId });

    expect(test.effects.calls.filter(({ input }) => input.nodeId === 'b')).toHaveLength(2);
    expect([test.performer.active(), test.performer.queued()]).toEqual([10, 43]);
  });

  it('gives the same invocation id to every attempt, and another to every node and run', async () => {
    const test = setUp();
    start(test, 'a');
    start(test, 'a', { attempt: 1 });
    start(test, 'a', { runId: 'r2' });
    start(test, 'b', { runId: 'r2' });

    const ids = test.effects.calls.map(({ context }) => context.invocationId);

    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(3);
  });

  it('gives another invocation id to another visit of the same node', () => {
    const test = setUp();
    start(test, 'a');
    start(test, 'a', { visit: 1 });

    const ids = test.effects.calls.map(({ context }) => context.invocationId);

    expect(new Set(ids).size).toBe(2);
  });

  it.each([
    ['was aborted', (handle: EffectHandle) => handle.abort(false)],
    ['lost its claim', () => (isHeld = false)],
  ])('does not begin an effect that %s while its secrets were read', async (_, end) => {
    isHeld = true;
    let tell: (value: string) => void = () => undefined;
    const ports = openPorts(PLACE);
    const performer = createPerformer({
      workers: NO_WORKERS,
      maxActive: 10,
      maxPerTenant: 10,
      egress,
      log: SILENT,
      openPorts: () => ({ ...ports, secrets: { resolve: () => new Promise((resolve) => (tell = resolve)) } }),
    });
    const effects = createEffects();
    const type = { ...effects.type, requiresSecrets: () => ['key'] };
    const test = { performer, effects: { ...effects, type } };
    const { handle, outcome } = start(test, 'a', { holdsClaim: () => isHeld });
    const reported: Outcome[] = [];
    void outcome.then((each) => reported.push(each));

    end(handle);
    tell('too late');
    await until(() => performer.active() === 0);
    await new Promise((resolve) => setImmediate(resolve));

    expect(reported).toEqual([]);
    expect(effects.calls).toEqual([]);
  });

  it('ends an effect that ignores its signal when its time is up (W-27)', async () => {
    const test = setUp();
    const { outcome } = start(test, 'a', { timeoutMs: 5 });

    expect(await outcome).toMatchObject({ ok: false, error: { code: 'node_timeout', retryable: true } });

    expect(test.effects.calls[0]?.context.signal.aborted).toBe(true);
    expect(test.effects.calls[0]?.context.stop.aborted).toBe(true);
    expect(test.performer.active()).toBe(0);
  });

  it('reports nothing of an aborted effect, waiting or running (W-26)', async () => {
    const test = setUp(1);
    const reported: Outcome[] = [];
    const active = start(test, 'a');
    const queued = start(test, 'b');
    void active.outcome.then((outcome) => reported.push(outcome));
    void queued.outcome.then((outcome) => reported.push(outcome));

    queued.handle.abort(false);
    active.handle.abort(false);
    test.effects.calls[0]?.succeed();
    const after = start(test, 'c');
    await until(() => test.effects.calls[1]);
    test.effects.calls[1]?.succeed();
    await after.outcome;

    expect(reported).toEqual([]);
    expect(test.performer).toSatisfy((it: Performer) => it.active() === 0 && it.queued() === 0);
  });

  it('begins nothing of a run whose claim is lost, reports nothing of it, and continues with others (W-26, W-29)', async () => {
    const test = setUp(1);
    isHeld = true;
    const reported: Outcome[] = [];
    const busy = start(test, 'a');
    for (const key of ['b', 'c'])
      void start(test, key, { runId: 'lost', holdsClaim: () => isHeld }).outcome.then((outcome) =>
        reported.push(outcome),
      );
    const other = start(test, 'd', { runId: 'other' });

    isHeld = false;
    test.effects.calls[0]?.succeed();
    await busy.outcome;
    await until(() => test.effects.calls[1]);
    test.effects.calls[1]?.succeed();
    await other.outcome;

    expect(test.effects.calls.map(({ input }) => input.nodeId)).toEqual(['a', 'd']);
    expect(reported).toEqual([]);
    expect([test.performer.active(), test.performer.queued()]).toEqual([0, 0]);
  });

  it('lets go of any number of runs whose claims are lost at once, each of which ends over it', async () => {
    const test = setUp(1);
    isHeld = true;
    const busy = start(test, 'busy');
    const handles: EffectHandle[] = [];
    for (let run = 0; run < 20_000; run += 1) {
      const holdsClaim = (): boolean => {
        if (!isHeld) handles[run]?.abort(false);
        return isHeld;
      };
      handles.push(start(test, 'a', { runId: `run-${run}`, holdsClaim }).handle);
    }

    isHeld = false;
    test.effects.calls[0]?.succeed();
    await busy.outcome;

    expect([test.performer.active(), test.performer.queued()]).toEqual([0, 0]);
    expect(test.effects.calls).toHaveLength(1);
  });

  it('hands on what a node says about its failure, and nothing of what it did not foresee', async () => {
    const test = setUp();
    const known = start(test, 'a');
    const unknown = start(test, 'b');

    test.effects.calls[0]?.fail(
      new NodeFailure('http_status', 'The server answered 503.', { retryable: true, retryAfterMs: 2_000 }),
    );
    test.effects.calls[1]?.fail(new Error('token=abc'));

    expect(await known.outcome).toEqual({
      ok: false,
      error: { code: 'http_status', message: 'The server answered 503.', retryable: true },
      retryAfterMs: 2_000,
    });
    expect(JSON.stringify(await unknown.outcome)).not.toContain('abc');
    expect(await unknown.outcome).toMatchObject({
      ok: false,
      error: { code: 'node_failed', retryable: false },
    });
  });

  it('refuses outputs that are not JSON', async () => {
    const test = setUp();
    const odd = start(test, 'a');

    test.effects.calls[0]?.succeed({ outputs: { list: [1, Number.NaN] } });

    expect(await odd.outcome).toMatchObject({
      ok: false,
      error: { code: 'node_failed', details: { path: 'outputs.list[1]' } },
    });
  });
});
