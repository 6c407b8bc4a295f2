import { type Endpoint, isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import { ApiError, ConnectionError } from './errors.ts';

export type Fetch = typeof globalThis.fetch;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly fetch?: Fetch | undefined;
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** One way to the host for every call: adds the key, turns every failure into one of two error classes. */
export interface Transport {
  /** Resolves with the parsed JSON body of a 2xx answer. */
  json<Result>(endpoint: Endpoint, options?: CallOptions): Promise<Result>;
  /** Resolves with a 2xx answer whose body has not been read. */
  open(endpoint: Endpoint, options?: CallOptions): Promise<Response>;
  /** Of the host, for messages. */
  readonly origin: string;
}

export function createTransport(options: TransportOptions): Transport {
  const base = parseBaseUrl(options.baseUrl);
  const send = options.fetch ?? globalThis.fetch;

  async function open({ method, path }: Endpoint, call: CallOptions = {}): Promise<Response> {
    const target = urlOf(base + path, call.query);
    const response = await attempt(send, target, {
      method,
      headers: headersOf(options.apiKey, call),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    if (!response.ok) throw await toApiError(response, target);
    return response;
  }

  async function json<Result>(endpoint: Endpoint, call: CallOptions = {}): Promise<Result> {
    const response = await open(endpoint, call);
    const text = await readText(response, base, call.signal);
    if (text === '') return undefined as Result;
    return parseBody(text, response, base) as Result;
  }

  return { json, open, origin: originOf(base) };
}

function urlOf(path: string, query: CallOptions['query'] = {}): string {
  const target = new URL(path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) target.searchParams.set(name, String(value));
  }
  return target.href;
}

function parseBaseUrl(baseUrl: string): string {
  let parsed: URL;
  try {
    parsed = new URL(baseUrl);
  } catch (cause) {
    throw new TypeError(`baseUrl must be an absolute URL such as http://127.0.0.1:7878, not "${baseUrl}".`, {
      cause,
    });
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new TypeError(`baseUrl must start with http:// or https://, not "${parsed.protocol}".`);
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, '');
}

function headersOf(apiKey: string | undefined, call: CallOptions): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (apiKey !== undefined) headers['authorization'] = `Bearer ${apiKey}`;
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(call.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}

async function attempt(send: Fetch, target: string, init: RequestInit): Promise<Response> {
  try {
    return await send(target, init);
  } catch (cause) {
    // Leaving on purpose is no connection problem, and neither is what a fetch of the caller's own refuses to send.
    if (init.signal?.aborted === true || cause instanceof ApiError) throw cause;
    throw new ConnectionError(originOf(target), problemOf(cause), { cause });
  }
}

async function readText(
  response: Response,
  target: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ConnectionError(originOf(target), 'The connection broke while the answer was read', { cause });
  }
}

function parseBody(text: string, response: Response, target: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new ConnectionError(originOf(target), `The answer (${response.status}) is not JSON`, { cause });
  }
}

async function toApiError(response: Response, target: string): Promise<ApiError | ConnectionError> {
  const body = parseBody(await readText(response, target, undefined), response, target);
  if (!isJsonObject(body) || typeof body['error'] !== 'string') {
    return new ConnectionError(
      originOf(target),
      `The answer (${response.status}) is not an OpenWOP error envelope`,
    );
  }
  return new ApiError({
    status: response.status,
    code: body['error'],
    message: typeof body['message'] === 'string' ? body['message'] : body['error'],
    details: isJsonObject(body['details']) ? body['details'] : undefined,
    requestId: response.headers.get('x-request-id') ?? correlationId(body),
    retryAfter: secondsOf(response.headers.get('retry-after')),
  });
}

function correlationId(envelope: JsonObject): string | undefined {
  const details = envelope['details'];
  if (!isJsonObject(details)) return undefined;
  return typeof details['correlationId'] === 'string' ? details['correlationId'] : undefined;
}

function secondsOf(header: string | null): number | undefined {
  if (header === null || !/^\d+$/.test(header)) return undefined;
  return Number(header);
}

function originOf(target: string): string {
  return new URL(target).origin;
}

/** fetch hides the system's reason one level down, in `cause.code`. */
function problemOf(error: unknown): string {
  const code = systemCode(error);
  if (code === 'ECONNREFUSED') return 'Connection refused: nothing listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'The host name cannot be resolved';
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET')
    return 'The connection was closed by the other side';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'The connection timed out';
  if (code?.startsWith('HPE_') === true) return 'The server there does not speak HTTP';
  return code === undefined ? 'The request could not be sent' : `The request could not be sent: ${code}`;
}

function systemCode(error: unknown): string | undefined {
  for (
    let current = error, depth = 0;
    current instanceof Error && depth < 4;
    current = current.cause, depth += 1
  ) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    if (current instanceof AggregateError) {
      const inner = systemCode(current.errors[0]);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}
