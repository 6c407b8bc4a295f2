import type { Ed25519Key } from '../../crypto/ed25519.ts';
import type { Anomaly, Place } from './chain-walk.ts';
import { type AuditCheckpoint, follows, isSigned } from './checkpoint.ts';
import { EMPTY_FRONTIER, extendFrontier, type Frontier, rootOf } from './merkle.ts';

/** What a verification found. Closed on the wire: the protocol wants it so. */
export interface AuditVerification {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** The entries give the recorded hashes, no checkpoint is wrong, and the log still holds what was sealed last. */
  readonly chainValid: boolean;
  /** Absent when there is no key to check signatures with. */
  readonly checkpointsValid?: boolean;
  readonly checkpoints: readonly Omit<AuditCheckpoint, 'number' | 'ts' | 'weft'>[];
  readonly anomalies: readonly Anomaly[];
}

export const NOTHING_TO_VERIFY: AuditVerification = {
  fromSeq: 0,
  toSeq: 0,
  chainValid: true,
  checkpoints: [],
  anomalies: [],
};

/**
 * The recorded hashes against the signed roots. Roots are computed from what was recorded, not from the entries: so a changed
 * entry is an anomaly of the chain, and rewritten records are a wrong checkpoint, and a reader can tell the two apart.
 */
export interface CheckpointCheck {
  /** The next places of the chain, without gap. */
  cover(places: readonly Place[]): void;
  /** True when every checkpoint was reached, has the root that follows, and follows the one before it. */
  rootsValid(): boolean;
}

export function createCheckpointCheck(
  checkpoints: readonly AuditCheckpoint[],
  start: Frontier = EMPTY_FRONTIER,
): CheckpointCheck {
  let frontier = start;
  let next = 0;
  let isValid = checkpoints.every((checkpoint, index) => {
    const before = checkpoints[index - 1];
    return before === undefined || follows(checkpoint, before);
  });

  /** The next checkpoint is the one of what is covered now. */
  function compare({ merkleRoot }: AuditCheckpoint): void {
    if (Buffer.from(rootOf(frontier)).toString('hex') !== merkleRoot) isValid = false;
    next += 1;
  }

  return {
    cover(places) {
      for (let at = 0; at < places.length; ) {
        const due = checkpoints[next];
        // Checkpoints that do not ascend were found wrong above; they are left behind one entry later.
        const room = due === undefined ? places.length : Math.max(due.atSequence + 1 - frontier.size, 1);
        const covered = places.slice(at, at + room);
        // A lost record leaves no leaf, and so no root behind it can be right.
        frontier = extendFrontier(
          frontier,
          covered.map(({ hash }) => hash ?? ''),
        );
        at += covered.length;
        if (due !== undefined && frontier.size > due.atSequence) compare(due);
      }
    },
    rootsValid: () => isValid && next === checkpoints.length,
  };
}

export interface Verified {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly anomalies: readonly Anomaly[];
  readonly checkpoints: readonly AuditCheckpoint[];
  readonly rootsValid: boolean;
  readonly publicKey: Ed25519Key | undefined;
}

export function conclude({ fromSeq, toSeq, anomalies, ...found }: Verified): AuditVerification {
  const { checkpoints, publicKey } = found;
  const areSigned =
    publicKey === undefined || checkpoints.every((checkpoint) => isSigned(checkpoint, publicKey));
  const checkpointsValid = found.rootsValid && areSigned;
  return {
    fromSeq,
    toSeq,
    chainValid: anomalies.length === 0 && checkpointsValid,
    ...(publicKey !== undefined && { checkpointsValid }),
    checkpoints: checkpoints.map(({ checkpoint, atSequence, merkleRoot, signature }) => ({
      checkpoint,
      atSequence,
      merkleRoot,
      signature,
    })),
    anomalies,
  };
}
