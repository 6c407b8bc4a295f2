import type { FastifyRequest } from 'fastify';
import { addressOf, isLoopbackAddress, peerOf } from './client-address.ts';

/** True when no one on the way can read what is sent: TLS, here or at a trusted proxy, or loopback all the way. */
export function isPrivateConnection(request: FastifyRequest): boolean {
  if (request.protocol === 'https') return true;
  return isLoopbackAddress(addressOf(request)) && isLoopbackAddress(peerOf(request));
}
