import { afterEach, beforeEach, describe } from 'vitest';
import type { Store } from './store.ts';
import { appendingContract } from './store-contract/appending.ts';
import { blobsContract } from './store-contract/blobs.ts';
import { claimingContract } from './store-contract/claiming.ts';
import { documentsContract } from './store-contract/documents.ts';
import { expiredRunsContract } from './store-contract/expired-runs.ts';
import { START } from './store-contract/fixtures.ts';
import { forksContract } from './store-contract/forks.ts';
import { heldWritesContract } from './store-contract/held-writes.ts';
import { idempotencyContract } from './store-contract/idempotency.ts';
import { inboxContract } from './store-contract/inbox.ts';
import { interleavingContract } from './store-contract/interleaving.ts';
import { erasingContract } from './store-contract/erasing.ts';
import { purgingContract } from './store-contract/purging.ts';
import { noticesContract } from './store-contract/notices.ts';
import { outboxContract } from './store-contract/outbox.ts';
import { outcomesContract } from './store-contract/outcomes.ts';
import { readingContract } from './store-contract/reading.ts';
import { registryContract } from './store-contract/registry.ts';
import { restartingContract } from './store-contract/restarting.ts';
import { suspicionsContract } from './store-contract/suspicions.ts';
import { textsContract } from './store-contract/texts.ts';
import type { ContractFaults, ContractOptions, StoreHarness, Subject } from './store-contract/subject.ts';

export type { ContractFaults, ContractOptions, StoreHarness } from './store-contract/subject.ts';
export type { CreateOptions } from './store-contract/fixtures.ts';
export {
  appendUnit,
  auditEntry,
  blobUnit,
  commandUnit,
  commitOne,
  completed,
  createUnit,
  documentUnit,
  event,
  events,
  forkOptions,
  given,
  givenFreeRun,
  givenHeldRun,
  idempotencyRecord,
  keyRow,
  newBatchId,
  newRunId,
  readAll,
  recordOf,
  removalUnit,
  running,
  START,
  waiting,
  workflowUnit,
} from './store-contract/fixtures.ts';

/**
 * The definition of a correct store: every sentence of the port's promise, as a test. A backend's test file is one call
 * of this, plus what only that backend can get wrong.
 */
export function storeContract(name: string, harness: StoreHarness): void {
  describe(`${name} as a store`, () => {
    const faults: ContractFaults = {};
    let current: Store | undefined;
    const options: ContractOptions = { clock: () => subject.now, faults };
    const { reopen } = harness;

    const subject: Subject = {
      now: START,
      faults,
      get store() {
        if (!current) throw new Error('the store is open only while a test runs');
        return current;
      },
    };

    beforeEach(async () => {
      subject.now = START;
      faults.beforeCommit = undefined;
      faults.afterCommit = undefined;
      current = await harness.open(options);
    });

    afterEach(async () => {
      await current?.close();
      current = undefined;
    });

    appendingContract(subject);
    forksContract(subject);
    readingContract(subject);
    claimingContract(subject);
    inboxContract(subject);
    noticesContract(subject);
    idempotencyContract(subject);
    outboxContract(subject);
    registryContract(subject);
    documentsContract(subject);
    blobsContract(subject);
    heldWritesContract(subject);
    purgingContract(subject);
    erasingContract(subject);
    expiredRunsContract(subject);
    suspicionsContract(subject);
    outcomesContract(subject);
    textsContract(subject);
    interleavingContract(subject);
    if (reopen) {
      restartingContract(subject, async () => {
        current = await reopen(subject.store, options);
      });
    }
  });
}
