import { type AuditVerificationDocument, endpointOf, type JsonObject } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { PagePromise } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

export interface AuditRange {
  /** Default: the first entry. */
  readonly fromSeq?: number;
  /** Default, and at most: the last entry. */
  readonly toSeq?: number;
}

export interface AuditExportPage {
  readonly lines: readonly JsonObject[];
  readonly nextCursor?: string;
}

/** The record of who did what, and the proof that it was not changed. */
export interface Audit {
  /** Needs audit:read. */
  verify(range?: AuditRange): ApiPromise<AuditVerificationDocument>;
  /** Lines of a file that can be verified without the host. Needs host:admin. */
  export(): PagePromise<JsonObject, AuditExportPage>;
}

export function createAudit(transport: Transport): Audit {
  const load = (cursor?: string): ApiPromise<AuditExportPage> =>
    transport.json(endpointOf('exportAudit'), { query: { cursor } });
  return {
    verify: ({ fromSeq, toSeq } = {}) =>
      transport.json(endpointOf('verifyAuditLog'), { query: { fromSeq, toSeq } }),
    export: () =>
      new PagePromise({
        first: () => load(),
        rowsOf: ({ lines }) => lines,
        next: ({ nextCursor }) => (nextCursor === undefined ? undefined : load(nextCursor)),
      }),
  };
}
