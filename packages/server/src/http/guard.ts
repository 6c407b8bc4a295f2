import type { Caller, Host } from '@weft/engine';
import { HostError, route } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import type { Door } from '../door.ts';
import type { OpenStreams } from '../stream/open-streams.ts';
import type { Denials } from './denials.ts';
import type { RateLimiter } from './rate-limit.ts';

/**
 * Who may pass, decided before the body is read. The order is the protocol's and is visible to clients:
 * 1. authenticate (401), 2. rate limit (429), 3. scope (403), 4. room for new work (503).
 * What belongs to the resource, the body and the Idempotency-Key comes after it, in the handler.
 */
export interface GuardDeps {
  readonly host: Host;
  readonly streams: OpenStreams;
  readonly limiter: RateLimiter | undefined;
  readonly denials: Denials;
}

const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i;

export function createGuard(deps: GuardDeps): Door['allow'] {
  return (operationId, access = {}) => {
    const { scope, alsoScope } = route(operationId);
    if (scope === null) throw new Error(`The operation ${operationId} needs no key, so it needs no guard.`);
    return {
      config: { scope, ofRun: access.ofRun === true },
      onRequest: async (request: FastifyRequest): Promise<void> => {
        if (deps.streams.closing) throw stopping();
        const caller = await authenticate(deps, request);
        request.caller = caller;
        deps.limiter?.take(caller.keyId);
        for (const needed of alsoScope === undefined ? [scope] : [scope, alsoScope])
          if (!caller.scopes.has(needed)) throw outOfScope(deps, request, caller, needed);
        if (access.isNewWork === true) refuseWhenOverloaded(deps.host);
      },
    };
  };
}

async function authenticate(deps: GuardDeps, request: FastifyRequest): Promise<Caller> {
  const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
  if (key === undefined) throw unauthenticated(deps, request, 'missing');

  const answer = await deps.host.authenticate(key);
  switch (answer.state) {
    case 'ok':
      return answer.caller;
    case 'unknown':
      throw unauthenticated(deps, request, 'unknown');
    case 'expired':
      deps.denials.record(request, undefined, 'key_expired');
      throw new HostError('key_expired', 'This key has expired; create a new one.');
    case 'revoked':
      deps.denials.record(request, undefined, 'key_revoked');
      throw new HostError('key_revoked', 'This key was revoked; create a new one.');
  }
}

function unauthenticated(deps: GuardDeps, request: FastifyRequest, why: 'missing' | 'unknown'): HostError {
  if (why === 'unknown') deps.denials.record(request, undefined, 'unauthenticated');
  return new HostError(
    'unauthenticated',
    why === 'missing'
      ? 'Send "Authorization: Bearer <key>" with a key of this host.'
      : 'The key in the Authorization header is not known to this host.',
  );
}

function outOfScope(deps: GuardDeps, request: FastifyRequest, caller: Caller, scope: string): HostError {
  deps.denials.record(request, caller, 'forbidden');
  return new HostError('forbidden', `This key does not hold the scope ${scope}.`, { scopeRequired: scope });
}

function refuseWhenOverloaded(host: Host): void {
  const overload = host.overload();
  if (overload === undefined) return;
  const retryAfter = Math.max(1, Math.ceil(overload.retryAfter));
  throw new HostError(
    'service_unavailable',
    `The host takes no new runs at the moment (${overload.cause}); try again in ${retryAfter} s.`,
    { retryAfter },
    { retryAfter },
  );
}

function stopping(): HostError {
  return new HostError(
    'service_unavailable',
    'The host is shutting down; try again in 1 s.',
    { retryAfter: 1 },
    { retryAfter: 1 },
  );
}
