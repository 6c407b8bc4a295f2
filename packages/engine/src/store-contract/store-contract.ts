import { afterEach, beforeEach, describe } from 'vitest';
import type { Store } from '../ports/store.ts';
import { appendingContract } from './appending.ts';
import { blobsContract } from './blobs.ts';
import { claimingContract } from './claiming.ts';
import { costsContract } from './costs.ts';
import { documentsContract } from './documents.ts';
import { dueDocumentsContract } from './due-documents.ts';
import { expiredRunsContract } from './retention/expired-runs.ts';
import { START } from './fixtures.ts';
import { forksContract } from './forks.ts';
import { heldWritesContract } from './held-writes.ts';
import { idempotencyContract } from './idempotency.ts';
import { inboxContract } from './inbox.ts';
import { interleavingContract } from './interleaving.ts';
import { erasingContract } from './retention/erasing.ts';
import { purgingContract } from './retention/purging.ts';
import { signalsContract } from './signals.ts';
import { outboxContract } from './outbox.ts';
import { outcomesContract } from './outcomes.ts';
import { readingContract } from './reading.ts';
import { registryContract } from './registry.ts';
import { restartingContract } from './restarting.ts';
import { rulesContract } from './rules.ts';
import { suspicionsContract } from './suspicions.ts';
import { tasksContract } from './tasks.ts';
import { textsContract } from './texts.ts';
import type { ContractFaults, ContractOptions, StoreHarness, Subject } from './subject.ts';

export type { ContractFaults, ContractOptions, StoreHarness } from './subject.ts';
export type { CreateOptions } from './fixtures.ts';
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
} from './fixtures.ts';

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
    rulesContract(subject);
    forksContract(subject);
    readingContract(subject);
    claimingContract(subject);
    inboxContract(subject);
    signalsContract(subject);
    idempotencyContract(subject);
    outboxContract(subject);
    registryContract(subject);
    costsContract(subject);
    documentsContract(subject);
    dueDocumentsContract(subject);
    blobsContract(subject);
    heldWritesContract(subject);
    purgingContract(subject);
    erasingContract(subject);
    expiredRunsContract(subject);
    suspicionsContract(subject);
    outcomesContract(subject);
    tasksContract(subject);
    textsContract(subject);
    interleavingContract(subject);
    if (reopen) {
      restartingContract(subject, async () => {
        current = await reopen(subject.store, options);
      });
    }
  });
}
