import type { KeyObject } from 'node:crypto';
import { HostError, type JsonObject, toIso } from '@weft/protocol';
import { sealOf } from '../../core/audit/checkpoint.ts';
import type { Seal } from '../../core/audit/seal.ts';
import type { Store } from '../../ports/store.ts';
import { createAudit } from './audit.ts';
import { type AuditAnchor, AuditAnchorError } from './audit-anchor.ts';
import { CHECKPOINTS, createAuditLog } from './audit-log.ts';
import type { Clock } from '../../ports/clock.ts';
import { createCommitter } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Log } from '../../ports/log.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';
import { writeFailure } from '../commits/write-failure.ts';

export interface ReanchorDependencies {
  readonly store: Store;
  readonly anchor: AuditAnchor;
  readonly key: KeyObject;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
}

export interface Reanchored {
  /** What was anchored before; undefined when that was nothing, or could not be read. */
  readonly before: Seal | undefined;
  readonly after: Seal;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Takes the log as it is now for the right one, as after a restore. That this was done, by whom, why, and what was anchored
 * before, is itself an entry, under the first seal of the new anchor. No host may be at work on the store.
 */
export async function reanchorAudit(
  { store, anchor, key, clock, random, log }: ReanchorDependencies,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<Reanchored> {
  const committer = createCommitter({ store, log, maxUnits: 1, maxBytes: MAX_BYTES });
  const auditLog = createAuditLog(store);
  const newest = async (): Promise<Seal | undefined> => {
    const number = await auditLog.last(CHECKPOINTS);
    const checkpoint = number < 0 ? undefined : await auditLog.checkpoint(number);
    return checkpoint && sealOf(checkpoint);
  };
  const before = await readable(anchor);
  const found = await newest();
  const result = await committer.submit({
    kind: 'audit',
    batchId: randomId(random),
    audit: [
      {
        at: clock.now(),
        tenant: HOST_TENANT,
        actor,
        action: 'audit.reanchor',
        target: 'audit',
        details: { reason, anchored: shown(before), found: shown(found) },
      },
    ],
  });
  if (result.state !== 'committed') throw writeFailure(result);
  await createAudit({ store, committer, clock, random, log, key }).link();
  const after = await newest();
  if (after === undefined || after.number === found?.number)
    throw new HostError('service_unavailable', 'The audit log could not be sealed. Its log says why.');
  await anchor.write(after);
  return { before, after };
}

async function readable(anchor: AuditAnchor): Promise<Seal | undefined> {
  try {
    return await anchor.read();
  } catch (error) {
    if (error instanceof AuditAnchorError) return undefined; // that it cannot be read may be why it is replaced
    throw error;
  }
}

function shown(seal: Seal | undefined): JsonObject | null {
  return seal === undefined ? null : { ...seal, time: toIso(seal.time) };
}
