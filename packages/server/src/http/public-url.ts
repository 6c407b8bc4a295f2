import type { FastifyRequest } from 'fastify';

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
}): (request: FastifyRequest) => string {
  if (publicUrl !== undefined) return () => publicUrl;
  const origins = new Map(allowedHosts.map(originOf));
  return (request) => origins.get(request.headers.host?.toLowerCase() ?? '') ?? reachedOrigin(request);
}

/** `HOST[:PORT]`, or with `https://` before it where a proxy ends the TLS. */
function originOf(allowed: string): [host: string, origin: string] {
  const { host, origin } = new URL(/^https?:\/\//i.test(allowed) ? allowed : `http://${allowed}`);
  return [host, origin];
}

/** Absent where a request comes over no socket. */
const NOWHERE = '127.0.0.1';

function reachedOrigin({ raw: { socket } }: FastifyRequest): string {
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
  const address = plainAddress(socket.localAddress ?? NOWHERE);
  const port = socket.localPort === undefined ? '' : `:${socket.localPort}`;
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}${port}`;
}

/** An IPv4 address that an IPv6 socket has taken is one all the same. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
