import type { ModelContext } from '@weft/engine';

/** Of one answer, however it comes: an endless stream ends here. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const BODILESS = new Set([204, 205, 304]);
/** Set by the host. */
const NOT_SENT = new Set(['user-agent', 'content-length', 'host', 'connection', 'accept-encoding']);

export interface EgressFetchOptions {
  readonly context: Pick<ModelContext, 'egress' | 'invocationId'>;
  readonly signal: AbortSignal;
  readonly baseUrl: string;
}

/** A `fetch` for libraries that goes out through the policy of the host: to the configured place, and to no other that is not public. */
export function egressFetch({ context, signal, baseUrl }: EgressFetchOptions): typeof globalThis.fetch {
  const admits = authorityOf(new URL(baseUrl));
  return async (input, init = {}) => {
    const { body } = init;
    if (body !== undefined && body !== null && typeof body !== 'string') {
      throw new TypeError('A request to a model is text.');
    }
    const headers: Record<string, string> = { 'idempotency-key': context.invocationId };
    for (const [name, value] of new Headers(init.headers)) if (!NOT_SENT.has(name)) headers[name] = value;
    const answer = await context.egress.open({
      url: input instanceof Request ? input.url : String(input),
      method: init.method ?? 'GET',
      headers,
      body: body ?? undefined,
      signal,
      maxResponseBytes: MAX_ANSWER_BYTES,
      followRedirects: false,
      admits,
    });
    const content = BODILESS.has(answer.status) ? null : ReadableStream.from(answer.body);
    return new Response(content, { status: answer.status, headers: { ...answer.headers } });
  };
}

/** In the spelling of the egress policy. */
function authorityOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}
