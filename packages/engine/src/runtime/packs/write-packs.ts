import { HostError, type JsonObject } from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentWrite, Store } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import {
  type Kept,
  keeperOf,
  namespaceOf,
  type NamespaceRecord,
  places,
  readRecord,
} from './registry-documents.ts';

export interface WriteDependencies {
  readonly store: Pick<Store, 'readDocument'>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

/** Of writes to one pack at the same time all but one begin again. */
const MOST_TRIES = 5;

export async function untilWritten<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new HostError('conflict', 'Others write to this pack at the same time. Send the request again.');
}

export function createPackWrites({ store, committer, clock, random }: WriteDependencies) {
  /** False when another write was faster. */
  async function write(
    caller: Caller,
    act: { readonly action: string; readonly target: string; readonly details?: JsonObject },
    [first, ...documents]: readonly [DocumentWrite, ...DocumentWrite[]],
  ): Promise<boolean> {
    const audit = [auditOf(caller, { at: clock.now(), ...act })];
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      ...first,
      documents,
      audit,
    });
    if (result.state === 'committed') return true;
    const isOvertaken =
      result.state === 'refused' &&
      (result.reason === 'document_changed' || result.reason === 'document_exists');
    if (isOvertaken) return false;
    throw writeFailure(result);
  }

  /** The namespace, if the caller may write to it. Throws `forbidden`. */
  async function ownNamespace(caller: Caller, name: string): Promise<Kept<NamespaceRecord> | undefined> {
    const found = await readRecord<NamespaceRecord>(store, places.namespace(keeperOf(caller, name), name));
    if (found === undefined || found.value.owner === caller.tenant) return found;
    throw new HostError('forbidden', `${namespaceOf(name)} belongs to another account of this registry.`, {
      namespace: namespaceOf(name),
    });
  }

  return { write, ownNamespace };
}
