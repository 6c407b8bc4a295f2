import type { Host } from '@weft/engine';
import type { Json, JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
let overload: ReturnType<Host['operations']['overload']>;
beforeAll(async () => {
  at = await openHarness(
    {},
    (host): Host => ({ ...host, operations: { ...host.operations, overload: () => overload } }),
  );
  for (const definition of [
    greeting('1.0', ['first', 'second']),
    greeting('2.0', ['first', 'second', 'third']),
  ])
    await register(definition);
  await register(greeting('3.0', ['first']));
});
afterAll(() => at.close());

/** Sets one variable per node to a greeting of `who`. */
function greeting(version: string, nodes: readonly string[]): JsonObject {
  return {
    id: 'greeting',
    name: 'greeting',
    version,
    nodes: nodes.map((id) => ({
      id,
      typeId: 'core.setVariable',
      name: id,
      position: { x: 0, y: 0 },
      config: { name: `said-${id}`, expression: '"hello " + variables.who' },
      inputs: {},
    })),
    edges: nodes.slice(1).map((targetNodeId, index) => ({
      id: `e${index}`,
      sourceNodeId: nodes[index] ?? '',
      targetNodeId,
    })),
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [{ name: 'who', type: 'string', required: true }],
    metadata: { tags: [] },
    settings: { timeout: 60_000 },
  };
}

async function register(definition: JsonObject): Promise<void> {
  const answer = await at.call('POST', '/v1/host/weft/workflows', { body: definition });
  if (answer.status !== 201) throw new Error(answer.text);
}

async function greeted(who = 'you'): Promise<string> {
  const { runId } = await at.start('greeting', {
    inputs: { who },
    configurable: { 'weft.workflowVersion': '1.0' },
  });
  await at.reaches(runId, 'completed');
  return runId;
}

const fork = (
  runId: string,
  body: Json,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> => at.call('POST', `/v1/runs/${runId}:fork`, { body, ...options });

const forkWith = (runId: string, body: Json): Promise<Answer> =>
  at.call('POST', `/v1/host/weft/runs/${runId}:fork`, { body });

const text = (value: unknown): string => String(value);

async function seqOf(runId: string, type: string, nodeId: string): Promise<number> {
  const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);
  const events = json.events as unknown as { type: string; nodeId?: string; sequence: number }[];
  return events.find((event) => event.type === type && event.nodeId === nodeId)?.sequence ?? -1;
}

describe('forking a run', () => {
  it('answers 201 with the fork, which then repeats its source', async () => {
    const runId = await greeted();

    const answer = await fork(runId, { mode: 'replay' });

    const forked = text(answer.json.runId);
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      runId: forked,
      sourceRunId: runId,
      fromSeq: 0,
      mode: 'replay',
      status: 'pending',
      eventsUrl: `http://127.0.0.1/v1/runs/${forked}/events`,
    });
    expect(answer.headers['location']).toBe(`http://127.0.0.1/v1/runs/${forked}`);
    await at.reaches(forked, 'completed');
    const diff = await at.call('GET', `/v1/runs/${runId}:diff?against=${forked}`);
    expect(diff.json).toMatchObject({ divergedAtSeq: null, eventDiffs: [], stateDiff: {} });
  });

  it('shows on the snapshot where the fork comes from', async () => {
    const runId = await greeted();

    const { json } = await fork(runId, { mode: 'branch', fromSeq: 2 });

    const snapshot = await at.call('GET', `/v1/runs/${text(json.runId)}`);
    expect(snapshot.json).toMatchObject({
      weft: { fork: { sourceRunId: runId, fromSeq: 2, mode: 'branch' } },
      owner: (await at.call('GET', `/v1/runs/${runId}`)).json.owner,
    });
  });

  it('lays the overlay of a branch over the options of its source', async () => {
    const runId = await greeted();

    const { json } = await fork(runId, {
      mode: 'branch',
      fromSeq: 1,
      runOptionsOverlay: { configurable: { model: 'other' }, tags: ['again'], metadata: { why: 'to see' } },
    });

    expect((await at.call('GET', `/v1/runs/${text(json.runId)}`)).json).toMatchObject({
      configurable: { model: 'other', 'weft.workflowVersion': '1.0' },
      tags: ['again'],
      metadata: { why: 'to see' },
    });
  });

  it.each<[string, JsonObject]>([
    ['fromSeq', { mode: 'branch' }],
    ['fromSeq', { mode: 'replay', fromSeq: -1 }],
    ['fromSeq', { mode: 'replay', fromSeq: 1.5 }],
    ['fromSeq', { mode: 'replay', fromSeq: '1' }],
    ['mode', { mode: 'rewind', fromSeq: 0 }],
    ['runOptionsOverlay', { mode: 'replay', fromSeq: 0, runOptionsOverlay: { tags: ['x'] } }],
    ['runOptionsOverlay', { mode: 'replay', runOptionsOverlay: { configurable: {} } }],
    ['runOptionsOverlay.tag', { mode: 'branch', fromSeq: 0, runOptionsOverlay: { tag: 'x' } }],
    ['values', { mode: 'branch', fromSeq: 0, values: { who: 'me' } }],
    ['fromSequence', { mode: 'replay', fromSequence: 0 }],
  ])('is 400 that names %s for %j', async (field, body) => {
    const answer = await fork(await greeted(), body);

    expect([answer.status, answer.json.error]).toEqual([400, 'validation_error']);
    expect(answer.json.details?.field).toBe(field);
  });

  it('is 400 that says so when the mode is missing', async () => {
    const answer = await fork(await greeted(), { fromSeq: 0 });

    expect([answer.status, answer.json.error]).toEqual([400, 'validation_error']);
    expect(answer.json.message).toContain('mode');
  });

  it('takes an empty overlay for none', async () => {
    const runId = await greeted();

    expect((await fork(runId, { mode: 'replay', fromSeq: 0, runOptionsOverlay: {} })).status).toBe(201);
    expect((await fork(runId, { mode: 'branch', fromSeq: 0, runOptionsOverlay: {} })).status).toBe(201);
  });

  it('is 422 beyond the log, and names the last sequence there is', async () => {
    const runId = await greeted();
    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);
    const length = Number(json.lastEventSeq) + 1;

    const [beyond, next, last] = [
      await fork(runId, { mode: 'replay', fromSeq: 99_999 }),
      await fork(runId, { mode: 'branch', fromSeq: length }),
      await fork(runId, { mode: 'branch', fromSeq: length - 1 }),
    ];

    expect(beyond.status).toBe(422);
    expect(beyond.json).toMatchObject({
      error: 'fork_out_of_range',
      details: { sourceRunId: runId, fromSeq: 99_999, max: length - 1 },
    });
    expect([next.status, last.status]).toEqual([422, 201]);
  });

  it('is 404 for a run the key may not see, whatever else is wrong', async () => {
    const runId = await greeted();

    const answers = [
      await fork('no-such-run', { mode: 'replay' }),
      await fork(runId, { mode: 'replay' }, { key: at.otherTenantKey }),
      await fork(runId, { mode: 'nonsense' }, { key: at.otherTenantKey }),
      await fork(runId, { mode: 'replay', fromSeq: 99_999 }, { key: at.otherTenantKey }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it.each(['runs:create', 'runs:read'])('needs the scope %s', async (scope) => {
    const runId = await greeted();

    const answer = await fork(runId, { mode: 'replay' }, { key: await at.keyWithout(scope) });

    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ error: 'forbidden', details: { scopeRequired: scope } });
  });

  it('happens once per Idempotency-Key; with another body the key is refused', async () => {
    const runId = await greeted();
    const headers = { 'idempotency-key': 'fork-once' };

    const [first, again] = [
      await fork(runId, { mode: 'branch', fromSeq: 1 }, { headers }),
      await fork(runId, { mode: 'branch', fromSeq: 1 }, { headers }),
    ];
    const other = await fork(runId, { mode: 'branch', fromSeq: 2 }, { headers });
    const ofAnother = await fork(await greeted(), { mode: 'branch', fromSeq: 1 }, { headers });

    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers).toMatchObject({
      'openwop-idempotent-replay': 'true',
      location: first.headers['location'],
    });
    expect([other.status, ofAnother.status]).toEqual([409, 409]);
    expect(other.json.error).toBe('idempotency_key_mismatch');
  });

  it('makes one fork of the same request sent many times at once', async () => {
    const runId = await greeted();
    const headers = { 'idempotency-key': 'fork-race' };

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => fork(runId, { mode: 'replay' }, { headers })),
    );

    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('is refused while the host takes no new work', async () => {
    const runId = await greeted();
    overload = { retryAfter: 3, cause: 'test' };

    const answer = await fork(runId, { mode: 'replay' });
    overload = undefined;

    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('3');
  });

  it('is 410 when the source was removed', async () => {
    const runId = await greeted();
    await at.call('DELETE', `/v1/host/weft/runs/${runId}`);

    const answer = await fork(runId, { mode: 'branch', fromSeq: 1 });

    expect(answer.status).toBe(410);
    expect(answer.json).toMatchObject({
      error: 'run_expired',
      details: { sourceRunId: runId, fromSeq: 1 },
    });
  });

  it('is 410 when what the source hid was erased', async () => {
    const runId = await greeted();
    await at.call('POST', `/v1/host/weft/runs/${runId}:erase`);

    const answer = await fork(runId, { mode: 'replay' });

    expect([answer.status, answer.json.error]).toEqual([410, 'run_expired']);
  });

  it('is 410 when the beginning of the source went with the run it was forked from', async () => {
    const runId = await greeted();
    const middle = text((await fork(runId, { mode: 'replay', fromSeq: 3 })).json.runId);
    await at.reaches(middle, 'completed');
    await at.call('DELETE', `/v1/host/weft/runs/${runId}`);

    const [needed, notNeeded] = [
      await fork(middle, { mode: 'branch', fromSeq: 4 }),
      await fork(middle, { mode: 'branch', fromSeq: 0 }),
    ];

    expect(needed.status).toBe(410);
    expect(needed.json.details).toMatchObject({ sourceRunId: middle, fromSeq: 4, boundary: 3 });
    expect(notNeeded.status).toBe(201);
    await at.reaches(text(notNeeded.json.runId), 'completed');
  });
});

describe('forking a run with other inputs or another version', () => {
  it('continues from the cut with the new inputs', async () => {
    const runId = await greeted();
    const fromSeq = await seqOf(runId, 'node.started', 'second');

    const { status, json } = await forkWith(runId, { mode: 'branch', fromSeq, values: { who: 'me' } });

    await at.reaches(text(json.runId), 'completed');
    const snapshot = await at.call('GET', `/v1/runs/${text(json.runId)}`);
    expect(status).toBe(201);
    expect(snapshot.json.variables).toMatchObject({ 'said-first': 'hello you', 'said-second': 'hello me' });
  });

  it('refuses an input of the wrong type under the name that was sent', async () => {
    const answer = await forkWith(await greeted(), { mode: 'branch', fromSeq: 0, values: { who: 7 } });

    expect(answer.status).toBe(400);
    expect(answer.json.details).toMatchObject({ field: 'values.who', expected: 'string' });
  });

  it('continues with another version that still has every node of the log', async () => {
    const runId = await greeted();
    const fromSeq = await seqOf(runId, 'node.started', 'second');

    const { json } = await forkWith(runId, { mode: 'branch', fromSeq, workflowVersion: '2.0' });

    await at.reaches(text(json.runId), 'completed');
    expect((await at.call('GET', `/v1/runs/${text(json.runId)}`)).json).toMatchObject({
      variables: { 'said-third': 'hello you' },
      configurable: { 'weft.workflowVersion': '2.0' },
      weft: { workflowVersion: '2.0' },
    });
  });

  it('is 422 that names the first node another version has lost, unless the cut is before it', async () => {
    const runId = await greeted();
    const second = await seqOf(runId, 'node.started', 'second');

    const [after, before] = [
      await forkWith(runId, { mode: 'branch', fromSeq: second + 1, workflowVersion: '3.0' }),
      await forkWith(runId, { mode: 'branch', fromSeq: second, workflowVersion: '3.0' }),
    ];

    expect(after.status).toBe(422);
    expect(after.json).toMatchObject({ error: 'fork_incompatible', details: { nodeId: 'second' } });
    expect(before.status).toBe(201);
    await at.reaches(text(before.json.runId), 'completed');
  });

  it.each<[string, JsonObject]>([
    ['values', { mode: 'replay', values: { who: 'me' } }],
    ['workflowVersion', { mode: 'replay', workflowVersion: '2.0' }],
    ['version', { mode: 'branch', fromSeq: 0, version: '2.0' }],
  ])('is 400 that names %s for %j', async (field, body) => {
    const answer = await forkWith(await greeted(), body);

    expect([answer.status, answer.json.details?.field]).toEqual([400, field]);
  });

  it('is 404 for a version that is not registered', async () => {
    const answer = await forkWith(await greeted(), { mode: 'branch', fromSeq: 0, workflowVersion: '9' });

    expect([answer.status, answer.json.details?.field]).toEqual([404, 'workflowVersion']);
  });
});

describe('discovery', () => {
  it('says that forks of both modes work', async () => {
    const { json } = await at.call('GET', '/.well-known/openwop', { headers: {} });

    expect(json.replay).toEqual({
      supported: true,
      modes: ['replay', 'branch'],
      sideEffectSuppression: 'recorded-outcome',
    });
  });
});
