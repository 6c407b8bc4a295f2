import type { TSchema } from 'typebox';
import { ErrorEnvelopeSchema } from '../errors/envelope.ts';
import { ERRORS, type ErrorCode } from '../errors/errors.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { type Answer, type Parameter, pathParameters, type Route, ROUTES } from '../routes/routes.ts';

export interface OpenApiOptions {
  /** Version of the host. */
  readonly version?: string;
  /** Bare origin: every path brings its own /v1. */
  readonly serverUrl?: string;
}

/** The OpenAPI 3.1 description of everything in ROUTES; 3.1 takes our JSON Schemas as they are. */
export function openApiDocument(options: OpenApiOptions = {}): JsonObject {
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Weft',
      summary: 'A durable workflow host for the OpenWOP v1 protocol.',
      version: options.version ?? '0.1.0',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.serverUrl ?? '/' }],
    security: [{ bearer: [] }],
    paths: pathItems(),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { ErrorEnvelope: plain(ErrorEnvelopeSchema) },
    },
  };
}

function pathItems(): JsonObject {
  const items = new Map<string, JsonObject>();
  for (const route of ROUTES) {
    items.set(route.path, { ...items.get(route.path), [route.method.toLowerCase()]: operation(route) });
  }
  return Object.fromEntries(items);
}

function operation(route: Route): JsonObject {
  const parameters = [
    ...pathParameters(route.path).map(pathParameter),
    ...(route.query ?? []).map((parameter) => given(parameter, 'query')),
    ...(route.headers ?? []).map((parameter) => given(parameter, 'header')),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.path.startsWith('/v1/host/') ? 'host' : 'protocol'],
    ...(route.scope === null ? { security: [] } : { 'x-scope': route.scope }),
    ...(route.alsoScope === undefined ? {} : { 'x-also-scope': route.alsoScope }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.request === undefined ? {} : { requestBody: requestBody(route.request) }),
    responses: { ...answers(route), ...failures(route) },
  };
}

function pathParameter(name: string): JsonObject {
  return { name, in: 'path', required: true, schema: { type: 'string', minLength: 1, maxLength: 128 } };
}

function given(parameter: Parameter, place: 'query' | 'header'): JsonObject {
  const { name, description, schema } = parameter;
  return { name, in: place, description, required: false, schema: plain(schema) };
}

function requestBody(request: { schema: TSchema; required: boolean }): JsonObject {
  return { required: request.required, content: { 'application/json': { schema: plain(request.schema) } } };
}

function answers(route: Route): JsonObject {
  const entries = Object.entries(route.responses).map(([status, answer]): [string, Json] => [
    status,
    content(answer),
  ]);
  return Object.fromEntries(entries);
}

function content(answer: Answer): JsonObject {
  const { description, schema, contentType = 'application/json' } = answer;
  return schema === undefined
    ? { description }
    : { description, content: { [contentType]: { schema: plain(schema) } } };
}

/** Codes every route can give, and those of its own, by status. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const common: ErrorCode[] = ['rate_limited', 'internal_error', 'service_unavailable'];
  const keyed: ErrorCode[] =
    route.scope === null ? [] : ['unauthenticated', 'key_expired', 'key_revoked', 'forbidden'];
  const found: ErrorCode[] =
    route.path.includes('{') || route.operationId === 'createRun' ? ['not_found'] : [];
  const foreign: ErrorCode[] =
    route.path.includes('{runId}') && route.scope !== null ? ['run_forbidden'] : [];
  const packed: ErrorCode[] = route.request === undefined ? [] : ['unsupported_encoding'];
  const all = new Set<ErrorCode>([...route.errors, ...keyed, ...found, ...foreign, ...packed, ...common]);
  return [...all].toSorted((left, right) => ERRORS[left].status - ERRORS[right].status);
}

function failures(route: Route): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(route)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const schema = { $ref: '#/components/schemas/ErrorEnvelope' };
  const entries = [...byStatus].map(([status, codes]): [string, Json] => [
    String(status),
    { description: codes.join(', '), content: { 'application/json': { schema } } },
  ]);
  return Object.fromEntries(entries);
}

/** A schema as plain JSON, without what its builder keeps on it. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
