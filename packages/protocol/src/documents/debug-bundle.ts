import { type Static, Type } from 'typebox';
import { AnnotationSchema } from './annotations.ts';
import { anyJson, closed, count, dateTime, jsonObject, mapOf, nonEmpty, open } from './schema-parts.ts';

/** One run, made to be carried: what it is, what happened, and what was taken out. */

const optional = Type.Optional;
const nullable = (schema: object) => Type.Unsafe<string | null>({ anyOf: [schema, { type: 'null' }] });
const digest = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const BUNDLE_VERSION = '1.0';

export const SpanSchema = open({
  name: nonEmpty,
  traceId: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  spanId: Type.String({ pattern: '^[0-9a-f]{16}$' }),
  parentSpanId: nullable({ type: 'string', pattern: '^[0-9a-f]{16}$' }),
  kind: optional(Type.Enum(['internal', 'server', 'client'])),
  status: optional(closed({ code: Type.Enum(['unset', 'ok', 'error']), message: optional(Type.String()) })),
  startedAt: dateTime,
  endedAt: nullable({ type: 'string', format: 'date-time' }),
  attributes: mapOf<string | number | boolean>({
    anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
  }),
});

const BundleRunSchema = open({
  runId: nonEmpty,
  workflowId: nonEmpty,
  status: nonEmpty,
  startedAt: optional(dateTime),
  endedAt: nullable({ type: 'string', format: 'date-time' }),
  error: anyJson,
  inputs: optional(jsonObject),
  variables: optional(jsonObject),
  currentNodeId: nullable({ type: 'string' }),
});

const BundleEventSchema = open({
  eventId: nonEmpty,
  sequence: count,
  type: nonEmpty,
  timestamp: dateTime,
  nodeId: optional(Type.String()),
  payload: anyJson,
  data: anyJson,
});

/** What only bundles of this host have. Absent from bundles of others. */
export const BundleExtrasSchema = open({
  digest: Type.Unsafe<string>({
    ...digest,
    description: 'SHA-256 of the canonical bundle (RFC 8785) without this member.',
  }),
  definition: optional(jsonObject),
  definitionDigest: digest,
  masked: Type.Array(Type.String(), { description: 'JSON Pointers of everything masked or left out.' }),
  omitted: optional(
    Type.Array(Type.String(), { description: 'JSON Pointers of what did not fit below the size limit.' }),
  ),
  totals: open({ annotations: count, events: count, masked: count, nodes: count, spans: count }),
});

export const DebugBundleSchema = open({
  bundleVersion: Type.String({ pattern: '^[0-9]+\\.[0-9]+$' }),
  generatedAt: dateTime,
  host: closed({ name: nonEmpty, version: nonEmpty, vendor: optional(Type.String()) }),
  run: BundleRunSchema,
  events: Type.Array(BundleEventSchema),
  spans: Type.Array(SpanSchema),
  metrics: open({ openwopCost: anyJson, nodeCount: count, eventCount: count }),
  redactionApplied: Type.Boolean(),
  redactionMode: Type.Enum(['mask', 'omit', 'hash', 'passthrough']),
  truncated: optional(Type.Boolean()),
  truncatedReason: optional(Type.String()),
  annotations: Type.Array(AnnotationSchema),
  weft: optional(BundleExtrasSchema),
});

export type DebugBundle = Static<typeof DebugBundleSchema> & { readonly [extra: string]: unknown };
export type Span = Static<typeof SpanSchema>;
