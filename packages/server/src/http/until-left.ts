import { type StopSignal, StopSource } from '@weft/engine';
import type { FastifyReply } from 'fastify';

/** Aborted when the client has gone, or has its answer. */
export function untilLeft(reply: FastifyReply): StopSignal {
  const left = new StopSource();
  reply.raw.once('close', () => left.stop());
  return left;
}
