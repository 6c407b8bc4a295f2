import type { ModelContext } from '@weft/engine';
import type { CondensedEvents } from './condensed-events.ts';
import { pacedBody } from './paced-body.ts';
import type { StreamPace } from './stream-pace.ts';

/** Of one answer, however it comes: an endless stream ends here. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const BODILESS = new Set([204, 205, 304]);
/** Set by the host. */
const NOT_SENT = new Set(['user-agent', 'content-length', 'host', 'connection', 'accept-encoding']);

export interface EgressFetchOptions {
  readonly context: Pick<ModelContext, 'egress' | 'invocationId'>;
  readonly signal: AbortSignal;
  readonly baseUrl: string;
  /** Where the answer is a stream of events. */
  readonly events: CondensedEvents;
  readonly pace: StreamPace;
}

/** A `fetch` for libraries that goes out through the policy of the host: to the configured place, and to no other that is not public. */
export function egressFetch(options: EgressFetchOptions): typeof globalThis.fetch {
  const { context, signal, baseUrl, events, pace } = options;
  const admits = authorityOf(new URL(baseUrl));
  return async (input, init = {}) => {
    const { body: sent } = init;
    if (sent !== undefined && sent !== null && typeof sent !== 'string') {
      throw new TypeError('A request to a model is text.');
    }
    const headers: Record<string, string> = { 'idempotency-key': context.invocationId };
    for (const [name, value] of new Headers(init.headers)) if (!NOT_SENT.has(name)) headers[name] = value;
    const answer = await context.egress.open({
      url: input instanceof Request ? input.url : String(input),
      method: init.method ?? 'GET',
      headers,
      body: sent ?? undefined,
      signal,
      maxResponseBytes: MAX_ANSWER_BYTES,
      followRedirects: false,
      admits,
    });
    const isStream = /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '');
    const body = isStream ? pacedBody(answer.body, events, pace) : answer.body;
    const content = BODILESS.has(answer.status) ? null : ReadableStream.from(body);
    return new Response(content, { status: answer.status, headers: { ...answer.headers } });
  };
}

/** In the spelling of the egress policy. */
function authorityOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}
