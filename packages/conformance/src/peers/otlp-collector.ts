import { gunzipSync } from 'node:zlib';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { type PeerAnswer, type PeerRequest, startLoopbackServer } from './loopback-server.ts';

export interface CollectedSpan {
  readonly name: string;
  /** Lower-case hexadecimal, whatever the exporter writes. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, Json>>;
}

/** Takes traces over OTLP/HTTP with JSON. */
export interface OtlpCollector {
  readonly address: string;
  /** Those that name the run in `openwop.run_id`. */
  spansOf(runId: string): readonly CollectedSpan[];
  stop(): Promise<void>;
}

const MAX_UNPACKED_BYTES = 16 * 1_024 * 1_024;
/** The oldest are forgotten first. */
const MAX_SPANS = 20_000;
const MAX_VALUE_DEPTH = 16;

export async function startOtlpCollector(port: number): Promise<OtlpCollector> {
  let spans: CollectedSpan[] = [];
  const server = await startLoopbackServer(port, (request) => {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return refusal;
    const document = documentOf(request);
    if (document === undefined) return { status: 400 };
    if (pathOf(request).endsWith('/v1/traces')) spans = [...spans, ...spansIn(document)].slice(-MAX_SPANS);
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  });
  return {
    address: server.address,
    spansOf: (runId) => spans.filter(({ attributes }) => attributes['openwop.run_id'] === runId),
    stop: () => server.stop(),
  };
}

function refusalOf(request: PeerRequest): PeerAnswer | undefined {
  if (!/\/v1\/(traces|metrics|logs)$/.test(pathOf(request))) return { status: 404 };
  if (request.method !== 'POST') return { status: 405 };
  // An exporter that speaks protobuf learns here why nothing arrives.
  if (request.headers['content-type']?.startsWith('application/json') !== true) return { status: 415 };
  return undefined;
}

function pathOf({ path }: PeerRequest): string {
  return path.split('?', 1)[0] ?? '';
}

function documentOf({ headers, body }: PeerRequest): JsonObject | undefined {
  try {
    const isPacked = headers['content-encoding'] === 'gzip';
    const bytes = isPacked ? gunzipSync(body, { maxOutputLength: MAX_UNPACKED_BYTES }) : body;
    const document = JSON.parse(bytes.toString('utf8')) as Json;
    return isJsonObject(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

function spansIn(document: JsonObject): CollectedSpan[] {
  return objectsIn(document['resourceSpans'])
    .flatMap((resource) => objectsIn(resource['scopeSpans']))
    .flatMap((scope) => objectsIn(scope['spans']))
    .map((span) => ({
      name: String(span['name']),
      traceId: idOf(span['traceId'], 16),
      spanId: idOf(span['spanId'], 8),
      parentSpanId: idOf(span['parentSpanId'], 8) || undefined,
      attributes: attributesOf(span['attributes']),
    }));
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** OTLP writes ids in hexadecimal; exporters built on the plain mapping of protobuf to JSON write base64. */
function idOf(value: Json | undefined, bytes: number): string {
  if (typeof value !== 'string' || value === '') return '';
  if (value.length === bytes * 2 && /^[0-9a-f]+$/i.test(value)) return value.toLowerCase();
  const decoded = Buffer.from(value, 'base64');
  return decoded.length === bytes ? decoded.toString('hex') : value;
}

function attributesOf(list: Json | undefined, depth = 0): Record<string, Json> {
  return Object.fromEntries(
    objectsIn(list).map((attribute) => [String(attribute['key']), valueOf(attribute['value'], depth)]),
  );
}

function valueOf(value: Json | undefined, depth: number): Json {
  if (!isJsonObject(value) || depth > MAX_VALUE_DEPTH) return null;
  // A 64-bit integer travels as a text.
  if (value['intValue'] !== undefined) return Number(value['intValue']);
  const { arrayValue, kvlistValue } = value;
  if (isJsonObject(arrayValue))
    return objectsIn(arrayValue['values']).map((item) => valueOf(item, depth + 1));
  if (isJsonObject(kvlistValue)) return attributesOf(kvlistValue['values'], depth + 1);
  return value['stringValue'] ?? value['boolValue'] ?? value['doubleValue'] ?? null;
}
