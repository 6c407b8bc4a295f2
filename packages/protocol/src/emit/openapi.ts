import { ErrorEnvelopeSchema } from '../errors/envelope.ts';
import { ERRORS, type ErrorCode, RETRY_LATER } from '../errors/errors.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { ENDPOINTS, HOST_PREFIX, PACKS_PATH, pathParameters } from '../routes/endpoints.ts';
import { PATH_PARAMETERS } from '../routes/path-parameters.ts';
import { EVERY_ANSWER, RESPONSE_HEADERS, type ResponseHeaderName } from '../routes/response-headers.ts';
import { type Answer, IDEMPOTENCY_KEY, type Parameter } from '../routes/route-description.ts';
import { type Route, ROUTES } from '../routes/routes.ts';
import { type Bundle, createBundle } from './bundle.ts';
import { CORPUS_VERSION } from './corpus-version.ts';

/**
 * The OpenAPI 3.1 description of everything in ROUTES; 3.1 takes our JSON Schemas as they are. What several operations share
 * stands in it once, and nothing outside of it is referred to.
 */
export function openApiDocument(): JsonObject {
  const bundle = createBundle('#/components/schemas/');
  const paths = pathItems(bundle);
  const components = {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    parameters: sharedParameters(bundle),
    headers: responseHeaders(bundle),
    responses: sharedFailures(bundle),
  };
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Weft',
      summary: 'A durable workflow host for the OpenWOP v1 protocol.',
      description:
        'The version is that of the protocol’s texts. Bodies that clients send are closed: an unknown member is an error. Bodies ' +
        'that the host sends are open, unless the protocol closes them: readers ignore members that they do not know. ' +
        `Event streams are described in detail at ${ENDPOINTS.getAsyncApiSpec.path}. ` +
        `This document is about a host: a registry of packs, with everything under ${PACKS_PATH}, is another service and not part of it.`,
      version: CORPUS_VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // A bare origin: every path brings its own /v1.
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: { ...components, schemas: bundle.components() },
  };
}

function pathItems(bundle: Bundle): JsonObject {
  const items = new Map<string, JsonObject>();
  for (const route of ROUTES) {
    items.set(route.path, {
      ...items.get(route.path),
      [route.method.toLowerCase()]: operation(route, bundle),
    });
  }
  return Object.fromEntries(items);
}

function operation(route: Route, bundle: Bundle): JsonObject {
  const parameters = [
    ...pathParameters(route.path).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...(route.query ?? []).map((parameter) => given(parameter, 'query', bundle)),
    ...(route.headers ?? []).map((parameter) =>
      parameter === IDEMPOTENCY_KEY
        ? { $ref: `#/components/parameters/${parameter.name}` }
        : given(parameter, 'header', bundle),
    ),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.path.startsWith(HOST_PREFIX) ? 'host' : 'protocol'],
    ...(route.scope === null ? { security: [] } : { 'x-scope': route.scope }),
    ...(route.alsoScope === undefined ? {} : { 'x-also-scope': route.alsoScope }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.request === undefined ? {} : { requestBody: requestBody(route.request, bundle) }),
    responses: { ...answers(route, bundle), ...failures(route, bundle) },
  };
}

function given(parameter: Parameter, place: 'query' | 'header', bundle: Bundle): JsonObject {
  const { name, description, schema, required = false } = parameter;
  return { name, in: place, description, required, schema: bundle.schema(schema) };
}

function sharedParameters(bundle: Bundle): JsonObject {
  const inPaths = Object.entries(PATH_PARAMETERS).map(([name, { description, schema }]): [string, Json] => [
    name,
    { name, in: 'path', description, required: true, schema: bundle.schema(schema) },
  ]);
  return Object.fromEntries([...inPaths, [IDEMPOTENCY_KEY.name, given(IDEMPOTENCY_KEY, 'header', bundle)]]);
}

function requestBody({ schema, required }: NonNullable<Route['request']>, bundle: Bundle): JsonObject {
  return { required, content: { 'application/json': { schema: bundle.schema(schema) } } };
}

function responseHeaders(bundle: Bundle): JsonObject {
  const entries = Object.entries(RESPONSE_HEADERS).map(
    ([name, { description, schema, always }]): [string, Json] => [
      name,
      { description, required: always, schema: bundle.schema(schema) },
    ],
  );
  return Object.fromEntries(entries);
}

function headers(names: readonly ResponseHeaderName[]): JsonObject {
  return Object.fromEntries(
    [...EVERY_ANSWER, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function answers(route: Route, bundle: Bundle): JsonObject {
  const entries = Object.entries(route.responses).map(([status, answer]): [string, Json] => [
    status,
    {
      description: answer.description,
      headers: headers([...(answer.headers ?? []), ...replayHeader(route)]),
      ...content(answer, bundle),
    },
  ]);
  return Object.fromEntries(entries);
}

function replayHeader({ headers: taken = [] }: Route): readonly ResponseHeaderName[] {
  return taken.includes(IDEMPOTENCY_KEY) ? ['openwop-Idempotent-Replay'] : [];
}

function content({ schema, contentType = 'application/json', asJson }: Answer, bundle: Bundle): JsonObject {
  if (schema === undefined) return {};
  return {
    content: {
      [contentType]: { schema: bundle.schema(schema) },
      ...(asJson === undefined ? {} : { 'application/json': { schema: bundle.schema(asJson) } }),
    },
  };
}

const KEY_ERRORS: readonly ErrorCode[] = ['unauthenticated', 'key_expired', 'key_revoked'];

/** Codes every route can give, and those of its own, by status. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const common: ErrorCode[] = ['rate_limited', 'internal_error', 'service_unavailable'];
  const keyed: readonly ErrorCode[] = route.scope === null ? [] : [...KEY_ERRORS, 'forbidden'];
  const found: ErrorCode[] =
    route.path.includes('{') || route.operationId === 'createRun' ? ['not_found'] : [];
  const foreign: ErrorCode[] =
    route.path.includes('{runId}') && route.scope !== null ? ['run_forbidden'] : [];
  const packed: ErrorCode[] = route.request === undefined ? [] : ['unsupported_encoding'];
  const all = new Set<ErrorCode>([...route.errors, ...keyed, ...found, ...foreign, ...packed, ...common]);
  return [...all].toSorted((left, right) => ERRORS[left].status - ERRORS[right].status);
}

/** Failures that many operations have in common, by the name of their component. */
const SHARED_FAILURES: Readonly<Record<string, readonly ErrorCode[]>> = {
  ValidationError: ['validation_error'],
  Unauthenticated: KEY_ERRORS,
  Forbidden: ['forbidden'],
  NotFound: ['not_found'],
  RunExpired: ['run_expired'],
  RateLimited: ['rate_limited'],
  InternalError: ['internal_error'],
  ServiceUnavailable: ['service_unavailable'],
};

const NAME_OF_FAILURE = new Map(Object.entries(SHARED_FAILURES).map(([name, codes]) => [codes.join(), name]));

function sharedFailures(bundle: Bundle): JsonObject {
  return Object.fromEntries(
    Object.entries(SHARED_FAILURES).map(([name, codes]) => [name, failure(codes, [], bundle)]),
  );
}

function failures(route: Route, bundle: Bundle): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(route)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const entries = [...byStatus].map(([status, codes]): [string, Json] => {
    const shared = NAME_OF_FAILURE.get(codes.join());
    return [
      String(status),
      shared === undefined
        ? failure(codes, replayHeader(route), bundle)
        : { $ref: `#/components/responses/${shared}` },
    ];
  });
  return Object.fromEntries(entries);
}

function failure(
  codes: readonly ErrorCode[],
  more: readonly ResponseHeaderName[],
  bundle: Bundle,
): JsonObject {
  const isLater = codes.some((code) => RETRY_LATER.includes(code));
  const isOfKeys = codes.includes('unauthenticated');
  return {
    description: codes.join(', '),
    headers: headers([
      ...more,
      ...(isLater ? (['Retry-After'] as const) : []),
      ...(isOfKeys ? (['WWW-Authenticate'] as const) : []),
      ...(codes.includes('unsupported_encoding') ? (['Accept-Encoding'] as const) : []),
    ]),
    content: { 'application/json': { schema: bundle.schema(ErrorEnvelopeSchema) } },
  };
}
