import { timingSafeEqual } from 'node:crypto';
import { ALL_SCOPES, HostError, isScope, type JsonObject, toIso } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { Authentication, Caller, CreatedKey, Keys, NewKey, PublicKey } from '../../host/host.ts';
import type { ApiKeyRow, KeyUnit, Store } from '../../ports/store.ts';
import type { Authenticate } from '../../ports/authenticate.ts';
import { auditOf } from '../audit/audit-entry.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { writeFailure } from '../commits/write-failure.ts';

/** Keys: 256 random bits behind a prefix that says live or test. The store holds only their hashes. */
export interface ApiKeys extends Omit<Keys, 'rotateLinks'> {
  readonly authenticate: Authenticate;
  /** The hash of the key that a caller holds; undefined when it is none of the store. */
  readonly hashOf: (caller: Caller) => Promise<string | undefined>;
  /** What a key of this hash is worth now. */
  readonly stateOf: (hash: string) => Promise<Authentication>;
}

export interface KeyDependencies {
  readonly store: Pick<Store, 'readKeyByHash' | 'listKeys'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly idempotency: Idempotency;
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

export function createKeys(dependencies: KeyDependencies): ApiKeys {
  const { store, committer, clock, test } = dependencies;
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

  async function stateOf(hash: string): Promise<Authentication> {
    const found = remembered(hash) ?? (await find(hash));
    if (found === undefined || found.row.test !== test) return { state: 'unknown' };
    const { revokedAt, expiresAt } = found.row;
    if (revokedAt !== undefined) return { state: 'revoked' };
    if (expiresAt !== undefined && expiresAt <= clock.now()) return { state: 'expired' };
    return found.accepted;
  }

  async function create(caller: Caller, request: NewKey, remember: Remember<PublicKey>): Promise<CreatedKey> {
    checkRequest(caller, request, clock.now());
    const key = newKey(dependencies.random, test);
    const row = keyRow(
      key,
      {
        ...(caller.workspace !== undefined && { workspace: caller.workspace }),
        ...request,
        tenant: request.tenant ?? caller.tenant,
        test,
        createdAt: clock.now(),
      },
      `key_${randomId(dependencies.random)}`,
    );
    const unit: KeyUnit = {
      kind: 'key',
      batchId: randomId(dependencies.random),
      key: row,
      audit: [
        auditOf(caller, {
          at: clock.now(),
          tenant: row.tenant,
          action: 'key.create',
          target: row.keyId,
          details: keyDetails(row),
        }),
      ],
      // A repeat shows everything but the key: what can be read from the store must not open a door.
      ...remember.answer(publicKey(row)),
    };
    const result = await committer.submit(unit);
    if (result.state !== 'committed') throw writeFailure(result);
    return { replayed: false, key, row };
  }

  return {
    authenticate: (key) => stateOf(sha256Hex(key)),
    stateOf,
    async hashOf({ tenant, keyId }) {
      return (await store.listKeys(tenant)).find((row) => row.keyId === keyId)?.hash;
    },
    create: (caller, request, claim) =>
      dependencies.idempotency.once(caller, claim, (remember) => create(caller, request, remember)),
    async list(caller, tenant = caller.tenant) {
      checkTenant(caller, tenant);
      return (await store.listKeys(tenant)).filter((row) => isInReach(caller, row));
    },
    async revoke(caller, keyId, tenant = caller.tenant) {
      checkTenant(caller, tenant);
      if (caller.workspace !== undefined) {
        const row = (await store.listKeys(tenant)).find((each) => each.keyId === keyId);
        if (row === undefined || !isInReach(caller, row)) return false;
      }
      const result = await committer.submit({
        kind: 'revoke-key',
        batchId: randomId(dependencies.random),
        tenant,
        keyId,
        at: clock.now(),
        audit: [auditOf(caller, { at: clock.now(), tenant, action: 'key.revoke', target: keyId })],
      });
      if (result.state === 'refused' && result.reason === 'key_missing') return false;
      if (result.state !== 'committed') throw writeFailure(result);
      const revoked = (await store.listKeys(tenant)).find((row) => row.keyId === keyId);
      if (revoked !== undefined) known.delete(revoked.hash);
      return true;
    },
  };
}

/** A new key. It is shown once; only its hash is kept. */
export function newKey(random: RandomBytes, test: boolean): string {
  return `${test ? TEST_PREFIX : LIVE_PREFIX}${Buffer.from(random(32)).toString('base64url')}`;
}

export function keyRow(
  key: string,
  request: NewKey & Pick<ApiKeyRow, 'tenant' | 'test' | 'createdAt'>,
  keyId: string,
): ApiKeyRow {
  return {
    keyId,
    hash: sha256Hex(key),
    tenant: request.tenant,
    principal: request.principal,
    ...(request.workspace !== undefined && { workspace: request.workspace }),
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
  const { tenant, principal, workspace, keyId, kind, test, expiresAt } = row;
  // The first key holds every scope, also those that are younger than it.
  const scopes = new Set<string>(row.first !== undefined ? ALL_SCOPES : row.scopes);
  return {
    tenant,
    principal,
    ...(workspace !== undefined && { workspace }),
    keyId,
    kind,
    test,
    scopes,
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** What the audit log keeps of a new key. */
export function keyDetails({ principal, workspace, kind, scopes, expiresAt, label }: ApiKeyRow): JsonObject {
  return {
    principal,
    ...(workspace !== undefined && { workspace }),
    kind,
    scopes: [...scopes],
    ...(expiresAt !== undefined && { expiresAt: toIso(expiresAt) }),
    ...(label !== undefined && { label }),
  };
}

/** A key grants nothing that it has not itself: no scope, no other identity, no longer life. */
function checkRequest(caller: Caller, request: NewKey, now: number): void {
  checkTenant(caller, request.tenant ?? caller.tenant);
  checkWorkspace(caller, request.workspace);
  checkScopes(caller, request.scopes);
  checkIdentity(caller, request);
  checkLife(caller, request.expiresAt, now);
}

function checkWorkspace(caller: Caller, workspace = caller.workspace): void {
  if (caller.workspace === undefined || workspace === caller.workspace) return;
  throw new HostError('forbidden', 'A key of a workspace makes keys of the same workspace only.', {
    field: 'workspace',
  });
}

/** A key of a workspace neither sees nor ends keys of another one, or of the tenant as a whole. */
function isInReach(caller: Caller, { workspace }: ApiKeyRow): boolean {
  return caller.workspace === undefined || caller.workspace === workspace;
}

function checkTenant(caller: Caller, tenant: string): void {
  if (tenant === caller.tenant || caller.scopes.has('host:admin')) return;
  throw new HostError('forbidden', 'Keys of another tenant need host:admin.', {
    scopeRequired: 'host:admin',
  });
}

function checkScopes(caller: Caller, scopes: readonly string[]): void {
  if (scopes.length === 0) {
    throw new HostError('validation_error', 'scopes must name at least one scope.', { field: 'scopes' });
  }
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0) {
    const named = unknown.map((scope) => JSON.stringify(scope)).join(', ');
    throw new HostError(
      'validation_error',
      `Unknown scope ${named}. This host has: ${ALL_SCOPES.join(', ')}.`,
      { field: 'scopes', unknown, supported: [...ALL_SCOPES] },
    );
  }
  const lacking = scopes.find((scope) => !caller.scopes.has(scope));
  if (lacking === undefined) return;
  throw new HostError('forbidden', `A key grants only what it has; yours lacks ${lacking}.`, {
    scopeRequired: lacking,
  });
}

/**
 * A vote counts for the principal of a user's key, and a service may vote for others where no one is named; so a key of the
 * other kind is another identity even under the same name, and so is the same name in another tenant.
 */
function checkIdentity(caller: Caller, { tenant, principal, kind }: NewKey): void {
  const isOwn =
    principal === caller.principal && kind === caller.kind && (tenant ?? caller.tenant) === caller.tenant;
  if (isOwn || caller.scopes.has('keys:impersonate')) return;
  throw new HostError(
    'forbidden',
    `Your key is ${caller.principal}’s (${caller.kind}); a key for another principal, kind or tenant needs keys:impersonate.`,
    { scopeRequired: 'keys:impersonate' },
  );
}

function checkLife(caller: Caller, expiresAt: number | undefined, now: number): void {
  if (expiresAt !== undefined && expiresAt <= now) {
    throw new HostError('validation_error', 'expiresAt must be in the future.', { field: 'expiresAt' });
  }
  if (caller.expiresAt === undefined || (expiresAt ?? Number.POSITIVE_INFINITY) <= caller.expiresAt) return;
  const max = toIso(caller.expiresAt);
  throw new HostError('forbidden', `Your key ends at ${max}; a key that it creates must end by then.`, {
    field: 'expiresAt',
    max,
  });
}

function publicKey({ hash: _hash, ...shown }: ApiKeyRow): PublicKey {
  return shown;
}
