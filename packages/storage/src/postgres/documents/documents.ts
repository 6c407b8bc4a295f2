import type { Listed, Page } from '@weft/engine';
import { batchText, decodeCursor, isRunId } from '../runs/codec.ts';
import { pageFrom } from '../runs/list-runs.ts';
import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from '../runs/read-rows.ts';
import type { Scalar } from '../runs/rows.ts';
import type { DocumentPlace, StoredDocument } from '../commits/units.ts';

export interface DocumentReader {
  readDocument(place: DocumentPlace): Promise<StoredDocument | undefined>;
  listDocuments(
    tenant: string,
    collection: string,
    scope: string,
    page: Page,
  ): Promise<Listed<StoredDocument>>;
  readBlob(tenant: string, runId: string, blobId: string, index: number): Promise<Uint8Array | undefined>;
}

export interface DocumentRow {
  readonly id: string;
  readonly body: string;
  readonly at: number;
  readonly ord: number;
  readonly expires_at: number | null;
  readonly batch: string;
}

/** The documents of one place in the order of parameters; what has expired by the clock in parameter 4 is not there. */
const DOCUMENTS = `SELECT id, body, at, ord, expires_at, batch FROM documents
  WHERE tenant = $1::text AND collection = $2::text AND scope = $3::text
    AND (expires_at IS NULL OR expires_at > ${nowSql(4)})`;

const NEWEST_FIRST = 'ORDER BY at DESC, ord DESC LIMIT $5::int';

export function prepareDocumentReader(pool: Pool, clock: (() => number) | undefined): DocumentReader {
  const query = <Row>(text: string, values: readonly Scalar[]) => readRows<Row>(pool, text, values);
  const now = () => clock?.() ?? null;

  return {
    async readDocument({ tenant, collection, scope, id }) {
      const values = [tenant, collection, scope, now(), id];
      const [row] = await query<DocumentRow>(`${DOCUMENTS} AND id = $5::text`, values);
      return row && documentFrom(row);
    },
    async listDocuments(tenant, collection, scope, page) {
      const values = [tenant, collection, scope, now(), page.limit + 1];
      const after = page.cursor === undefined ? [] : decodeCursor(page.cursor, ['number', 'number']);
      const older = after.length === 0 ? '' : 'AND (at, ord) < ($6::bigint, $7::bigint)';
      const found = await query<DocumentRow>(`${DOCUMENTS} ${older} ${NEWEST_FIRST}`, [...values, ...after]);
      return pageFrom(found, page.limit, documentFrom, ({ at, ord }) => [at, ord]);
    },
    async readBlob(tenant, runId, blobId, index) {
      if (!isRunId(runId)) return undefined;
      const [row] = await query<{ bytes: Uint8Array }>(
        'SELECT bytes FROM blobs WHERE tenant = $1::text AND run = $2::uuid AND id = $3::text AND piece = $4::int',
        [tenant, runId, blobId, index],
      );
      return row?.bytes;
    },
  };
}

export function documentFrom({ id, body, at, expires_at, batch }: Omit<DocumentRow, 'ord'>): StoredDocument {
  return { id, body, at, version: batchText(batch), ...(expires_at !== null && { expiresAt: expires_at }) };
}
