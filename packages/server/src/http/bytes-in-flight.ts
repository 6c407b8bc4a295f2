import { createLoads, isOverShare } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../options.ts';

/** Shorter bodies and answers are not counted: the number of connections bounds them. */
export const SMALL_BODY = 4_096;
export const SMALL_ANSWER = 65_536;
const RETRY_AFTER_S = 1;

/**
 * What requests hold in memory: bodies while they come in and are worked on, and large answers until their reader has taken
 * them. Over the limit those tenants are rejected that use up their part of it.
 */
export interface BytesInFlight {
  /** Counts them until what it returns is called. Throws HostError `service_unavailable` when there is no room. */
  hold(tenant: string, bytes: number): () => void;
}

export function createBytesInFlight(limit: number): BytesInFlight {
  const held = createLoads();
  return {
    hold(tenant, bytes) {
      const { bytes: all, tenants } = held.all();
      if (isOverShare(all + bytes, held.of(tenant).bytes, tenants, limit)) throw tooMany(all + bytes, limit);
      held.add(tenant, 1, bytes);
      return () => held.add(tenant, -1, -bytes);
    },
  };
}

/** A reader that takes nothing of a large answer for `stallMs` is disconnected. */
export function boundBytesInFlight(
  app: FastifyInstance,
  bytesInFlight: BytesInFlight,
  { maxRequestBodyBytes, stallMs }: Settings,
): void {
  function hold(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
    reply.raw.once('close', bytesInFlight.hold(request.caller?.tenant ?? '', bytes));
  }

  // Not async: every request would pay for two promises. What a hook throws ends its request all the same.
  app.addHook('preParsing', (request, reply, payload, done) => {
    const bytes = announced(request, maxRequestBodyBytes);
    if (bytes > SMALL_BODY) hold(request, reply, bytes);
    done(null, payload);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length <= SMALL_ANSWER) return done(null, payload);
    reply.raw.setTimeout(stallMs, () => reply.raw.destroy());
    hold(request, reply, payload.length);
    done(null, payload);
  });
}

/** Of a body without a length we know only what it may have at most. */
function announced({ headers, routeOptions }: FastifyRequest, byDefault: number): number {
  const limit = routeOptions.bodyLimit ?? byDefault;
  if (headers['transfer-encoding'] !== undefined) return limit;
  return Math.min(Number(headers['content-length'] ?? 0), limit);
}

function tooMany(observed: number, limit: number): HostError {
  return new HostError(
    'service_unavailable',
    `Requests and answers in flight would take ${observed} bytes, of which ${limit} are allowed; try again in ${RETRY_AFTER_S} s.`,
    { retryAfter: RETRY_AFTER_S, limit, observed },
    { retryAfter: RETRY_AFTER_S },
  );
}
