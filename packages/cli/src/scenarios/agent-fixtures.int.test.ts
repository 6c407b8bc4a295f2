import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  FIXTURE_SOURCES,
  type FixtureEvent,
  type FixtureHost,
  serveFixtures,
} from '../testing/fixture-host.ts';

/** The fixtures about children, agents, conversations, memory and streams: each with its contract. */
describe.each(FIXTURE_SOURCES)('%s of children and agents', (_, flags) => {
  let host: FixtureHost;
  beforeAll(async () => {
    host = await serveFixtures(flags);
  });
  afterAll(() => host?.stop());

  const variables = (run: JsonObject) => run['variables'] as JsonObject;
  const completes = async (workflowId: string, rest: object = {}) => {
    const runId = await host.create(workflowId, rest);
    const run = await host.ended(runId);
    expect(run['status'], JSON.stringify(run['error'])).toBe('completed');
    return { runId, run, events: await host.events(runId) };
  };
  const childOf = (run: JsonObject) => (run['childRuns'] as { runId: string; status: string }[])[0];

  it('subworkflow-parent takes over its child’s variable and names the child', async () => {
    const { runId, run, events } = await completes('conformance-subworkflow-parent');

    const called = events.find((event) => event.type === 'node.completed' && event.nodeId === 'subwf-call');
    const outputs = called?.payload['outputs'] as JsonObject;
    const child = (await host.call('GET', `/v1/runs/${String(outputs['childRunId'])}`)).json;
    expect(variables(run)['childOutcome']).toBe('child-completed');
    expect(outputs['childStatus']).toBe('completed');
    expect(child).toMatchObject({ parentRunId: runId, parentNodeId: 'subwf-call', status: 'completed' });
    expect(childOf(run)).toMatchObject({ runId: outputs['childRunId'], status: 'completed' });
  });

  it('a parent that is cancelled takes its waiting child with it', async () => {
    const runId = await host.create('conformance-interrupt-parent-child-cancel');
    const waiting = await host.reaches(runId, 'waiting-approval');
    const child = childOf(waiting)?.runId ?? '';

    expect((await host.call('POST', `/v1/runs/${runId}/cancel`, {})).status).toBe(200);

    expect((await host.ended(runId))['status']).toBe('cancelled');
    expect((await host.ended(child))['status']).toBe('cancelled');
    const last = (await host.events(child)).at(-1);
    expect(last).toMatchObject({
      type: 'run.cancelled',
      payload: { reason: 'parent-cancelled', parentRunId: runId },
    });
    expect((await host.answer(child, 'child-gate', { action: 'accept' })).status).toBe(410);
  });

  it('a parent continues when its child’s question is answered', async () => {
    const runId = await host.create('conformance-interrupt-parent-child-cancel');
    const child = childOf(await host.reaches(runId, 'waiting-approval'))?.runId ?? '';
    await host.reaches(child, 'waiting-approval');

    expect((await host.answer(child, 'child-gate', { action: 'accept' })).status).toBe(200);

    expect((await host.ended(runId))['status']).toBe('completed');
  });

  it.each([
    ['conformance-subworkflow-input-mapping', { currentPrdId: 'prd-7' }, 'receivedPrdId', 'prd-7'],
    ['conformance-dispatch-input-mapping', { parentName: 'Ada' }, 'childGreeting', 'Ada'],
  ])('%s hands its variable to the child', async (workflowId, inputs, name, value) => {
    const { run } = await completes(workflowId, { inputs });

    const child = (await host.call('GET', `/v1/runs/${childOf(run)?.runId ?? ''}`)).json;
    expect(variables(child)[name]).toBe(value);
  });

  it('subworkflow-mid-run-mutation: what the parent changes later does not reach the child', async () => {
    const runId = await host.create('conformance-subworkflow-mid-run-mutation', {
      inputs: { currentPrdId: 'prd-1' },
    });
    const child = childOf(await host.reaches(runId, 'waiting-approval'))?.runId ?? '';
    const waiting = await host.reaches(child, 'waiting-approval');

    expect(variables(waiting)['receivedPrdId']).toBe('prd-1');
    await host.answer(child, String(waiting['currentNodeId']), { action: 'accept' });
    expect((await host.ended(runId))['status']).toBe('completed');
  });

  it('dispatch-output-mapping and cross-worker-handoff carry values back and on', async () => {
    const mapped = await completes('conformance-dispatch-output-mapping');
    const handed = await completes('conformance-dispatch-cross-worker-handoff');

    expect(Object.keys(variables(mapped.run))).not.toHaveLength(0);
    expect((handed.run['childRuns'] as unknown[]).length).toBe(2);
  });

  const decided = (events: readonly FixtureEvent[]) =>
    events.filter((event) => event.type === 'runOrchestrator.decided');
  const kinds = (events: readonly FixtureEvent[]) =>
    decided(events).map((event) => (event.payload['decision'] as JsonObject)['kind']);

  it('dispatch-loop decides exactly twice, and dispatches by its decision', async () => {
    const { events, run } = await completes('conformance-dispatch-loop');

    expect(kinds(events)).toEqual(['next-worker', 'terminate']);
    const dispatched = events.find((event) => event.type === 'node.dispatched');
    expect(dispatched?.causationId).toBe(decided(events)[0]?.eventId);
    expect(childOf(run)).toMatchObject({ status: 'completed', workflowId: 'conformance-noop' });
  });

  it('orchestrator-dispatch and -terminate keep one orchestrator and end by its word', async () => {
    const dispatch = await completes('conformance-orchestrator-dispatch');
    const terminate = await completes('conformance-orchestrator-terminate');

    const agents = decided(dispatch.events).map((event) => event.payload['agentId']);
    expect(new Set(agents)).toEqual(new Set(['core.conformance.supervisor']));
    expect(dispatch.run['runOrchestrator']).toMatchObject({ agentId: 'core.conformance.supervisor' });
    expect(kinds(terminate.events)).toEqual(['terminate']);
  });

  it('orchestrator-low-confidence holds its decision until a person ratifies it', async () => {
    const runId = await host.create('conformance-orchestrator-low-confidence');
    await host.reaches(runId, 'waiting-approval');
    const before = await host.events(runId);

    expect(decided(before)).toEqual([]);
    expect(before.find((event) => event.type === 'node.suspended')?.payload).toMatchObject({
      reason: 'low-confidence',
      agentId: 'core.conformance.low-conf-supervisor',
      threshold: 0.7,
      observed: 0.5,
    });
    expect((await host.answer(runId, 'supervisor', { action: 'nonsense' })).status).toBe(400);
    expect(await host.events(runId)).toEqual(before);
    expect((await host.answer(runId, 'supervisor', { ratified: true })).status).toBe(200);
    // The second visit is unsure again; someone ends the work instead.
    await host.reaches(runId, 'waiting-approval');
    await host.answer(runId, 'supervisor', { decision: { kind: 'terminate', reason: 'enough' } });
    expect((await host.ended(runId))['status']).toBe('completed');
    expect(kinds(await host.events(runId))).toEqual(['next-worker', 'terminate']);
  });

  it('agent-identity and agent-pack-provenance show the pinned agent', async () => {
    const identity = await completes('conformance-agent-identity');
    const provenance = await completes('conformance-agent-pack-provenance');

    expect(identity.run['agent']).toMatchObject({ agentId: 'core.conformance.identity-agent' });
    expect(provenance.run['agent']).toMatchObject({
      sourceManifestId: 'core.conformance.agent-pack.installed-agent',
    });
  });

  it.each(['conformance-agent-reasoning', 'conformance-agent-reasoning-streaming'])(
    '%s tells of reasoning and tools, in pairs',
    async (workflowId) => {
      const { events } = await completes(workflowId);

      const ofKind = events.filter((event) => event.type.startsWith('agent.'));
      expect(ofKind.length).toBeGreaterThan(0);
      for (const event of ofKind) expect(String(event.payload['agentId']).length).toBeGreaterThanOrEqual(3);
      for (const returned of ofKind.filter((event) => event.type === 'agent.toolReturned')) {
        const call = ofKind.find((event) => event.eventId === returned.causationId);
        expect(call).toMatchObject({
          type: 'agent.toolCalled',
          payload: { callId: returned.payload['callId'] },
        });
      }
    },
  );

  it('agent-low-confidence asks a person after the decision', async () => {
    const runId = await host.create('conformance-agent-low-confidence');
    await host.reaches(runId, 'waiting-approval');

    const types = (await host.events(runId)).map((event) => event.type);
    expect(types.indexOf('agent.decided')).toBeGreaterThan(-1);
    expect(types.indexOf('node.suspended')).toBeGreaterThan(types.indexOf('agent.decided'));
    expect((await host.answer(runId, 'low-conf-decider', { rejected: true })).status).toBe(200);
    expect((await host.ended(runId))['error']).toMatchObject({ code: 'decision_rejected' });
  });

  it('message-reducer keeps each message once', async () => {
    const { run } = await completes('conformance-message-reducer');

    const messages = (run['channels'] as JsonObject)['messages'] as JsonObject[];
    const ids = messages.map((message) => message['messageId']);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('agent memory: written and read back, redacted, young, and one’s own', async () => {
    const roundtrip = variables((await completes('conformance-agent-memory-roundtrip')).run);
    const redaction = variables((await completes('conformance-agent-memory-redaction')).run);
    const ttl = variables((await completes('conformance-agent-memory-ttl')).run);
    const foreign = variables((await completes('conformance-agent-memory-cross-tenant')).run);

    expect(roundtrip['memoryReadback']).toMatchObject({
      id: expect.any(String),
      content: expect.any(String),
      tags: expect.any(Array),
      createdAt: expect.any(String),
    });
    expect((redaction['memoryReadback'] as JsonObject)['content']).toMatch(/\[REDACTED:[^\]]+\]/);
    const listed = ttl['memoryList'] as { expiresAt?: string }[];
    expect(listed.length).toBeGreaterThan(0);
    for (const { expiresAt } of listed) expect(Date.parse(expiresAt ?? '')).toBeGreaterThan(Date.now());
    expect(foreign['crossTenantProbe']).toEqual([]);
  });

  it.each([
    'conformance-conversation-lifecycle',
    'conformance-conversation-vs-clarification',
    'conformance-conversation-replay',
  ])('%s opens, exchanges and closes one conversation', async (workflowId) => {
    const { events } = await completes(workflowId);

    const ofKind = events.filter((event) => event.type.startsWith('conversation.'));
    const types = ofKind.map((event) => event.type);
    expect(types[0]).toBe('conversation.opened');
    expect(types.at(-1)).toBe('conversation.closed');
    expect(types.filter((type) => type === 'conversation.closed')).toHaveLength(1);
    expect(new Set(ofKind.map((event) => event.payload['conversationId'])).size).toBe(1);
    expect(events.some((event) => event.type.startsWith('clarification.'))).toBe(false);
  });

  it('conversation-replay keeps every turn in its channel', async () => {
    const { run } = await completes('conformance-conversation-replay');

    expect((run['channels'] as JsonObject)['conversation']).toHaveLength(5);
  });

  it('stream-text streams its tokens, the last one with reason and usage', async () => {
    const tokens = ['one ', 'two ', 'three'];
    const mockProvider = { id: 'stream-text', config: { tokens, delayMsPerToken: 5 } };
    const { runId, events } = await completes('conformance-stream-text', { configurable: { mockProvider } });

    const chunks = events.filter((event) => event.type === 'output.chunk');
    expect(chunks.map((event) => event.payload['chunk'])).toEqual(tokens);
    expect(chunks.map((event) => event.payload['isLast'])).toEqual([false, false, true]);
    expect(chunks.at(-1)?.payload['meta']).toMatchObject({
      finishReason: 'stop',
      model: 'mock-stream-text-v1',
      usage: { promptTokens: 1, completionTokens: 3, totalTokens: 4 },
    });
    const stream = await fetch(`${host.host.url}/v1/runs/${runId}/events?streamMode=messages`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer weft_test_${'f'.repeat(43)}` },
    });
    const text = await stream.text();
    expect(text.match(/^event: ai\.message\.chunk$/gm)).toHaveLength(3);
    expect(text).not.toContain('node.completed');
  });

  it.each([
    [{ id: 'unknown' }, 'unsupported_mock_provider'],
    [{ id: 'stream-text', config: { token: ['x'] } }, 'validation_error'],
    ['stream-text', 'validation_error'],
  ])('a mock provider %j is refused', async (mockProvider, code) => {
    const workflowId = 'conformance-stream-text';
    const { status, json } = await host.call('POST', '/v1/runs', {
      workflowId,
      configurable: { mockProvider },
    });

    expect([status, json['error']]).toEqual([400, code]);
  });

  it('byok-roundtrip shows length and digest of the secret, never the secret', async () => {
    const { run, events } = await completes('openwop-smoke-byok-roundtrip');

    expect(variables(run)['resolve-secret']).toMatchObject({
      secretSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      secretLength: expect.any(Number),
    });
    expect(
      events.filter((event) => event.type === 'node.completed' && event.nodeId === 'resolve-secret'),
    ).toHaveLength(1);
  });
});
