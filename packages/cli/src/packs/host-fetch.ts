import { isUtf8 } from 'node:buffer';
import type { HostFetch } from '@weft/packs';

const CONNECT_MS = 10_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** How the host goes out for packs in JavaScript, which have no network: under the policy for nodes. */
export async function hostFetch(allow: readonly string[], tenant: string): Promise<HostFetch> {
  const { createEgress } = await import('@weft/engine');
  const egress = createEgress({ allow, connectTimeoutMs: CONNECT_MS });
  return async ({ url, method, headers, body, followRedirects }, signal) => {
    const sent = body === undefined ? undefined : Buffer.from(body, 'base64');
    if (sent !== undefined && !isUtf8(sent)) throw new Error('the body of a request must be text in UTF-8');
    const answer = await egress.fetch(
      {
        url,
        method,
        headers,
        body: sent?.toString('utf8'),
        signal,
        maxResponseBytes: MAX_ANSWER_BYTES,
        followRedirects,
      },
      tenant,
    );
    const { status, headers: answered, body: bytes } = answer;
    return { status, headers: answered, body: Buffer.from(bytes).toString('base64') };
  };
}
