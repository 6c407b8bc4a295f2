import { pathOf } from '../routes/endpoints.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/** A document that a schema of ours allows, as an example: with the members it demands, or a few where it demands none. */
export function exampleOf(schema: object): Json {
  return valueOf(asJson(schema), '');
}

const RUN_ID = '01a1e1cd-927b-7000-9769-26166269a903';
const HEX = '1358d3d77e6dd7395cd8407e927163fc5547e299754b270c36673071bee6dba7';
const ORIGIN = 'http://127.0.0.1:7878';

/** Members of this name look like this, wherever their type fits. */
export const BY_NAME: Readonly<Record<string, Json>> = {
  runId: RUN_ID,
  sourceRunId: '01a1e1cd-1111-7000-8769-26166269a903',
  a: RUN_ID,
  b: '01a1e1cd-1111-7000-8769-26166269a903',
  workflowId: 'order-fulfilment',
  workflowVersion: '1.1.0',
  version: '1.1.0',
  nodeId: 'manager',
  interruptId: 'manager:0',
  webhookId: 'wh_7Kq2',
  deliveryId: '42',
  artifactId: 'art_3fA9',
  secretId: 'orders-api',
  keyId: 'k_5dT1',
  principal: 'ada',
  tenant: 'default',
  status: 'running',
  kind: 'service',
  scopes: ['runs:read', 'runs:create'],
  reason: 'wrong price list',
  name: 'Order fulfilment',
  url: 'https://example.org/hooks/weft',
  eventsUrl: ORIGIN + pathOf('streamRunEvents', { runId: RUN_ID }),
  statusUrl: ORIGIN + pathOf('getRun', { runId: RUN_ID }),
  sequence: 4,
  fromSeq: 5,
  at: '2026-01-31T09:00:00.000Z',
  node: 'web-1-3fa2b1',
  type: 'node.completed',
  code: 'validation_error',
  message: 'The field "config" is missing.',
  path: '/nodes/0/config',
  nodes: 11,
  tag: 'nightly',
  id: 'order-fulfilment',
  annotationId: 'ann_8Qm4',
  eventId: '01a1e1cd-927b-7000-9769-26166269a903-4',
  hostId: 'weft',
  key: 'manager:0',
  nodeKey: 'manager',
  currentNodeId: 'manager',
  sourceNodeId: 'received',
  targetNodeId: 'checks',
  mediaType: 'application/json',
  createdBy: 'ada',
  principalRef: 'ada',
  sentence: 'Node manager waits for an approval: An expense over the limit.',
  signatureAlgorithm: 'v1',
  digest: HEX,
  merkleRoot: HEX,
  expectedPrevHash: HEX,
  actualPrevHash: HEX,
  typeId: 'core.noop',
};

/** Some text for each pattern that our schemas have. */
const OF_PATTERNS = [
  'orders-api',
  '1.0',
  '1.0.0',
  '2026-01-31',
  RUN_ID,
  'prompt:greeting@1.0.0',
  `sha256:${HEX}`,
  'core.noop',
  HEX.slice(0, 8),
  HEX.slice(0, 16),
  HEX.slice(0, 32),
  HEX,
  HEX.slice(0, 43),
];

const TIME = '2026-01-31T09:00:00.000Z';
/** Of a schema that demands no member. */
const FEW = 2;
const DEEPEST = 6;

type Schema = JsonObject;

function asJson(schema: object): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema;
}

function valueOf(schema: Schema, name: string, depth = 0): Json {
  if ('const' in schema) return schema['const'] ?? null;
  const named = BY_NAME[name];
  if (Array.isArray(schema['enum'])) return oneOf(schema['enum'], named);
  const [option] = listAt(schema, 'anyOf').filter(({ type }) => type !== 'null');
  if (option !== undefined) return valueOf(option, name, depth);
  const parts = listAt(schema, 'allOf');
  if (parts.length > 0) return Object.assign({}, ...parts.map((part) => valueOf(part, name, depth))) as Json;
  switch (schema['type']) {
    case 'object':
      return objectOf(schema, depth);
    case 'array':
      return arrayOf(schema, name, depth);
    case 'string':
      return typeof named === 'string' && schema['pattern'] === undefined ? named : textOf(schema, name);
    case 'integer':
    case 'number':
      return typeof named === 'number' ? named : Number(schema['minimum'] ?? 1);
    case 'boolean':
      return true;
    default:
      return named ?? {};
  }
}

function oneOf(options: readonly Json[], named: Json | undefined): Json {
  return named !== undefined && options.includes(named) ? named : (options[0] ?? null);
}

function objectOf(schema: Schema, depth: number): JsonObject {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const few = depth === 0 ? Object.keys(properties).slice(0, FEW) : [];
  const names = required.length > 0 ? required : few;
  return Object.fromEntries(
    names.map((name) => {
      const member = properties[name];
      return [name, isJsonObject(member) ? valueOf(member, name, depth + 1) : {}];
    }),
  );
}

function arrayOf(schema: Schema, name: string, depth: number): Json[] {
  const named = BY_NAME[name];
  if (Array.isArray(named)) return [...named];
  const items = schema['items'];
  return isJsonObject(items) && depth < DEEPEST ? [valueOf(items, singular(name), depth + 1)] : [];
}

/** `runIds` hold what `runId` is. */
function singular(name: string): string {
  return name.replace(/s$/, '');
}

function textOf({ format, pattern, minLength }: Schema, name: string): string {
  if (format === 'date-time') return TIME;
  if (format === 'uri') return 'https://example.org/';
  if (typeof pattern === 'string')
    return OF_PATTERNS.find((each) => new RegExp(pattern, 'u').test(each)) ?? '';
  const text = name === '' ? 'text' : name;
  return typeof minLength === 'number' && text.length < minLength ? text.padEnd(minLength, 'x') : text;
}

function listAt(schema: Schema, keyword: string): Schema[] {
  const value = schema[keyword];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
