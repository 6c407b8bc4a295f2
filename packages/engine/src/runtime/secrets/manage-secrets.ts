import { HostError } from '@weft/protocol';
import type { Caller, Secrets, SecretScope, SecretSummary } from '../../host/host.ts';
import type { DocumentPlace, Store, StoredDocument } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Idempotency } from '../commits/idempotency.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { MIN_SECRET_LENGTH } from './mask.ts';
import { SECRET_ID, SECRETS, type SealedSecret, TENANT_SCOPE, userScope } from './resolver.ts';
import type { Sealer } from './sealer.ts';

export interface SecretDependencies {
  readonly store: Pick<Store, 'readDocument' | 'listDocuments'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly idempotency: Idempotency;
  /** Undefined when the host has no key for secrets. */
  readonly sealer: Sealer | undefined;
}

const PAGE = 500;

/** Storing, listing and removing secrets. Nothing here gives a value back. */
export function createManageSecrets(dependencies: SecretDependencies): Secrets {
  const { store, committer, clock, random, limits, sealer } = dependencies;

  const set: Secrets['set'] = async (caller, request, given) => {
    if (sealer === undefined) throw secretsAreOff();
    checkId(request.id);
    checkValue(request.value, limits.maxSecretBytes);
    // The digest of a request covers the value, and must not become a way to guess it.
    const claim = given && { ...given, requestDigest: sealer.digest(given.requestDigest) };
    return await dependencies.idempotency.once(caller, claim, async (remember) => {
      const place = placeOf(caller, request.scope, request.id);
      const before = await store.readDocument(place);
      const now = clock.now();
      const sealed: SealedSecret = {
        ...sealer.seal(place, request.value),
        createdAt: before === undefined ? now : (JSON.parse(before.body) as SealedSecret).createdAt,
        by: caller.principal,
      };
      const body = JSON.stringify(sealed);
      const secret = summary({ id: request.id, body, at: now }, request.scope, sealer);
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...place,
        body,
        at: now,
        audit: [audit(caller, 'secret.set', place.id, secret.scope, now)],
        ...remember.answer(secret),
      });
      if (result.state !== 'committed') throw writeFailure(result);
      return { replayed: false as const, secret };
    });
  };

  async function listScope(caller: Caller, scope: SecretScope): Promise<SecretSummary[]> {
    const found: SecretSummary[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.listDocuments(caller.tenant, SECRETS, scopeKey(caller, scope), {
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      });
      found.push(...page.rows.map((row) => summary(row, scope, sealer)));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return found;
  }

  return {
    set,
    async list(caller) {
      const found = [...(await listScope(caller, 'tenant')), ...(await listScope(caller, 'user'))];
      return found.sort((a, b) => compare(a.id, b.id) || compare(a.scope, b.scope));
    },
    async remove(caller, secretId, scope) {
      const place = placeOf(caller, scope, secretId);
      if (!SECRET_ID.test(secretId) || (await store.readDocument(place)) === undefined) return false;
      const at = clock.now();
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...place,
        at,
        audit: [audit(caller, 'secret.remove', secretId, scope, at)],
      });
      if (result.state !== 'committed') throw writeFailure(result);
      return true;
    },
  };
}

function scopeKey(caller: Caller, scope: SecretScope): string {
  return scope === 'tenant' ? TENANT_SCOPE : userScope(caller.principal);
}

function placeOf(caller: Caller, scope: SecretScope, id: string): DocumentPlace {
  return { tenant: caller.tenant, collection: SECRETS, scope: scopeKey(caller, scope), id };
}

function summary(
  document: Pick<StoredDocument, 'id' | 'body' | 'at'>,
  scope: SecretScope,
  sealer: Sealer | undefined,
): SecretSummary {
  const sealed = JSON.parse(document.body) as SealedSecret;
  return {
    id: document.id,
    scope,
    createdAt: sealed.createdAt,
    updatedAt: document.at,
    usable: sealed.keyId === sealer?.keyId,
  };
}

function audit(caller: Caller, action: string, target: string, scope: SecretScope, at: number) {
  return auditOf(caller, { at, action, target, details: { scope } });
}

function checkId(id: string): void {
  if (SECRET_ID.test(id)) return;
  throw new HostError(
    'validation_error',
    'id must be 1 to 128 letters, digits, dots, dashes or underscores, and begin with a letter or digit.',
    { field: 'id' },
  );
}

function checkValue(value: string, maxBytes: number): void {
  if (value.length < MIN_SECRET_LENGTH) {
    throw new HostError(
      'validation_error',
      `value must have at least ${MIN_SECRET_LENGTH} characters; a shorter one could not be kept out of what others see.`,
      { field: 'value', min: MIN_SECRET_LENGTH },
    );
  }
  const observed = Buffer.byteLength(value, 'utf8');
  if (observed <= maxBytes) return;
  throw new HostError('validation_error', `value must have at most ${maxBytes} bytes.`, {
    field: 'value',
    limit: maxBytes,
    observed,
  });
}

function secretsAreOff(): HostError {
  return new HostError(
    'capability_not_provided',
    'This host has no key for secrets, so it cannot keep any. Start it with WEFT_SECRETS_KEY or a key file.',
    { capability: 'secrets' },
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
