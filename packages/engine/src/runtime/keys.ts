import { timingSafeEqual } from 'node:crypto';
import { HostError } from '@weft/protocol';
import { sha256Hex } from '../hash.ts';
import type {
  Authentication,
  Caller,
  CreatedKey,
  Host,
  IdempotencyClaim,
  NewKey,
  ReplayedAnswer,
} from '../host.ts';
import type { ApiKeyRow, KeyUnit, Store } from '../store.ts';
import { auditOf } from './audit-entry.ts';
import { createBoundedCache } from './bounded-cache.ts';
import type { Clock } from './clock.ts';
import type { Committer } from './committer.ts';
import { checkSameRequest, findRecord, newRecord } from './idempotency.ts';
import { type RandomBytes, randomId } from './ids.ts';
import type { HostLimits } from './limits.ts';
import { ALL_SCOPES, isScope } from './scopes.ts';
import { writeFailure } from './write-failure.ts';

/** Keys: 256 random bits behind a prefix that says live or test. The store holds only their hashes. */
export type Keys = Pick<Host, 'createKey' | 'listKeys' | 'revokeKey' | 'authenticate'>;

export interface KeyDependencies {
  readonly store: Pick<Store, 'readKeyByHash' | 'listKeys' | 'readIdempotency'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  /** A test host makes test keys and no others. */
  readonly test: boolean;
}

export const LIVE_PREFIX = 'weft_live_';
export const TEST_PREFIX = 'weft_test_';

interface KnownKey {
  readonly row: ApiKeyRow;
  readonly accepted: Authentication;
  /** By the monotonic clock. */
  readonly until: number;
}

const KNOWN_KEYS = 10_000;
const KNOWN_FOR_MS = 1_000;

export function createKeys(dependencies: KeyDependencies): Keys {
  const { store, committer, clock, limits, test } = dependencies;
  const known = createBoundedCache<string, KnownKey>(KNOWN_KEYS);

  function remembered(hash: string): KnownKey | undefined {
    const cached = known.get(hash);
    return cached !== undefined && cached.until > clock.monotonic() ? cached : undefined;
  }

  async function find(hash: string): Promise<KnownKey | undefined> {
    const row = await store.readKeyByHash(hash);
    if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined;
    const found = { row, accepted: accepted(row), until: clock.monotonic() + KNOWN_FOR_MS };
    known.set(hash, found);
    return found;
  }

  async function authenticate(key: string): Promise<Authentication> {
    const hash = sha256Hex(key);
    const found = remembered(hash) ?? (await find(hash));
    if (found === undefined || found.row.test !== test) return { state: 'unknown' };
    const { revokedAt, expiresAt } = found.row;
    if (revokedAt !== undefined) return { state: 'revoked' };
    if (expiresAt !== undefined && expiresAt <= clock.now()) return { state: 'expired' };
    return found.accepted;
  }

  async function createKey(
    caller: Caller,
    request: NewKey,
    claim?: IdempotencyClaim,
  ): Promise<CreatedKey | ReplayedAnswer> {
    if (claim !== undefined) {
      const earlier = await findRecord(store, caller, claim, clock.now());
      if (earlier !== undefined && 'body' in earlier.response) return { replayed: true, ...earlier.response };
    }
    checkRequest(caller, request, clock.now());
    const key = newKey(dependencies.random, test);
    const row = keyRow(
      key,
      { ...request, tenant: request.tenant ?? caller.tenant, test, createdAt: clock.now() },
      `key_${randomId(dependencies.random)}`,
    );
    const unit: KeyUnit = {
      kind: 'key',
      batchId: randomId(dependencies.random),
      key: row,
      audit: [
        auditOf(caller, { at: clock.now(), tenant: row.tenant, action: 'key.create', target: row.keyId }),
      ],
      ...(claim !== undefined && {
        // A repeat shows everything but the key: what can be read from the store must not open a door.
        idempotency: newRecord(
          caller,
          claim,
          clock.now() + limits.idempotencyKeptMs,
          claim.render(publicKey(row)),
        ),
      }),
    };
    const result = await committer.submit(unit);
    if (result.state === 'committed') return { replayed: false, key, row };
    if (result.state === 'refused' && result.reason === 'idempotency_exists' && claim !== undefined) {
      const { response } = checkSameRequest(result.record, claim);
      if ('body' in response) return { replayed: true, ...response };
    }
    throw writeFailure(result);
  }

  return {
    authenticate,
    createKey,
    listKeys: (caller) => store.listKeys(caller.tenant),
    async revokeKey(caller, keyId) {
      const result = await committer.submit({
        kind: 'revoke-key',
        batchId: randomId(dependencies.random),
        tenant: caller.tenant,
        keyId,
        at: clock.now(),
        audit: [auditOf(caller, { at: clock.now(), action: 'key.revoke', target: keyId })],
      });
      if (result.state === 'refused' && result.reason === 'key_missing') return false;
      if (result.state !== 'committed') throw writeFailure(result);
      const revoked = (await store.listKeys(caller.tenant)).find((row) => row.keyId === keyId);
      if (revoked !== undefined) known.delete(revoked.hash);
      return true;
    },
  };
}

export interface FirstKey {
  readonly store: Pick<Store, 'readKeyByHash' | 'commit'>;
  readonly key: string;
  readonly test: boolean;
  readonly tenant: string;
  readonly now: number;
  readonly random: RandomBytes;
}

/** Makes sure that this key exists with every scope, so that a fresh host can be used. True when it was added. */
export async function ensureFirstKey(first: FirstKey): Promise<boolean> {
  if ((await first.store.readKeyByHash(sha256Hex(first.key))) !== undefined) return false;
  const row = keyRow(
    first.key,
    {
      principal: 'operator',
      kind: 'service',
      scopes: ALL_SCOPES,
      label: 'first key',
      tenant: first.tenant,
      test: first.test,
      createdAt: first.now,
    },
    `key_${randomId(first.random)}`,
  );
  const [result] = await first.store.commit([
    {
      kind: 'key',
      batchId: randomId(first.random),
      key: row,
      audit: [
        { at: first.now, tenant: first.tenant, actor: 'host', action: 'key.create', target: row.keyId },
      ],
    },
  ]);
  if (result?.state !== 'committed')
    throw new HostError('service_unavailable', 'The first key could not be stored.');
  return true;
}

/** A new key. It is shown once; only its hash is kept. */
export function newKey(random: RandomBytes, test: boolean): string {
  return `${test ? TEST_PREFIX : LIVE_PREFIX}${Buffer.from(random(32)).toString('base64url')}`;
}

function keyRow(
  key: string,
  request: NewKey & Pick<ApiKeyRow, 'tenant' | 'test' | 'createdAt'>,
  keyId: string,
): ApiKeyRow {
  return {
    keyId,
    hash: sha256Hex(key),
    tenant: request.tenant,
    principal: request.principal,
    kind: request.kind,
    test: request.test,
    scopes: [...new Set(request.scopes)].sort(),
    createdAt: request.createdAt,
    ...(request.expiresAt !== undefined && { expiresAt: request.expiresAt }),
    ...(request.label !== undefined && { label: request.label }),
  };
}

function accepted(row: ApiKeyRow): Authentication {
  return { state: 'ok', caller: callerOf(row) };
}

function callerOf(row: ApiKeyRow): Caller {
  const { tenant, principal, keyId, kind, test } = row;
  return { tenant, principal, keyId, kind, test, scopes: new Set(row.scopes) };
}

function checkRequest(caller: Caller, request: NewKey, now: number): void {
  if (request.tenant !== undefined && request.tenant !== caller.tenant && !caller.scopes.has('host:admin')) {
    throw new HostError('forbidden', 'A key for another tenant needs host:admin.', {
      scopeRequired: 'host:admin',
    });
  }
  if (request.scopes.length === 0) {
    throw new HostError('validation_error', 'scopes must name at least one scope.', { field: 'scopes' });
  }
  for (const scope of request.scopes) {
    if (!isScope(scope)) {
      throw new HostError('validation_error', 'scopes names a scope this host does not have.', {
        field: 'scopes',
        supported: [...ALL_SCOPES],
      });
    }
    if (!caller.scopes.has(scope)) {
      throw new HostError('forbidden', `A key grants only what it has; yours lacks ${scope}.`, {
        scopeRequired: scope,
      });
    }
  }
  if (request.expiresAt !== undefined && request.expiresAt <= now) {
    throw new HostError('validation_error', 'expiresAt must be in the future.', { field: 'expiresAt' });
  }
}

/** What may be shown of a key again and again: everything but the key and its hash. */
function publicKey(row: ApiKeyRow): { [name: string]: string | number | boolean | string[] } {
  const { hash: _hash, scopes, ...shown } = row;
  return { ...shown, scopes: [...scopes] };
}
