import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIXTURE_SOURCES, type FixtureHost, serveFixtures } from '../testing/fixture-host.ts';

/** The workflow fixtures of conformance suites, driven over HTTP. What discovery lists must work, and what works must be listed. */
const ADVERTISED = [
  'conformance-agent-identity',
  'conformance-agent-low-confidence',
  'conformance-agent-memory-cross-tenant',
  'conformance-agent-memory-redaction',
  'conformance-agent-memory-roundtrip',
  'conformance-agent-memory-ttl',
  'conformance-agent-pack-export',
  'conformance-agent-pack-handoff',
  'conformance-agent-pack-install',
  'conformance-agent-pack-provenance',
  'conformance-agent-reasoning',
  'conformance-agent-reasoning-streaming',
  'conformance-answer-with-schema',
  'conformance-append-ordering',
  'conformance-approval',
  'conformance-budget',
  'conformance-cancellable',
  'conformance-cap-breach',
  'conformance-capability-missing',
  'conformance-channel-ttl',
  'conformance-clarification',
  'conformance-configurable-schema',
  'conformance-conversation-lifecycle',
  'conformance-conversation-replay',
  'conformance-conversation-vs-clarification',
  'conformance-delay',
  'conformance-dispatch-cross-worker-handoff',
  'conformance-dispatch-cross-worker-handoff-child-a',
  'conformance-dispatch-cross-worker-handoff-child-b',
  'conformance-dispatch-deterministic-fail-child',
  'conformance-dispatch-input-mapping',
  'conformance-dispatch-input-mapping-child',
  'conformance-dispatch-input-mapping-no-default',
  'conformance-dispatch-loop',
  'conformance-dispatch-output-mapping',
  'conformance-dispatch-output-mapping-child',
  'conformance-dispatch-per-worker-override',
  'conformance-failure',
  'conformance-idempotent',
  'conformance-identity',
  'conformance-interrupt-auth-required',
  'conformance-interrupt-external-event',
  'conformance-interrupt-parent-child-cancel',
  'conformance-interrupt-parent-child-cancel-child',
  'conformance-interrupt-quorum',
  'conformance-message-reducer',
  'conformance-multi-agent-handoff-child',
  'conformance-multi-node',
  'conformance-noop',
  'conformance-orchestrator-dispatch',
  'conformance-orchestrator-low-confidence',
  'conformance-orchestrator-terminate',
  'conformance-replay-side-effect',
  'conformance-run-duration-breach',
  'conformance-stream-text',
  'conformance-subworkflow-child',
  'conformance-subworkflow-input-mapping',
  'conformance-subworkflow-input-mapping-child',
  'conformance-subworkflow-input-mapping-no-default',
  'conformance-subworkflow-mid-run-mutation',
  'conformance-subworkflow-mid-run-mutation-child',
  'conformance-subworkflow-parent',
  'conformance-version-fold',
  'conformance-wasm-pack-memory-cap-breach',
  'conformance-wasm-pack-roundtrip',
  'openwop-smoke-byok-roundtrip',
  'openwop-smoke-cost-emit',
];

describe.each(FIXTURE_SOURCES)('%s', (_, flags) => {
  let fixtures: FixtureHost;
  const call: FixtureHost['call'] = (...asked) => fixtures.call(...asked);
  const create: FixtureHost['create'] = (...asked) => fixtures.create(...asked);
  const reaches: FixtureHost['reaches'] = (...asked) => fixtures.reaches(...asked);
  const ended: FixtureHost['ended'] = (runId) => fixtures.ended(runId);
  const events: FixtureHost['events'] = (runId) => fixtures.events(runId);
  const answer: FixtureHost['answer'] = (...asked) => fixtures.answer(...asked);

  beforeAll(async () => {
    fixtures = await serveFixtures(flags);
  });
  afterAll(() => fixtures?.stop());

  it('that are listed are exactly those that work', async () => {
    const { json } = await call('GET', '/.well-known/openwop');

    expect(json['fixtures']).toEqual(ADVERTISED);
    expect((json['capabilities'] as JsonObject)['fixtures']).toEqual(ADVERTISED);
  });

  it('that shows how a host without conversations refuses is registered, not listed', async () => {
    const workflowId = 'conformance-conversation-capability-negotiation';

    const definition = await call('GET', `/v1/workflows/${workflowId}`);
    const runId = await create(workflowId);

    expect(definition.json).toMatchObject({ id: workflowId });
    // This host has them, so it waits for the first turn.
    await reaches(runId, 'waiting-approval');
  });

  const asking =
    /approval|-clarification$|interrupt|mutation|low-confidence|stream-text|answer-with-schema|budget/;
  const ending = ADVERTISED.filter((workflowId) => !asking.test(workflowId));
  it.each(ending)('%s is returned as it was written, and comes to an end', async (workflowId) => {
    const definition = await call('GET', `/v1/workflows/${workflowId}`);
    const inputs = { payload: { a: [1] }, nonce: 'n', delayMs: 5 };

    const run = await ended(await create(workflowId, { inputs }));

    expect(definition.json).toMatchObject({ id: workflowId });
    expect(run['status']).toBe(
      /fail|missing|memory-cap|-pack-handoff/.test(workflowId) ? 'failed' : 'completed',
    );
  });

  it('approval waits at its gate, refuses what it does not know, and continues when accepted', async () => {
    const runId = await create('conformance-approval');
    const waiting = await reaches(runId, 'waiting-approval');

    expect(waiting['currentNodeId']).toBe('gate');
    expect((await answer(runId, 'gate', { action: 'maybe' })).status).toBe(400);
    expect((await answer(runId, 'nowhere', { action: 'accept' })).status).toBe(404);
    expect((await answer(runId, 'gate', { action: 'accept' })).status).toBe(200);
    expect((await ended(runId))['status']).toBe('completed');
  });

  it.each([
    'conformance-interrupt-parent-child-cancel-child',
    'conformance-subworkflow-mid-run-mutation-child',
  ])('%s waits at its gate, and continues when accepted', async (workflowId) => {
    const runId = await create(workflowId);
    const { currentNodeId } = await reaches(runId, 'waiting-approval');

    expect((await answer(runId, String(currentNodeId), { action: 'accept' })).status).toBe(200);
    expect((await ended(runId))['status']).toBe('completed');
  });

  it('clarification waits for its answer', async () => {
    const runId = await create('conformance-clarification');
    const waiting = await reaches(runId, 'waiting-input');

    expect(waiting['currentNodeId']).toBe('ask');
    expect((await answer(runId, 'ask', { answers: { q1: 'blue' } })).status).toBe(200);
    expect((await ended(runId))['status']).toBe('completed');
  });

  it.each([
    ['accept', 3, 'completed'],
    ['reject', 2, 'failed'],
  ])('quorum: %s by %i voters ends it as %s', async (action, voters, status) => {
    const runId = await create('conformance-interrupt-quorum');
    await reaches(runId, 'waiting-approval');

    for (let voter = 1; voter <= voters; voter += 1) {
      expect((await call('GET', `/v1/runs/${runId}`)).json['status']).toBe('waiting-approval');
      expect((await answer(runId, 'gate', { action, voter: `voter-${voter}` })).status).toBe(200);
    }

    expect((await ended(runId))['status']).toBe(status);
  });

  it('external-event takes the event with its correlation through the link on the snapshot', async () => {
    const runId = await create('conformance-interrupt-external-event');
    const { interrupt } = (await reaches(runId, 'waiting-external')) as { interrupt: JsonObject };
    const post = (resumeValue: unknown) =>
      call('POST', `/v1/interrupts/${String(interrupt['interruptToken'])}`, { resumeValue });

    expect((await post({ orderId: 'another', status: 'completed' })).status).toBe(422);
    expect((await call('GET', `/v1/runs/${runId}`)).json['status']).toBe('waiting-external');
    expect((await post({ orderId: 'fixture-order-1', status: 'completed' })).status).toBe(200);
    expect((await ended(runId))['status']).toBe('completed');
  });

  it('auth-required is answered with a key', async () => {
    const runId = await create('conformance-interrupt-auth-required');
    await reaches(runId, 'waiting-approval');

    expect((await answer(runId, 'gate', { action: 'accept' })).status).toBe(200);
    expect((await ended(runId))['status']).toBe('completed');
  });

  it('channel-ttl keeps only what is young enough', async () => {
    const run = await ended(await create('conformance-channel-ttl'));

    expect((run['variables'] as JsonObject)['events']).toEqual([
      { value: 'd', _ts: expect.any(Number) as unknown },
    ]);
  });

  it('append-ordering keeps every entry, in the order it was written', async () => {
    const runId = await create('conformance-append-ordering');
    const run = await ended(runId);

    const written = (await events(runId)).filter((event) => event.type === 'channel.written');
    expect(written.map(({ payload }) => payload['channel'])).toEqual([
      'entries',
      'notes',
      'entries',
      'notes',
      'entries',
    ]);
    expect(run['variables']).toMatchObject({
      entries: ['first', 'second', 'third'],
      notes: ['one', 'two'],
    });
  });

  it('identity shows the input as a variable', async () => {
    const payload = { nested: { list: [1, 'two', null] } };

    const run = await ended(await create('conformance-identity', { inputs: { payload } }));

    expect((run['variables'] as JsonObject)['payload']).toEqual(payload);
  });

  it('identity without its required input is refused, naming it', async () => {
    const { status, json } = await call('POST', '/v1/runs', { workflowId: 'conformance-identity' });

    expect(status).toBe(400);
    expect((json['details'] as JsonObject)['field']).toBe('inputs.payload');
  });

  it('delay is running while it sleeps, and takes its default though it is required', async () => {
    const runId = await create('conformance-delay');

    await reaches(runId, 'running');
    expect((await ended(runId))['status']).toBe('completed');
  });

  it('multi-node completes its nodes in the order of its edges', async () => {
    const runId = await create('conformance-multi-node');
    await ended(runId);

    const completed = (await events(runId)).filter((event) => event.type === 'node.completed');
    expect(completed.map((event) => event.nodeId)).toEqual(['a', 'b', 'c']);
  });

  it('failure has its error on the run and on the node', async () => {
    const runId = await create('conformance-failure');
    const run = await ended(runId);

    expect(run['error']).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    expect((await events(runId)).map((event) => event.type).slice(-2)).toEqual(['node.failed', 'run.failed']);
  });

  it('cancellable is cancelled while it sleeps', async () => {
    const runId = await create('conformance-cancellable');
    await reaches(runId, 'running');

    const answer = await call('POST', `/v1/runs/${runId}/cancel`, {});

    expect([answer.status, answer.json['status']]).toEqual([200, 'cancelled']);
    expect((await call('POST', `/v1/runs/${runId}/cancel`, {})).status).toBe(200);
  });

  it('cancellable is paused and resumed, ignores inputs it does not know, and ends soon after', async () => {
    const runId = await create('conformance-cancellable', { inputs: { delaySeconds: 30 } });
    await reaches(runId, 'running');

    const paused = await call('POST', `/v1/runs/${runId}:pause`, { drainPolicy: 'drain-current-node' });
    await reaches(runId, 'paused');
    const resumed = await call('POST', `/v1/runs/${runId}:resume`, {});

    expect([paused.status, resumed.status]).toEqual([202, 202]);
    expect((await ended(runId))['status']).toBe('completed');
    const again = await call('POST', `/v1/runs/${runId}:resume`, {});
    expect([again.status, again.json['error']]).toEqual([409, 'conflict']);
  });

  it('cap-breach starts no more nodes than it may and says so once, before it fails', async () => {
    const runId = await create('conformance-cap-breach', { configurable: { recursionLimit: 3 } });
    const run = await ended(runId);

    const log = await events(runId);
    const breaches = log.filter((event) => event.type === 'cap.breached');
    expect(run['error']).toMatchObject({ code: 'recursion_limit_exceeded' });
    expect(breaches.map((event) => event.payload)).toEqual([
      { kind: 'node-executions', limit: 3, observed: 4, nodeId: 'n4' },
    ]);
    expect(log.filter((event) => event.type === 'node.started')).toHaveLength(3);
  });

  it('run-duration-breach fails at its timeout', async () => {
    const runId = await create('conformance-run-duration-breach', { configurable: { runTimeoutMs: 1000 } });

    expect((await ended(runId))['error']).toMatchObject({ code: 'run_timeout' });
  });

  it('capability-missing is accepted, then fails before the node starts', async () => {
    const runId = await create('conformance-capability-missing');
    const run = await ended(runId);

    expect(run['error']).toMatchObject({
      code: 'capability_not_provided',
      message: expect.stringContaining('conformance.never-provided'),
    });
    expect((await events(runId)).map((event) => event.type)).not.toContain('node.started');
  });

  it('configurable-schema refuses what its schema does not know', async () => {
    const unknown = { workflowId: 'conformance-configurable-schema', configurable: { other: 1 } };

    expect((await call('POST', '/v1/runs', unknown)).json['error']).toBe('validation_error');
  });

  it.each(['1', '2'])('version-fold completes when stamped as engine version %s', async (version) => {
    const runId = await create('conformance-version-fold', {}, { 'x-force-engine-version': version });

    expect((await ended(runId))['engineVersion']).toBe(version);
  });

  it('idempotent gives one run for one key, and a conflict for another body', async () => {
    const headers = { 'idempotency-key': 'fixture-key' };
    const body = (nonce: string) => ({ workflowId: 'conformance-idempotent', inputs: { nonce } });

    const first = await call('POST', '/v1/runs', body('a'), headers);
    const again = await call('POST', '/v1/runs', body('a'), headers);
    const other = await call('POST', '/v1/runs', body('b'), headers);

    expect(again.json).toEqual(first.json);
    expect(again.headers.get('openwop-idempotent-replay')).toBe('true');
    expect(other.status).toBe(409);
  });
});
