import type { Authentication, Caller, Host } from '@weft/engine';
import { ANY_SCOPE, HostError, type OperationId, route } from '@weft/protocol';
import type { RouteShorthandOptions } from 'fastify';
import type { Call } from '../call.ts';
import type { OpenStreams } from '../stream/open-streams.ts';
import { addressOf } from './client-address.ts';
import type { Denials } from './denials.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import type { RateLimiter } from './rate-limit.ts';

/**
 * Who may pass, decided before the body is read. The order is the protocol's and is visible to clients:
 * 1. too many failures from there (429), 2. authenticate (401), 3. rate limit (429), 4. scope (403), 5. room for new work (503).
 * What belongs to the resource, the body and the Idempotency-Key comes after it, in the handler.
 */
export interface GuardDeps {
  readonly host: Host;
  readonly streams: OpenStreams;
  readonly limiter: RateLimiter | undefined;
  readonly denials: Denials;
  readonly attempts: FailedAttempts;
}

const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i;

type Refused = Exclude<Authentication['state'], 'ok'>;

export interface Access {
  /** New work: refused while the host is overloaded. */
  readonly isNewWork?: boolean;
  /** The path names a run: a caller that may not see it gets 404, whatever else is wrong with the request. */
  readonly ofRun?: boolean;
  /** What lets a call in that needs no key, such as a signed link; before the body is looked at. */
  readonly before?: (call: Call) => Promise<void>;
}

export interface Guard {
  /** Lets in only callers with the operation's scope, and says in the call who it is. Throws HostError. */
  admit(operationId: OperationId, access: Access, call: Call): Promise<void>;
  /** The same for what is in no table of operations: all of these scopes. */
  admitWith(scopes: readonly string[], access: Access, call: Call): Promise<void>;
  /** For what needs no key and may be asked for often: counted by address. Throws HostError. */
  admitAnyone(call: Call): void;
  /** The same as options of a route. */
  options(operationId: OperationId, access: Access): RouteShorthandOptions;
}

export function createGuard(deps: GuardDeps): Guard {
  async function admitKey(needed: readonly string[], access: Access, call: Call): Promise<void> {
    if (deps.streams.closing) throw stopping();
    deps.attempts.check(call);
    const answer = await deps.host.authenticate(keyOf(call));
    if (answer.state !== 'ok') throw refusal(deps, call, answer.state);
    const { caller } = answer;
    call.caller = withAddress(call, caller);
    deps.limiter?.take(caller.keyId);
    for (const each of needed) if (!caller.scopes.has(each)) throw outOfScope(deps, call, caller, each);
    if (access.isNewWork === true) refuseWhenOverloaded(deps.host, caller.tenant);
  }

  return {
    async admit(operationId, access, call) {
      const needed = scopesOf(operationId);
      if (needed !== undefined) await admitKey(needed, access, call);
    },
    admitWith: admitKey,
    admitAnyone(call) {
      if (deps.streams.closing) throw stopping();
      deps.limiter?.take(`from ${addressOf(call)}`);
    },
    options(operationId, access) {
      const needed = scopesOf(operationId);
      const { before } = access;
      if (needed === undefined) return before === undefined ? {} : { onRequest: before };
      return {
        config: { scope: needed[0] ?? ANY_SCOPE, ofRun: access.ofRun === true },
        onRequest: (call: Call) => admitKey(needed, access, call),
      };
    },
  };
}

/** Undefined where no key is needed. */
function scopesOf(operationId: OperationId): readonly string[] | undefined {
  const { scope, alsoScope } = route(operationId);
  if (scope === null) return undefined;
  if (scope === ANY_SCOPE) return [];
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}

/** Told by the key's own object, which lives as long as what is known of the key holds. */
function withAddress(call: Call, key: Caller): Caller {
  const { ip, socket } = call;
  const last = socket.admitted;
  if (last !== undefined && last.key === key && last.ip === ip) return last.caller;
  const caller: Caller = { address: addressOf(call), ...key };
  socket.admitted = { key, ip, caller };
  return caller;
}

function keyOf({ headers }: Call): string {
  const key = BEARER.exec(String(headers['authorization'] ?? ''))?.[1];
  if (key !== undefined) return key;
  throw new HostError('unauthenticated', 'Send "Authorization: Bearer <key>" with a key of this host.');
}

function refusal({ denials, attempts }: GuardDeps, call: Call, state: Refused): HostError {
  const code = state === 'unknown' ? 'unauthenticated' : (`key_${state}` as const);
  denials.record(call, undefined, code);
  attempts.count(call);
  switch (state) {
    case 'unknown':
      return new HostError(code, 'The key in the Authorization header is not known to this host.');
    case 'expired':
      return new HostError(code, 'This key has expired; create a new one.');
    case 'revoked':
      return new HostError(code, 'This key was revoked; create a new one.');
  }
}

function outOfScope(deps: GuardDeps, call: Call, caller: Caller, scope: string): HostError {
  deps.denials.record(call, caller, 'forbidden');
  return new HostError('forbidden', `This key does not hold the scope ${scope}.`, { scopeRequired: scope });
}

function refuseWhenOverloaded(host: Host, tenant: string): void {
  const overload = host.operations.overload(tenant);
  if (overload === undefined) return;
  const retryAfter = Math.max(1, Math.ceil(overload.retryAfter));
  throw new HostError(
    'service_unavailable',
    `The host takes no new runs at the moment (${overload.cause}); try again in ${retryAfter} s.`,
    { retryAfter },
    { retryAfter },
  );
}

export function stopping(): HostError {
  return new HostError(
    'service_unavailable',
    'The host is shutting down; try again in 1 s.',
    { retryAfter: 1 },
    { retryAfter: 1 },
  );
}
