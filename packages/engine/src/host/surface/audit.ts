import type { JsonObject } from '@weft/protocol';
import type { AuditVerification } from '../../core/audit/verification.ts';
import type { AuditEntry } from '../../ports/store.ts';

export interface Audit {
  record(entry: Omit<AuditEntry, 'at'>): Promise<void>;
  /**
   * Holds a range of the audit log against its chain and its signed checkpoints. The log is one for all tenants; what is said
   * about it is sequences and hashes only. A range beyond the end is moved to what there is.
   */
  verify(fromSeq: number, toSeq: number): Promise<AuditVerification>;
  /** The whole audit log of all tenants, page by page, as the lines of a file that can be verified without the host. */
  export(cursor: string | undefined): Promise<AuditExportPage>;
}

export interface AuditExportPage {
  readonly lines: readonly JsonObject[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}
