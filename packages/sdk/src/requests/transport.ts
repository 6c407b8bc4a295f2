import {
  type Endpoint,
  isJsonObject,
  type Json,
  type JsonObject,
  takesIdempotencyKey,
} from '@weft/protocol/plain';
import { ApiPromise } from './api-promise.ts';
import { fromEnvironment } from './environment.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { isTemporary, parseRetryAfter, pause, retryDelayMs } from './retry.ts';

export type Fetch = typeof globalThis.fetch;

export interface ClientOptions {
  /** Default: the environment's WEFT_URL. */
  readonly baseUrl?: string | undefined;
  /** Default: the environment's WEFT_API_KEY. Null sends none. */
  readonly apiKey?: string | null | undefined;
  readonly fetch?: Fetch | undefined;
  /** For each attempt: until its answer has been read, of a stream until it begins. Default: 60,000; 0 means no limit. */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a request is sent again after a lost connection or a 408, 429, 502, 503 or 504; default: 2. Only requests that are safe to
   * repeat are: reads, removals, and writes with an idempotency key.
   */
  readonly maxRetries?: number | undefined;
  /** Ends every request of this client. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** A body that is JSON text already. */
  readonly bodyText?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  /** In place of the client's. */
  readonly timeoutMs?: number;
  /** In place of the client's. */
  readonly maxRetries?: number;
  /** How long the host may keep the answer back, on top of the timeout. */
  readonly heldMs?: number;
}

/** One way to the host for every call: adds the keys, repeats what is safe to repeat, turns every failure into one of two error classes. */
export interface Transport {
  /** The parsed JSON body of a 2xx answer. */
  json<Result>(endpoint: Endpoint, options?: CallOptions): ApiPromise<Result>;
  /** A 2xx answer whose body has not been read. */
  open(endpoint: Endpoint, options?: CallOptions): Promise<Response>;
  /** Of the host, for messages. */
  readonly origin: string;
}

const TIMEOUT_MS = 60_000;
const MAX_RETRIES = 2;
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createTransport(options: ClientOptions): Transport {
  const base = parseBaseUrl(options.baseUrl ?? fromEnvironment('WEFT_URL'));
  const origin = originOf(base);
  const apiKey = options.apiKey === undefined ? fromEnvironment('WEFT_API_KEY') : options.apiKey;
  const send = options.fetch ?? globalThis.fetch;

  async function request<Result>(
    endpoint: Endpoint,
    call: CallOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { method, path } = endpoint;
    const target = urlOf(base + path, call.query);
    const wanted = call.maxRetries ?? options.maxRetries ?? MAX_RETRIES;
    // What is sent once needs no key, and costs the host no record of it.
    const ownKey = wanted > 0 && takesIdempotencyKey(endpoint) ? newIdempotencyKey() : undefined;
    const headers = headersOf(apiKey, ownKey, call);
    const retries =
      (method !== 'POST' && method !== 'PUT') || headers['idempotency-key'] !== undefined ? wanted : 0;
    const signal = anySignal(call.signal, options.signal);
    const text = call.bodyText ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const body = text === undefined ? {} : { body: text };
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await once(target, { method, headers, ...body }, call, signal, read);
      } catch (error) {
        if (attempt >= retries || !isTemporary(error)) throw error;
        await pause(retryDelayMs(error, attempt), signal);
      }
    }
  }

  async function once<Result>(
    target: string,
    init: RequestInit,
    call: CallOptions,
    given: AbortSignal | undefined,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const timeout = startTimeout(
      (call.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS) || Infinity,
      call.heldMs,
    );
    const signal = anySignal(given, timeout.signal);
    try {
      const response = await send(target, { ...init, ...(signal && { signal }) });
      if (!response.ok) throw await errorOf(response, origin);
      return await read(response);
    } catch (cause) {
      given?.throwIfAborted(); // leaving on purpose is no connection problem
      if (timeout.signal?.aborted === true) throw new ConnectionError(origin, timeout.problem, { cause });
      // Neither is what a fetch of the caller's own refuses to send.
      if (cause instanceof ApiError || cause instanceof ConnectionError) throw cause;
      throw new ConnectionError(origin, problemOf(cause), { cause });
    } finally {
      timeout.clear();
    }
  }

  return {
    json: <Result>(endpoint: Endpoint, call: CallOptions = {}) => {
      const answer = request(endpoint, call, async (response) => ({
        data: (await readJson(response, origin)) as Result,
        response,
      }));
      return new ApiPromise(() => answer);
    },
    open: (endpoint, call = {}) => request(endpoint, call, (response) => Promise.resolve(response)),
    origin,
  };
}

interface Timeout {
  /** Absent: there is no limit. */
  readonly signal?: AbortSignal;
  readonly problem: string;
  clear(): void;
}

const NO_TIMEOUT: Timeout = { problem: '', clear: () => undefined };

function startTimeout(ms: number, heldMs = 0): Timeout {
  if (ms === Infinity) return NO_TIMEOUT;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), Math.min(ms + heldMs, LONGEST_TIMER_MS));
  return {
    signal: controller.signal,
    problem: `No complete answer came within ${(ms + heldMs) / 1000} s`,
    clear: () => clearTimeout(timer),
  };
}

export function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

function urlOf(path: string, query: CallOptions['query'] = {}): string {
  const target = new URL(path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) target.searchParams.set(name, String(value));
  }
  return target.href;
}

function parseBaseUrl(baseUrl: string | undefined): string {
  if (baseUrl === undefined)
    throw new TypeError('No host is known: give createClient a baseUrl, or set WEFT_URL.');
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

function headersOf(
  apiKey: string | null | undefined,
  idempotencyKey: string | undefined,
  call: CallOptions,
): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (typeof apiKey === 'string') headers['authorization'] = `Bearer ${apiKey}`;
  if (call.body !== undefined || call.bodyText !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  for (const [name, value] of Object.entries(call.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Not crypto.randomUUID, which pages that were not loaded over https do not have. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function readJson(response: Response, origin: string): Promise<Json | undefined> {
  const text = await readText(response, origin);
  return text === '' ? undefined : parseBody(text, response, origin);
}

async function readText(response: Response, origin: string): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new ConnectionError(origin, 'The connection broke while the answer was read', { cause });
  }
}

function parseBody(text: string, response: Response, origin: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw notOurs(response, origin, 'JSON', cause);
  }
}

async function errorOf(response: Response, origin: string): Promise<ApiError | ConnectionError> {
  const body = parseBody(await readText(response, origin), response, origin);
  if (!isJsonObject(body) || typeof body['error'] !== 'string')
    return notOurs(response, origin, 'an OpenWOP error envelope');
  return new ApiError({
    status: response.status,
    code: body['error'],
    message: typeof body['message'] === 'string' ? body['message'] : body['error'],
    details: isJsonObject(body['details']) ? body['details'] : undefined,
    requestId: response.headers.get('x-request-id') ?? correlationId(body),
    retryAfter: parseRetryAfter(response.headers.get('retry-after')),
  });
}

function notOurs(response: Response, origin: string, expected: string, cause?: unknown): ConnectionError {
  const { status, headers } = response;
  const retryAfter = parseRetryAfter(headers.get('retry-after'));
  return new ConnectionError(origin, `The answer (${status}) is not ${expected}`, {
    cause,
    status,
    retryAfter,
  });
}

function correlationId(envelope: JsonObject): string | undefined {
  const details = envelope['details'];
  if (!isJsonObject(details)) return undefined;
  return typeof details['correlationId'] === 'string' ? details['correlationId'] : undefined;
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
