import { ALL_SCOPES, HostError } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { ApiKeyRow, ApiKeys, Commits, FirstKeySource, WriteUnit } from '../../ports/store.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { keyDetails, keyRow } from './keys.ts';

export interface FirstKey {
  readonly store: Commits & ApiKeys;
  readonly key: string;
  readonly test: boolean;
  readonly tenant: string;
  readonly now: number;
  readonly random: RandomBytes;
  /** Default: configured. */
  readonly source?: FirstKeySource;
  /** Which other first keys of the tenant end with this one; default all. */
  readonly replaces?: readonly FirstKeySource[];
}

const EVERY_SOURCE: readonly FirstKeySource[] = ['configured', 'generated'];

/** `revoked`: this very key was revoked before, stays so, and nothing was changed. */
export type FirstKeyState = 'added' | 'known' | 'revoked';

/**
 * Makes sure that this key exists with every scope, so that a fresh host can be used, and that it is the only one of its
 * sort: the one before it is revoked.
 */
export async function ensureFirstKey(first: FirstKey): Promise<FirstKeyState> {
  const known = await first.store.readKeyByHash(sha256Hex(first.key));
  if (known?.revokedAt !== undefined) return 'revoked';
  const row = known ?? newRow(first);
  const { replaces = EVERY_SOURCE } = first;
  const before = (await first.store.listKeys(first.tenant)).filter(
    (each) =>
      each.first !== undefined &&
      replaces.includes(each.first) &&
      each.revokedAt === undefined &&
      // Another process that starts with the same key may have added it since.
      each.hash !== row.hash,
  );
  const units = [
    ...(known === undefined ? [addition(first, row)] : []),
    ...before.map((each) => revocation(first, each, row)),
  ];
  const results = units.length === 0 ? [] : await first.store.commit(units);
  if (results.some(({ state }) => state !== 'committed'))
    throw new HostError('service_unavailable', 'The first key could not be stored.');
  return known === undefined ? 'added' : 'known';
}

function newRow({ key, tenant, test, now, random, source = 'configured' }: FirstKey): ApiKeyRow {
  const request = { principal: 'operator', kind: 'service', scopes: ALL_SCOPES, label: 'first key' } as const;
  return {
    ...keyRow(key, { ...request, tenant, test, createdAt: now }, `key_${randomId(random)}`),
    first: source,
  };
}

function addition({ tenant, now, random }: FirstKey, key: ApiKeyRow): WriteUnit {
  const audit = {
    at: now,
    tenant,
    actor: 'host',
    action: 'key.create',
    target: key.keyId,
    details: keyDetails(key),
  };
  return { kind: 'key', batchId: randomId(random), key, audit: [audit] };
}

function revocation({ tenant, now, random }: FirstKey, { keyId }: ApiKeyRow, by: ApiKeyRow): WriteUnit {
  const audit = {
    at: now,
    tenant,
    actor: 'host',
    action: 'key.revoke',
    target: keyId,
    details: { replacedBy: by.keyId },
  };
  return { kind: 'revoke-key', batchId: randomId(random), tenant, keyId, at: now, audit: [audit] };
}
