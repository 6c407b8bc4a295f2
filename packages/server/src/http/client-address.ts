import { isIP } from 'node:net';
import type { Call } from '../call.ts';

const MAPPED = /^::ffff:(?=\d+\.)/i;
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/i;

/**
 * Where a request comes from, as one spelling of a plain address. Behind a trusted proxy that is what X-Forwarded-For says,
 * read from the right up to the first address that is not a trusted proxy's; from other peers the header is ignored.
 * `Forwarded` is not read: a proxy overwrites one of the two headers, and the client writes the other.
 */
export function addressOf(call: Call): string {
  return plainAddress(call.ip) ?? peerOf(call);
}

/** The other end of the connection, whatever it forwards. */
export function peerOf({ socket }: Call): string {
  return plainAddress(socket.remoteAddress) ?? '';
}

/** Without port, brackets, zone, or the prefix of an IPv4 address on an IPv6 socket; undefined when it is no address. */
function plainAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  const address = (six ?? four ?? text).replace(/%.*$/, '').replace(MAPPED, '');
  return isIP(address) === 0 ? undefined : address;
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1)$/;

export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK.test(address);
}
