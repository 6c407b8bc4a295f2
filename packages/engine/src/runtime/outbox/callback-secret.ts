import type { Documents } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { fromStored, type Sealing, type StoredSecret, toStored } from './sealing.ts';
import { newSigningSecret } from './signing.ts';

const ID = 'callback';

export interface CallbackSecretDependencies {
  readonly store: Documents;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly sealing?: Sealing | undefined;
}

/** The secret with which the callbacks of a tenant are signed: made when first asked for, and never changed. */
export function createCallbackSecret(
  dependencies: CallbackSecretDependencies,
): (tenant: string) => Promise<string> {
  const { store, committer, clock, random, sealing } = dependencies;
  const placeOf = (tenant: string) => ({
    tenant,
    collection: 'signing-secret',
    scope: '',
    id: ID,
  });

  async function read(tenant: string): Promise<string | undefined> {
    const document = await store.readDocument(placeOf(tenant));
    return document && fromStored(sealing, { tenant, id: ID }, JSON.parse(document.body) as StoredSecret);
  }

  return async (tenant) => {
    const known = await read(tenant);
    if (known !== undefined) return known;
    const secret = newSigningSecret(random);
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      ...placeOf(tenant),
      body: JSON.stringify(toStored(sealing, { tenant, id: ID }, secret)),
      at: clock.now(),
      onlyNew: true,
    });
    if (result.state === 'committed') return secret;
    // Someone else was first, and theirs counts.
    const theirs =
      result.state === 'refused' && result.reason === 'document_exists' ? await read(tenant) : undefined;
    if (theirs === undefined) throw writeFailure(result);
    return theirs;
  };
}
