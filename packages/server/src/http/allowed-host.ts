import { HostError } from '@weft/protocol';
import type { Call } from '../call.ts';
import { plainAddress } from './public-url.ts';

const LOOPBACK_NAME = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const HOST_HEADER = /^(\[[0-9a-f:.]+\]|[^:\s/@?#\\]+)(?::\d{1,5})?$/;

/**
 * A page of another site may have its own name point to this host (DNS rebinding), and would then be of the same origin as it. So
 * pages are given only under names that are known to be ours.
 *
 * K-12. What needs no key and is meant for browsers is answered only under a loopback name, the address that the connection has
 *       reached, the name of the public URL, or a name that the operator allows.
 */
export function createHostCheck({
  publicUrl,
  allowedHosts,
}: {
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
}): (call: Call) => void {
  const names = new Set([...(publicUrl === undefined ? [] : [publicUrl]), ...allowedHosts].map(hostnameOf));
  return (call) => {
    const header = String(call.headers['host'] ?? call.headers[':authority'] ?? '').toLowerCase();
    const name = HOST_HEADER.exec(header)?.[1]?.replace(/\.$/, '');
    if (name !== undefined && (LOOPBACK_NAME.test(name) || names.has(name) || name === reachedName(call)))
      return;
    throw new HostError(
      'host_not_allowed',
      'This page is not served under the name in the Host header. The operator allows one with --public-url or --allowed-hosts.',
      { field: 'Host' },
    );
  };
}

/**
 * K-13. A session is opened by our own page, or by a program: never by a page of another site, which could sign a person in as
 *       someone else.
 */
export function checkSameOrigin({ headers }: Call): void {
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  const isOwnOrigin =
    origin === undefined ||
    (typeof origin === 'string' && URL.canParse(origin) && new URL(origin).host === hostOf(origin, host));
  if (isOwnSite && isOwnOrigin) return;
  throw new HostError('forbidden', 'This request came from a page of another site.', { field: 'Origin' });
}

/** The Host header as the URL of its own scheme has it, which leaves out the usual port. */
function hostOf(origin: string, host: unknown): string | undefined {
  const url = `${new URL(origin).protocol}//${String(host)}`;
  return URL.canParse(url) ? new URL(url).host : undefined;
}

function hostnameOf(allowed: string): string {
  return new URL(/^https?:\/\//i.test(allowed) ? allowed : `http://${allowed}`).hostname;
}

/** An address cannot be made to point elsewhere. */
function reachedName({ socket }: Call): string | undefined {
  if (socket.localAddress === undefined) return undefined;
  const address = plainAddress(socket.localAddress);
  return address.includes(':') ? `[${address}]` : address;
}
