import { HostError } from '@weft/protocol';
import type { RetentionOperations } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenBackup, Store } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';

export interface BackupDependencies {
  readonly store: Pick<Store, 'openBackup'>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

/** A copy of the whole store, read while the host works; one at a time. */
export function createBackup({
  store,
  committer,
  clock,
  random,
}: BackupDependencies): RetentionOperations['backup'] {
  let isBackingUp = false;

  return async (caller) => {
    if (store.openBackup === undefined) throw noBackup();
    if (isBackingUp)
      throw new HostError('conflict', 'A backup is being read. Wait until it has ended, then ask again.');
    isBackingUp = true;
    try {
      const at = clock.now();
      const result = await committer.submit({
        kind: 'audit',
        batchId: randomId(random),
        audit: [auditOf(caller, { at, action: 'host.backup', target: 'host' })],
      });
      if (result.state !== 'committed') throw writeFailure(result);
      const backup = await store.openBackup();
      return closedOnce(backup, () => {
        isBackingUp = false;
      });
    } catch (error) {
      isBackingUp = false;
      throw error;
    }
  };
}

function closedOnce(backup: OpenBackup, onClose: () => void): OpenBackup {
  let closing: Promise<void> | undefined;
  return {
    size: backup.size,
    read: () => backup.read(),
    close: () => (closing ??= backup.close().finally(onClose)),
  };
}

function noBackup(): HostError {
  return new HostError(
    'capability_not_provided',
    'This host’s database is backed up with its own tools, not through the host.',
    { capability: 'backup' },
  );
}
