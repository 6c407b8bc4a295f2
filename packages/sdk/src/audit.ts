import type { AuditVerificationDocument, JsonObject } from '@weft/protocol';
import { endpointOf } from '@weft/protocol/plain';
import type { Transport } from './transport.ts';

export interface AuditRange {
  /** Default: the first entry. */
  readonly fromSeq?: number;
  /** Default, and at most: the last entry. */
  readonly toSeq?: number;
}

/** The record of who did what, and the proof that it was not changed. */
export interface Audit {
  /** Needs audit:read. */
  verify(range?: AuditRange): Promise<AuditVerificationDocument>;
  /** Lines of a file that can be verified without the host, page by page. Needs host:admin. */
  export(): AsyncIterable<readonly JsonObject[]>;
}

export function createAudit(transport: Transport): Audit {
  return {
    verify: ({ fromSeq, toSeq } = {}) =>
      transport.json(endpointOf('verifyAuditLog'), { query: { fromSeq, toSeq } }),
    export: () => pagesOf(transport),
  };
}

async function* pagesOf(transport: Transport): AsyncGenerator<readonly JsonObject[], void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await transport.json<{ lines: JsonObject[]; nextCursor?: string }>(
      endpointOf('exportAudit'),
      { query: { cursor } },
    );
    yield page.lines;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
