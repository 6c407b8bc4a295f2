import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { pathOf } from '@weft/protocol/plain';
import { ApiError, type Fetch } from '@weft/sdk';

/**
 * Whether the host at a URL is the one whose data folder we read, asked before it is sent the key that lies there. What listens
 * at a port may be another program: one that took it after the host stopped, or one that forwards our request to the host and keeps a copy.
 *
 * K-7. The host proves that it knows the secret in the folder, for a nonce of ours and the address at which it was reached.
 *      A process that forwards the question reaches the host at another address, and the proof it returns is for that one.
 * K-8. The proof is requested before every request, because another process may have taken the port since the last one; the
 *      request then goes to the very address that was proven, whatever the name resolves to by now.
 */
const SECRET_BYTES = 32;
const NONCE_BYTES = 24;
const PATIENCE_MS = 5_000;
const MAX_ANSWER = 4_096;

export function newIdentity(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function parseIdentity(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9_-]{43}$/.test(text) ? Buffer.from(text, 'base64url') : undefined;
}

/** A fetch that sends nothing but to the host that knows the secret; `unknown` says so of any other, and what to do. */
export function fetchFromKnown(secret: Uint8Array, unknown: string): Fetch {
  const refuse = refusingFetch('host_not_recognised', unknown);
  return async (target, init) => {
    const url = new URL(String(target));
    const address = url.protocol === 'http:' ? await provenAddress(url, secret, init?.signal) : undefined;
    if (address === undefined) return refuse(target);
    url.hostname = address.includes(':') ? `[${address}]` : address;
    return fetch(url, { ...init, redirect: 'error' });
  };
}

const MISDIRECTED = 421;

/** A fetch that sends nothing. */
export function refusingFetch(code: string, message: string): Fetch {
  return () => Promise.reject(new ApiError({ status: MISDIRECTED, code, message }));
}

/** The address at which the host has proven itself; undefined when it has not. Throws TypeError, as fetch does, when there is no answer. */
async function provenAddress(
  { hostname, port }: URL,
  secret: Uint8Array,
  signal: AbortSignal | null | undefined,
): Promise<string | undefined> {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const answer = await ask({ hostname, port, nonce, signal });
  const { remoteAddress = '', remotePort = 0 } = answer.socket;
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '');
  const given = proofIn(await bodyOf(answer));
  const expected = createHmac('sha256', secret)
    .update(`weft identity v1\n${nonce}\n${address}\n${remotePort}`)
    .digest();
  const isProven = given?.length === expected.length && timingSafeEqual(given, expected);
  return isProven && answer.statusCode === 200 ? address : undefined;
}

interface Question {
  readonly hostname: string;
  readonly port: string;
  readonly nonce: string;
  readonly signal: AbortSignal | null | undefined;
}

function ask({ hostname, port, nonce, signal }: Question): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(
      {
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? 80 : Number(port),
        path: `${pathOf('proveIdentity')}?nonce=${nonce}`,
        agent: false,
        timeout: PATIENCE_MS,
        ...(signal && { signal }),
      },
      resolve,
    );
    request.on('timeout', () =>
      request.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
    );
    request.on('error', (cause) => reject(new TypeError('fetch failed', { cause })));
  });
}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const piece of answer.setEncoding('utf8')) {
      text += String(piece);
      if (text.length > MAX_ANSWER) break;
    }
  } catch {
    return ''; // an answer that breaks off proves nothing
  }
  return text;
}

function proofIn(text: string): Buffer | undefined {
  try {
    const { hmac } = JSON.parse(text) as { readonly hmac?: unknown };
    return typeof hmac === 'string' ? Buffer.from(hmac, 'base64url') : undefined;
  } catch {
    return undefined;
  }
}
