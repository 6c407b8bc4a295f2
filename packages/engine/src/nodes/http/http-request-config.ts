import { isJsonObject, type Json, type JsonObject, mapOf, nameOf } from '@weft/protocol';
import { Type, type Static } from 'typebox';
import {
  type EgressRequest,
  type EffectInput,
  NodeFailure,
  type PrepareTools,
} from '../../model/node-type.ts';
import { parseDestination } from '../../runtime/egress/destination.ts';
import { EgressError } from '../../runtime/egress/egress-error.ts';
import { HOST_OWNED_HEADERS } from '../../runtime/egress/hop.ts';
import { resolveOwnUrl } from '../../runtime/egress/own-url.ts';
import { closedConfig } from '../config/config-schema.ts';
import { checkSecretHeaders, secretHeadersConfig } from './http-request-secrets.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The body stands in the outputs twice (ports body and output), and both must fit an event payload of 256 KiB. */
const DEFAULT_RESPONSE_BYTES = 122_880;
const MAX_RESPONSE_BYTES = 1_048_576;

export const httpRequestConfig = closedConfig({
  url: Type.Optional(nameOf({ minLength: 1, maxLength: 8192 })),
  method: Type.Optional(Type.Enum(METHODS)),
  headers: Type.Optional(mapOf<string>(Type.String())),
  /** Header name → id of the secret that is its value, or the id and what stands before the value. */
  secretHeaders: Type.Optional(secretHeadersConfig),
  /** A string is sent as it is, other JSON as application/json; null sends no body. */
  body: Type.Optional(Type.Unknown()),
  maxResponseBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESPONSE_BYTES })),
  expectStatus: Type.Optional(
    Type.Union([
      Type.Literal('2xx'),
      Type.Array(Type.Integer({ minimum: 200, maximum: 599 }), { minItems: 1, uniqueItems: true }),
    ]),
  ),
  followRedirects: Type.Optional(Type.Boolean()),
  /** Keeps the response body as an artifact of this name, and outputs the reference to it. */
  saveAs: Type.Optional(
    closedConfig({
      name: nameOf({ minLength: 1, maxLength: 200 }),
      /** false keeps the body as it is, though it may repeat something sensitive that was sent. */
      sensitive: Type.Optional(Type.Literal(false)),
    }),
  ),
  /** The header that carries the invocation id; empty sends none. */
  idempotencyHeader: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]*$", maxLength: 128 })),
});

type Config = Static<typeof httpRequestConfig>;

/** What a schema cannot say about the config, checked when the definition is registered. */
export function checkHttpConfig(config: JsonObject, tools: PrepareTools): void {
  const { url, headers, idempotencyHeader } = config as Config;
  if (url !== undefined) checkUrl(url, tools);
  for (const name of Object.keys(headers ?? {})) {
    if (HOST_OWNED_HEADERS.has(name.toLowerCase())) {
      tools.refuse(`/headers/${pointerSegment(name)}`, 'This header is set by the host; remove it.');
    }
  }
  if (HOST_OWNED_HEADERS.has(idempotencyHeader?.toLowerCase() ?? '')) {
    tools.refuse('/idempotencyHeader', 'This header is set by the host; use another name.');
  }
  checkSecretHeaders(config, tools);
}

/** A request of which only the signal is missing; its headers may still be added to. Names of headers are lower case. */
export interface UnsentRequest extends Omit<EgressRequest, 'signal' | 'headers' | 'body'> {
  readonly headers: Record<string, string>;
  body?: string;
}

/** Config overlaid by the input ports url, method, headers and body. A port that is null counts as not connected. */
export function buildRequest(input: EffectInput, invocationId: string): UnsentRequest {
  const config = input.config as Config;
  const { inputs } = input;
  const request: UnsentRequest = {
    url: text('url', inputs.url ?? config.url ?? null),
    method: resolveMethod(inputs.method ?? config.method ?? 'GET'),
    headers: {},
    maxResponseBytes:
      config.maxResponseBytes ?? (config.saveAs === undefined ? DEFAULT_RESPONSE_BYTES : MAX_RESPONSE_BYTES),
    followRedirects: config.followRedirects ?? true,
    ...(isHidden(input, 'url') && { hidesReceiver: true }),
  };
  addBody(request, inputs.body ?? input.config.body ?? null);
  const { idempotencyHeader = 'Idempotency-Key' } = config;
  if (idempotencyHeader !== '') request.headers[idempotencyHeader.toLowerCase()] = invocationId;
  addHeaders(request.headers, input.config.headers);
  addHeaders(request.headers, inputs.headers, isHidden(input, 'headers'));
  return request;
}

/** Something sensitive was worked into this port. In other letters, as URLs and headers are sent in, it is not found by its text. */
export function isHidden({ inputs, shownInputs }: EffectInput, port: string): boolean {
  return shownInputs !== undefined && shownInputs[port] !== inputs[port];
}

export function isExpected(config: JsonObject, status: number): boolean {
  const { expectStatus } = config as Config;
  if (expectStatus === undefined || expectStatus === '2xx') return status >= 200 && status <= 299;
  return expectStatus.includes(status);
}

/** How the response body is to be kept as an artifact. */
export function savedAs(config: JsonObject): Config['saveAs'] {
  return (config as Config).saveAs;
}

function resolveMethod(value: Json): string {
  const method = text('method', value).toUpperCase();
  if (!METHODS.includes(method)) throw invalid('method', `must be one of ${METHODS.join(', ')}`);
  return method;
}

/** A string is sent as it is, other JSON as application/json; null sends no body. */
function addBody(request: UnsentRequest, body: Json): void {
  if (body === null) return;
  const { method, headers } = request;
  if (method === 'GET' || method === 'HEAD') {
    throw invalid('body', `cannot be sent with ${method}; set method to POST, PUT, PATCH or DELETE`);
  }
  headers['content-type'] = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  request.body = typeof body === 'string' ? body : JSON.stringify(body);
}

function addHeaders(headers: Record<string, string>, given: Json | undefined, areHidden = false): void {
  if (given === undefined || given === null) return;
  if (!isJsonObject(given)) throw invalid('headers', 'must be an object of strings');
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string')
      throw invalid('headers', `must hold a string under ${areHidden ? 'every name' : JSON.stringify(name)}`);
    headers[name.toLowerCase()] = value;
  }
}

function text(field: string, value: Json): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(field, `must be a string; set config.${field} or connect the input port ${field}`);
}

function invalid(field: string, complaint: string): NodeFailure {
  return new NodeFailure('validation_error', `The ${field} of the request ${complaint}.`, {
    details: { field },
  });
}

function checkUrl(url: string, tools: PrepareTools): void {
  try {
    parseDestination(resolveOwnUrl(url, 'http://self'));
  } catch (error) {
    if (error instanceof EgressError) tools.refuse('/url', error.message);
    throw error;
  }
}

function pointerSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
