import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { asRunEvent, type RunEvent } from '../../model/run-event.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import { createSpanProjection, spansOf } from './spans.ts';

const record: CreationRecord = {
  runId: 'run-1',
  tenant: 'default',
  workflowId: 'orders',
  workflowVersion: '1.0',
  definitionDigest: '0'.repeat(64),
  createdAt: 1_000,
  inputs: {},
  configurable: {},
  tags: ['urgent'],
  metadata: { customer: 'Ada' },
  transport: 'rest',
  engineVersion: 1,
  limits: {
    nodeExecutions: 100,
    runDurationMs: 0,
    concurrency: 1,
    maxPayloadBytes: 1_000,
    maxStateBytes: 1_000,
    loopIterations: 100,
    clarificationRounds: 3,
  },
};

function log(...drafts: [string, JsonObject][]): RunEvent[] {
  return drafts.map(([type, payload], seq) =>
    asRunEvent({
      seq,
      at: 2_000 + seq,
      type,
      payload,
      ...(typeof payload['nodeId'] === 'string' && { nodeId: payload['nodeId'] }),
    }),
  );
}

const RETRIED_AND_ASKED = log(
  ['run.started', {}],
  ['node.started', { nodeId: 'call', typeId: 'core.http.request', attempt: 0 }],
  ['node.retried', { nodeId: 'call', attempt: 1, lastError: { code: 'timeout', message: 'slow' } }],
  ['node.started', { nodeId: 'call', typeId: 'core.http.request', attempt: 1 }],
  ['node.completed', { nodeId: 'call', outputs: { body: 'hello' } }],
  ['node.started', { nodeId: 'gate', typeId: 'core.approvalGate', attempt: 0 }],
  ['node.suspended', { nodeId: 'gate', kind: 'approval', interruptId: 'gate:0', key: 'gate:0' }],
  ['interrupt.resolved', { nodeId: 'gate', interruptId: 'gate:0' }],
  ['node.completed', { nodeId: 'gate' }],
  ['run.completed', {}],
);

describe('the spans of a run', () => {
  it('have the costs of an attempt, added up, under the names of the protocol alone', () => {
    const call = { provider: 'acme', model: 'fable', inputTokens: 2, outputTokens: 1, nodeId: 'ask' };
    const events = log(
      ['run.started', {}],
      ['node.started', { nodeId: 'ask', typeId: 'core.ai.callPrompt', attempt: 0 }],
      ['provider.usage', { ...call, costEstimateUsd: 0.1, currency: 'USD' }],
      ['provider.usage', { ...call, costEstimateUsd: 0.2, currency: 'USD', totalTokens: 5 }],
      ['node.completed', { nodeId: 'ask' }],
    );
    const projection = createSpanProjection(record);
    for (const event of events) projection.see(event);

    const costs = Object.entries(projection.spans()[1]?.attributes ?? {}).filter(([name]) =>
      name.startsWith('openwop.cost.'),
    );

    expect(Object.fromEntries(costs)).toEqual({
      'openwop.cost.tokens.input': 4,
      'openwop.cost.tokens.output': 2,
      'openwop.cost.tokens.total': 8,
      'openwop.cost.provider': 'acme',
      'openwop.cost.usd': 0.3,
      'openwop.cost.currency': 'USD',
      'openwop.cost.estimated': true,
    });
    expect(projection.size).toBeGreaterThan(JSON.stringify(projection.spans()).length);
  });

  it('are the run, one per attempt below it, and one per question below its attempt', () => {
    const spans = spansOf(record, RETRIED_AND_ASKED);

    expect(spans.map(({ name, status }) => [name, status])).toEqual([
      ['openwop.run', { code: 'ok' }],
      ['openwop.node.core.http.request', { code: 'error', message: 'timeout' }],
      ['openwop.node.core.http.request', { code: 'ok' }],
      ['openwop.node.core.approvalGate', { code: 'ok' }],
      ['openwop.interrupt', { code: 'ok' }],
    ]);
    const [run, first, second, gate, question] = spans;
    expect([first, second, gate].map((span) => span?.parentSpanId)).toEqual(Array(3).fill(run?.spanId));
    expect(question?.parentSpanId).toBe(gate?.spanId);
    expect(second?.attributes).toMatchObject({ 'openwop.node_id': 'call', 'openwop.node_attempt': 1 });
  });

  it('have ids made from run and sequence, the same every time and different from each other', () => {
    const spans = spansOf(record, RETRIED_AND_ASKED);

    expect(spansOf(record, RETRIED_AND_ASKED)).toEqual(spans);
    expect(new Set(spans.map((span) => span.spanId)).size).toBe(spans.length);
    for (const span of spans) {
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it('have attributes of the protocol only, and nothing people wrote', () => {
    const spans = spansOf(record, RETRIED_AND_ASKED);

    const names = spans.flatMap((span) => Object.keys(span.attributes));
    expect(names.filter((name) => !name.startsWith('openwop.'))).toEqual([]);
    expect(JSON.stringify(spans)).not.toMatch(/urgent|Ada|hello|slow/);
  });

  it('stay open as long as the log does not end them', () => {
    const spans = spansOf(record, RETRIED_AND_ASKED.slice(0, 7));

    expect(spans.map(({ endedAt }) => endedAt === null)).toEqual([true, false, false, true, true]);
  });

  it('join the trace in which the run was started', () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

    const [run] = spansOf({ ...record, traceparent }, []);

    expect(run).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) });
  });

  it('tell apart the executions of one node in a loop', () => {
    const spans = spansOf(
      record,
      log(
        ['node.started', { nodeId: 'work', iteration: [0], typeId: 'core.noop', attempt: 0 }],
        ['node.started', { nodeId: 'work', iteration: [1], typeId: 'core.noop', attempt: 0 }],
        ['node.failed', { nodeId: 'work', iteration: [0], error: { code: 'bad', message: 'no' } }],
      ),
    );

    expect(
      spans.slice(1).map(({ attributes, status }) => [attributes['openwop.node_id'], status?.code]),
    ).toEqual([
      ['work[0]', 'error'],
      ['work[1]', 'unset'],
    ]);
  });

  it('never take more bytes than announced', () => {
    const projection = createSpanProjection(record);
    for (const event of RETRIED_AND_ASKED) {
      projection.see(event);

      expect(JSON.stringify(projection.spans()).length).toBeLessThanOrEqual(projection.size + 2);
    }
  });
});
