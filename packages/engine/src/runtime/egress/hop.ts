import type { EgressRequest, EgressResponse } from '../../model/node-type.ts';
import { parseDestination, type Destination } from './destination.ts';
import { EgressError } from './egress-error.ts';
import { USER_AGENT } from './user-agent.ts';

/** One request to one destination; a redirect makes the next. Header names are lower case. */
export interface Hop {
  readonly destination: Destination;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Framing and addressing belong to the host: a caller's Host header would decide which certificate is accepted. */
export const HOST_OWNED_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Names that may carry a credential; they stay with the origin they were meant for. */
const CREDENTIAL_NAME = /auth|cookie|token|secret|api-?key|password|credential/;

export function firstHop(request: EgressRequest, destination = parseDestination(request.url)): Hop {
  const headers: Record<string, string> = { 'user-agent': USER_AGENT };
  if (destination.authorization !== undefined) headers['authorization'] = destination.authorization;
  for (const given of Object.keys(request.headers)) {
    const name = given.toLowerCase();
    const value = request.headers[given] ?? '';
    checkHeader(name, value, destination.authority);
    headers[name] = value;
  }
  headers['accept-encoding'] = 'identity';
  return { destination, method: request.method.toUpperCase(), headers, body: request.body };
}

export function isRedirect(response: Pick<EgressResponse, 'status' | 'headers'>): boolean {
  return REDIRECTS.has(response.status) && response.headers.location !== undefined;
}

/** Where a redirect leads. The caller admits the new destination like any other. */
export function nextHop(hop: Hop, response: Pick<EgressResponse, 'status' | 'headers'>): Hop {
  const destination = redirectTarget(hop, response.headers.location ?? '');
  const sameOrigin = destination.origin === hop.destination.origin;
  const headers = sameOrigin ? hop.headers : without(hop.headers, (name) => CREDENTIAL_NAME.test(name));
  if (!becomesGet(hop.method, response.status)) return { ...hop, destination, headers };
  return {
    destination,
    method: 'GET',
    headers: without(headers, (name) => name.startsWith('content-')),
    body: undefined,
  };
}

function redirectTarget(hop: Hop, location: string): Destination {
  try {
    return parseDestination(location, hop.destination.url);
  } catch (cause) {
    throw new EgressError(
      'denied',
      `${hop.destination.authority} redirects to a URL that cannot be followed.`,
      {
        reason: 'redirect_target',
        destination: hop.destination.authority,
        cause,
      },
    );
  }
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}

function checkHeader(name: string, value: string, authority: string): void {
  if (HOST_OWNED_HEADERS.has(name)) throw badHeader(name, authority, 'is set by the host; remove it');
  if (!isSendable(name, value)) throw badHeader(name, authority, 'holds characters that HTTP does not allow');
}

/** RFC 9110: a token, and a value of visible characters, bytes above ASCII, spaces and tabs. */
function isSendable(name: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

function badHeader(name: string, destination: string, complaint: string): EgressError {
  return new EgressError('invalid_request', `The header ${JSON.stringify(name)} ${complaint}.`, {
    reason: 'header',
    destination,
  });
}

function without(
  headers: Readonly<Record<string, string>>,
  isDropped: (name: string) => boolean,
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isDropped(name)));
}
