import type { KeyObject } from 'node:crypto';
import { type ChainTip, GENESIS, tipAfter } from '../../core/audit/link-batch.ts';
import type { Audit } from '../../host/host.ts';
import { type AnchorKeeper, AuditAnchorError } from './audit-anchor.ts';
import { type AuditLog, LINKS } from './audit-log.ts';

/** Verifies entries of the log; what is in the store may be consistent and yet not what it was, which only the anchor shows. */
export function createAuditVerify(
  auditLog: AuditLog,
  keeper: Pick<AnchorKeeper, 'check'>,
  publicKey: KeyObject | undefined,
): Audit['verify'] {
  return async (fromSeq, toSeq) => {
    const found = await auditLog.verify(fromSeq, toSeq, publicKey);
    try {
      await keeper.check(await readTip(auditLog));
      return found;
    } catch (error) {
      if (!(error instanceof AuditAnchorError)) throw error;
      return { ...found, chainValid: false, ...(publicKey !== undefined && { checkpointsValid: false }) };
    }
  };
}

/** The beginning, where the last batch cannot be read: that is found as an anomaly. */
async function readTip(auditLog: AuditLog): Promise<ChainTip> {
  const last = await auditLog.last(LINKS);
  const batch = last < 0 ? undefined : await auditLog.batch(last);
  return batch === undefined ? GENESIS : tipAfter(batch);
}
