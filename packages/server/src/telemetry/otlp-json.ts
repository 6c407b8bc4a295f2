import { PROTOCOL_VERSION, type RunSpans } from '@weft/engine';
import type { Json, JsonObject, Span } from '@weft/protocol';
import type { Family, Series } from './registry.ts';

/** Spans and metrics in OTLP's JSON encoding: ids in hex, 64-bit numbers and times in nanoseconds as text. */

/** Who sends. */
export interface Sender {
  readonly version: string;
  /** Distinguishes processes of one host. */
  readonly instance: string;
}

const KIND_INTERNAL = 1;
const STATUS = { unset: 0, ok: 1, error: 2 } as const;
const CUMULATIVE = 2;

export function encodeTraces(sender: Sender, spans: readonly JsonObject[]): string {
  return JSON.stringify({
    resourceSpans: [{ resource: resource(sender), scopeSpans: [{ scope: scope(sender), spans }] }],
  });
}

/** All spans of a run; those still open end with it. */
export function encodeSpans({ record, spans, source }: RunSpans): JsonObject[] {
  const [run] = spans;
  const common = { 'openwop.run_id': record.runId, 'openwop.workflow_id': record.workflowId };
  return spans.map((span) => ({
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId !== null && { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KIND_INTERNAL,
    startTimeUnixNano: nanos(Date.parse(span.startedAt)),
    endTimeUnixNano: nanos(Date.parse(span.endedAt ?? run?.endedAt ?? span.startedAt)),
    attributes: attributes({
      ...common,
      ...(span === run && { 'openwop.protocol_version': PROTOCOL_VERSION }),
      ...span.attributes,
    }),
    status: statusOf(span),
    ...(span === run && source !== undefined && { links: [{ ...source }] }),
  }));
}

export function encodeMetrics(
  sender: Sender,
  families: readonly Family[],
  times: { readonly startedAt: number; readonly now: number },
): string {
  const metrics = families
    .filter(({ series }) => series.length > 0)
    .map((family) => metric(family, nanos(times.startedAt), nanos(times.now)));
  return JSON.stringify({
    resourceMetrics: [{ resource: resource(sender), scopeMetrics: [{ scope: scope(sender), metrics }] }],
  });
}

function metric(family: Family, start: string, now: string): JsonObject {
  const { name, help, unit, kind } = family;
  const points = family.series.map((series) => ({
    attributes: labels(family, series),
    ...(kind !== 'gauge' && { startTimeUnixNano: start }),
    timeUnixNano: now,
    ...(kind === 'histogram'
      ? {
          count: String(series.count),
          sum: series.value,
          bucketCounts: series.counts.map(String),
          explicitBounds: [...family.buckets],
        }
      : { asDouble: series.value }),
  }));
  const common = { name, description: help, unit };
  switch (kind) {
    case 'counter':
      return {
        ...common,
        sum: { dataPoints: points, aggregationTemporality: CUMULATIVE, isMonotonic: true },
      };
    case 'gauge':
      return { ...common, gauge: { dataPoints: points } };
    case 'histogram':
      return { ...common, histogram: { dataPoints: points, aggregationTemporality: CUMULATIVE } };
  }
}

/** In addition to the spans' attributes, which have the same names, so that one can be found from the other. */
function labels(family: Family, series: Series): JsonObject[] {
  return attributes(
    Object.fromEntries(family.labels.map((label, index) => [`openwop.${label}`, series.values[index] ?? ''])),
  );
}

function resource({ version, instance }: Sender): JsonObject {
  return {
    attributes: attributes({
      'service.name': 'weft',
      'service.version': version,
      'service.instance.id': instance,
    }),
  };
}

function scope({ version }: Sender): JsonObject {
  return { name: 'weft', version };
}

export function attributes(values: Readonly<Record<string, string | number | boolean>>): JsonObject[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number | boolean): Json {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function statusOf({ status }: Span): JsonObject {
  if (status === undefined) return { code: STATUS.unset };
  return { code: STATUS[status.code], ...(status.message !== undefined && { message: status.message }) };
}

/** Milliseconds become nanoseconds as text: the number would not fit. */
function nanos(ms: number): string {
  return `${Math.trunc(ms)}000000`;
}
