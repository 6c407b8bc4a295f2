import type { Call } from '../call.ts';

/**
 * The origin for URLs in answers, among them signed links. A Host header is whatever the sender, or a cache between, made of it, so
 * it decides nothing unless the operator has named it: otherwise it is the public URL, or the address that the client has reached.
 */
export function createPublicUrl({
  publicUrl,
  allowedHosts,
}: {
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
}): (call: Call) => string {
  if (publicUrl !== undefined) return () => publicUrl;
  const origins = new Map(allowedHosts.map(originOf));
  if (origins.size === 0) return reachedOrigin;
  return (call) => origins.get(String(call.headers['host'] ?? '').toLowerCase()) ?? reachedOrigin(call);
}

/** `HOST[:PORT]`, or with `https://` before it where a proxy ends the TLS. */
function originOf(allowed: string): [host: string, origin: string] {
  const { host, origin } = new URL(/^https?:\/\//i.test(allowed) ? allowed : `http://${allowed}`);
  return [host, origin];
}

/** Absent where a request comes over no socket. */
const NOWHERE = '127.0.0.1';

function reachedOrigin({ socket }: Call): string {
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
  const address = plainAddress(socket.localAddress ?? NOWHERE);
  const port = socket.localPort === undefined ? '' : `:${socket.localPort}`;
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}${port}`;
}

/** An IPv4 address that an IPv6 socket has taken is one all the same. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
