import type { PeerContext } from '@weft/engine';
import { parseStrictJson } from '@weft/protocol';
import type { A2aPeer } from './config.ts';
import { PeerStatusError } from './failures.ts';
import { A2A_LIMITS } from './limits.ts';

const BODILESS = new Set([204, 205, 304]);
/** Set by the host. */
const NOT_SENT = new Set(['user-agent', 'content-length', 'host', 'connection', 'accept-encoding']);

/**
 * What the SDK fetches with: the host's egress, for the configured peer and no other place, with its key. Answers are read whole, so that
 * one that breaks off is an error of its request.
 */
export function peerFetch(
  peer: A2aPeer,
  { egress, signal }: Pick<PeerContext, 'egress' | 'signal'>,
  key: string | undefined,
  maxBytes: number = A2A_LIMITS.answerBytes,
): typeof globalThis.fetch {
  const { url: place, timeoutMs } = peer;
  const admits = `${place.hostname}:${place.port === '' ? (place.protocol === 'https:' ? 443 : 80) : place.port}`;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (url.origin !== place.origin) throw new Error('The peer points to another place.');
    const headers: Record<string, string> = {};
    for (const [name, value] of new Headers(init.headers)) if (!NOT_SENT.has(name)) headers[name] = value;
    if (key !== undefined) headers['authorization'] = `Bearer ${key}`;
    const answer = await egress.fetch({
      url: url.href,
      method: init.method ?? 'GET',
      headers,
      ...(typeof init.body === 'string' && { body: init.body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      maxResponseBytes: maxBytes,
      followRedirects: false,
      admits,
    });
    const { status } = answer;
    // What A2A has to say of an error stands in an answer of 4xx; of the others only the status counts.
    if (status >= 500 || (status >= 300 && status < 400) || [401, 403, 429].includes(status))
      throw new PeerStatusError(status);
    if (BODILESS.has(status)) return new Response(null, { status });
    const content = Buffer.from(answer.body);
    // Libraries take any depth, and repeated names.
    parseStrictJson(content.toString('utf8'));
    return new Response(content, { status, headers: { ...answer.headers } });
  };
}
