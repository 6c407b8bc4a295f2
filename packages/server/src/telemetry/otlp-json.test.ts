import { asRunEvent, spansOf } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { encodeMetrics, encodeSpans, encodeTraces } from './otlp-json.ts';
import { createRegistry } from './registry.ts';
import { sampleRecord } from './sample-record.ts';

const SENDER = { version: '1.2.3', instance: 'one' };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const record = sampleRecord({
  createdAt: Date.parse('2026-01-02T03:04:05.678Z'),
  traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
});

const LOG = (
  [
    ['run.started', {}],
    ['node.started', { nodeId: 'a', typeId: 'core.noop', attempt: 0 }],
    ['node.started', { nodeId: 'b', typeId: 'core.delay', attempt: 1 }],
    ['node.failed', { nodeId: 'a', error: { code: 'node_failed' } }],
    ['run.failed', { error: { code: 'node_failed' } }],
  ] satisfies [string, JsonObject][]
).map(([type, payload], seq) => asRunEvent({ seq, at: record.createdAt + 10 * seq, type, payload }));

describe('spans in OTLP JSON', () => {
  const encoded = encodeSpans({ record, spans: spansOf(record, LOG), dropped: 0 });
  const [run, a, b] = encoded;

  it('have the caller’s trace, hex ids and times in nanoseconds as text', () => {
    expect(run).toMatchObject({
      traceId: TRACE,
      parentSpanId: 'b7ad6b7169203331',
      name: 'openwop.run',
      kind: 1,
      startTimeUnixNano: '1767323045678000000',
      endTimeUnixNano: '1767323045718000000',
      status: { code: 2, message: 'node_failed' },
    });
    expect(run?.['spanId']).toMatch(/^[0-9a-f]{16}$/);
    expect(a).toMatchObject({
      traceId: TRACE,
      parentSpanId: run?.['spanId'],
      name: 'openwop.node.core.noop',
    });
  });

  it('carry run and workflow on every span, and the attempt as a number', () => {
    for (const span of encoded) {
      expect(span['attributes']).toContainEqual({
        key: 'openwop.run_id',
        value: { stringValue: record.runId },
      });
      expect(span['attributes']).toContainEqual({
        key: 'openwop.workflow_id',
        value: { stringValue: 'orders' },
      });
    }
    expect(b?.['attributes']).toContainEqual({ key: 'openwop.node_attempt', value: { intValue: '1' } });
    expect(b?.['attributes']).toContainEqual({ key: 'openwop.node_id', value: { stringValue: 'b' } });
  });

  it('end with the run where the log has no end for them', () => {
    expect(b).toMatchObject({ endTimeUnixNano: '1767323045718000000', status: { code: 0 } });
  });

  it('link a fork to its source', () => {
    const source = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) };

    const [fork, node] = encodeSpans({ record, spans: spansOf(record, LOG), dropped: 0, source });

    expect(fork?.['links']).toEqual([source]);
    expect(node).not.toHaveProperty('links');
  });

  it('travel under one resource that names the sender', () => {
    const document = JSON.parse(encodeTraces(SENDER, encoded)) as JsonObject;

    expect(document).toMatchObject({
      resourceSpans: [
        {
          resource: {
            attributes: [
              { key: 'service.name', value: { stringValue: 'weft' } },
              { key: 'service.version', value: { stringValue: '1.2.3' } },
              { key: 'service.instance.id', value: { stringValue: 'one' } },
            ],
          },
          scopeSpans: [{ scope: { name: 'weft', version: '1.2.3' } }],
        },
      ],
    });
  });
});

describe('metrics in OTLP JSON', () => {
  it('keep their dotted names and are cumulative since the start', () => {
    const registry = createRegistry();
    const created = registry.counter({
      name: 'openwop.run.created',
      help: 'C.',
      unit: '{run}',
      labels: ['workflow_id'],
    });
    const duration = registry.histogram({
      name: 'openwop.run.duration',
      help: 'D.',
      unit: 's',
      buckets: [1, 2],
    });
    created.add(2, 'orders');
    duration.observe(1.5);

    const document = JSON.parse(encodeMetrics(SENDER, registry.read(), { startedAt: 1_000, now: 2_000 })) as {
      resourceMetrics: { scopeMetrics: { metrics: JsonObject[] }[] }[];
    };

    const times = { startTimeUnixNano: '1000000000', timeUnixNano: '2000000000' };
    expect(document.resourceMetrics[0]?.scopeMetrics[0]?.metrics).toEqual([
      {
        name: 'openwop.run.created',
        description: 'C.',
        unit: '{run}',
        sum: {
          dataPoints: [
            {
              attributes: [{ key: 'openwop.workflow_id', value: { stringValue: 'orders' } }],
              ...times,
              asDouble: 2,
            },
          ],
          aggregationTemporality: 2,
          isMonotonic: true,
        },
      },
      {
        name: 'openwop.run.duration',
        description: 'D.',
        unit: 's',
        histogram: {
          dataPoints: [
            {
              attributes: [],
              ...times,
              count: '1',
              sum: 1.5,
              bucketCounts: ['0', '1', '0'],
              explicitBounds: [1, 2],
            },
          ],
          aggregationTemporality: 2,
        },
      },
    ]);
  });
});
