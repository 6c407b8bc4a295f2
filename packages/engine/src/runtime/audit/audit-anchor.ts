import type { KeyObject } from 'node:crypto';
import { type AuditCheckpoint, isSigned, sealOf } from '../../core/audit/checkpoint.ts';
import type { ChainTip } from '../../core/audit/link-batch.ts';
import { describeSeal, isSealed, type Seal, sealsSameLog } from '../../core/audit/seal.ts';
import { type AuditLog, CHECKPOINTS } from './audit-log.ts';
import { errorFields, type Log } from '../../ports/log.ts';

/** Where the last seal is kept outside the database, by every process for itself. */
export interface AuditAnchor {
  /** Undefined when there is none yet; throws AuditAnchorError when what is there is none. */
  read(): Promise<Seal | undefined>;
  /** Durable before it resolves, and whole or not at all. */
  write(seal: Seal): Promise<void>;
}

/** The audit log is not the one that was anchored. */
export class AuditAnchorError extends Error {
  override readonly name = 'AuditAnchorError';
}

/**
 * Remembers the last seal that this process has seen, in memory and in the anchor, and holds the log against it.
 *
 * U-9. A seal is anchored only after its checkpoint is durable; so a crash leaves the anchor behind the log, never ahead of
 *      it.
 * U-10. The anchor only moves forward.
 * U-11. A log that does not hold the anchored seal is neither continued nor called valid.
 */
export interface AnchorKeeper {
  /** Reads the anchor. Throws AuditAnchorError when it is none of this host's. */
  load(): Promise<void>;
  /** Throws AuditAnchorError when the log, which ends here, does not hold what is remembered. */
  check(tip: ChainTip): Promise<void>;
  /** The newest checkpoint as it was found or written. */
  note(checkpoint: AuditCheckpoint | undefined): void;
  /** Writes the anchor when there is something new; failing that, again the next time. */
  save(): Promise<void>;
}

export interface AnchorKeeperDependencies {
  readonly auditLog: AuditLog;
  readonly publicKey: KeyObject | undefined;
  readonly anchor: AuditAnchor | undefined;
  readonly log: Log;
}

export function createAnchorKeeper(dependencies: AnchorKeeperDependencies): AnchorKeeper {
  const { auditLog, publicKey, anchor, log } = dependencies;
  let remembered: Seal | undefined;
  let saved: Seal | undefined;
  let isLoaded = false;
  let isTroubled = false;

  async function load(): Promise<void> {
    if (isLoaded) return;
    saved = await anchor?.read();
    if (saved !== undefined && (publicKey === undefined || !isSealed(saved, publicKey)))
      throw new AuditAnchorError('The audit anchor was sealed with another audit key than this host has.');
    remembered ??= saved;
    isLoaded = true;
  }

  /** What the log lacks, as a sentence. */
  async function lackOf(seal: Seal, { frontier, lastId }: ChainTip): Promise<string | undefined> {
    const found = await auditLog.checkpoint(seal.number);
    if (found === undefined) {
      const last = await auditLog.last(CHECKPOINTS);
      return last < 0 ? 'it has no checkpoint at all' : `its last checkpoint is ${last}`;
    }
    const isOurs = publicKey !== undefined && isSigned(found, publicKey);
    if (!isOurs || !sealsSameLog(sealOf(found), seal)) return `its checkpoint ${seal.number} is another one`;
    if (frontier.size <= seal.sequence) return `its chain ends at sequence ${frontier.size - 1}`;
    const [newest] = await auditLog.entries(lastId, 1);
    return newest?.id === lastId ? undefined : 'the newest entry of its chain is missing';
  }

  return {
    load,
    async check(tip) {
      await load();
      const lack = remembered && (await lackOf(remembered, tip));
      if (remembered === undefined || lack === undefined) return;
      throw new AuditAnchorError(
        `The audit log does not hold what was anchored (${describeSeal(remembered)}): ${lack}.`,
      );
    },
    note(checkpoint) {
      if (checkpoint === undefined || publicKey === undefined) return;
      if (remembered !== undefined && checkpoint.number <= remembered.number) return;
      // Someone else's signature proves nothing; the next checkpoint is signed here.
      if (isSigned(checkpoint, publicKey)) remembered = sealOf(checkpoint);
    },
    async save() {
      if (anchor === undefined || remembered === undefined || remembered.number === saved?.number) return;
      const seal = remembered;
      try {
        const there = await anchor.read();
        // Another process may use the same file, and be ahead.
        if (there === undefined || there.number < seal.number) await anchor.write(seal);
        if (saved === undefined && there === undefined) {
          const level = seal.number === 0 ? 'info' : 'warn';
          log(level, { checkpoint: seal.number }, 'the audit log had no anchor; it is taken as it is');
        }
        saved = seal;
        isTroubled = false;
      } catch (error) {
        if (!isTroubled) log('error', errorFields(error), 'the audit anchor could not be written');
        isTroubled = true;
      }
    },
  };
}
