import { createSseParser, type Json, type SseEvent } from '@weft/protocol';
import { HostFault, faultOf } from './host-fault.ts';
import type { ShownAnswer, ShownRequest, Trace } from './trace.ts';

/** The suite reads what a host sends with a limit on time and size, and follows no redirect: the host may be broken in any way. */
export const REQUEST_TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 64 * 1_024 * 1_024;
/** Answers come with headers that say nothing about the protocol. */
const DULL_HEADERS = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

export interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly rawBody?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another key than the suite's own; `null` sends none. */
  readonly key?: string | null;
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly request: ShownRequest;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; absent when it is none. */
  readonly json: Json | undefined;
  readonly ms: number;
}

/** A stream of server-sent events, read at the check's own pace. */
export interface EventStream {
  readonly request: ShownRequest;
  readonly status: number;
  readonly headers: Headers;
  /** The next event; absent when the host has closed the stream. */
  next(): Promise<SseEvent | undefined>;
  /** Every event until the host closes the stream. */
  rest(): Promise<SseEvent[]>;
  close(): Promise<void>;
}

export interface HostClient {
  readonly url: string;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Opens a stream. A host that refuses it answers with a status that is not 200; `next` then reads nothing. */
  stream(path: string, options?: RequestOptions): Promise<EventStream>;
}

export interface ClientOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly trace: Trace;
  readonly signal?: AbortSignal;
  /** How long an answer may take, unless a request says otherwise. */
  readonly timeoutMs?: number;
}

export function createHostClient({
  url,
  key,
  trace,
  signal,
  timeoutMs = REQUEST_TIMEOUT_MS,
}: ClientOptions): HostClient {
  const base = url.replace(/\/+$/, '');

  async function send(method: string, path: string, options: RequestOptions, accept: string) {
    const { body, headers, text } = payloadOf(options);
    const used = options.key === undefined ? key : (options.key ?? undefined);
    const sent = {
      accept,
      ...headers,
      ...options.headers,
      ...(used === undefined ? {} : { authorization: `Bearer ${used}` }),
    };
    const request = shownRequest(trace, { method, path, headers: sent, body: text });
    const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutMs);
    const ended = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: sent,
        redirect: 'manual',
        signal: ended,
        ...body,
      });
      if (response.status >= 300 && response.status < 400 && response.status !== 304)
        throw redirected(response);
      return { request, response };
    } catch (error) {
      throw recorded(request, error);
    }
  }

  function recorded(request: ShownRequest, error: unknown): HostFault {
    const fault = faultOf(error, request);
    trace.add({ kind: 'fault', request, problem: fault.message });
    return fault;
  }

  return {
    url: base,
    async request(method, path, options = {}) {
      const startedAt = performance.now();
      const { request, response } = await send(method, path, options, 'application/json');
      const text = await readText(response).catch((error: unknown) => {
        throw recorded(request, error);
      });
      trace.add({ kind: 'exchange', request, answer: shownAnswer(trace, request, response, text) });
      const ms = performance.now() - startedAt;
      return { request, status: response.status, headers: response.headers, text, json: parsed(text), ms };
    },
    async stream(path, options = {}) {
      const { request, response } = await send(
        'GET',
        path,
        { timeoutMs: 120_000, ...options },
        'text/event-stream',
      );
      const stream = readEvents(response);
      const seen: string[] = [];
      let isRecorded = false;
      const record = (): void => {
        if (isRecorded) return;
        isRecorded = true;
        const answer = shownAnswer(trace, request, response, seen.join('\n'));
        trace.add({ kind: 'exchange', request, answer });
      };
      async function next(): Promise<SseEvent | undefined> {
        try {
          const event = await stream.next();
          if (event === undefined) record();
          else if (seen.length < 100) seen.push(`${event.id ?? '-'} ${event.event} ${event.data}`);
          return event;
        } catch (error) {
          record();
          throw recorded(request, error);
        }
      }
      return {
        request,
        status: response.status,
        headers: response.headers,
        next,
        async rest() {
          const events: SseEvent[] = [];
          for (let event = await next(); event !== undefined; event = await next()) events.push(event);
          return events;
        },
        async close() {
          record();
          await stream.close();
        },
      };
    },
  };
}

function payloadOf({ body, rawBody }: RequestOptions) {
  const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  if (sent === undefined) return { body: {}, headers: {}, text: undefined };
  const text = typeof sent === 'string' ? sent : `${sent.length} bytes`;
  return { body: { body: sent }, headers: { 'content-type': 'application/json' }, text };
}

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

function shownRequest(trace: Trace, { method, path, headers, body }: SentRequest): ShownRequest {
  trace.masks.learn(path);
  return {
    method,
    path: trace.shown(path),
    headers: { ...headers, ...('authorization' in headers && { authorization: 'Bearer …' }) },
    ...(body === undefined ? {} : { body: trace.shown(body) }),
  };
}

function shownAnswer(
  trace: Trace,
  { method }: ShownRequest,
  { status, headers }: Response,
  text: string,
): ShownAnswer {
  trace.masks.learn(text, method === 'POST' && status === 201);
  const kept = [...headers].filter(([name]) => !DULL_HEADERS.has(name));
  return { status, headers: Object.fromEntries(kept), body: trace.shown(text) };
}

function redirected(response: Response): HostFault {
  const target = response.headers.get('location') ?? 'nowhere';
  return new HostFault('redirect', `the host redirects to ${target}; the suite follows no redirect`);
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES)
      throw new HostFault('too-large', `the host sent more than ${MAX_BODY_BYTES} bytes in one answer`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function readEvents(response: Response) {
  const queue: SseEvent[] = [];
  const parser = createSseParser((event) => queue.push(event));
  const decoder = new TextDecoder();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const reader = response.body?.getReader();
  return {
    async next(): Promise<SseEvent | undefined> {
      while (isStream && queue.length === 0) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) return undefined;
        parser.push(decoder.decode(chunk.value as Uint8Array, { stream: true }));
      }
      return queue.shift();
    },
    async close(): Promise<void> {
      await reader?.cancel().catch(() => undefined);
    },
  };
}
