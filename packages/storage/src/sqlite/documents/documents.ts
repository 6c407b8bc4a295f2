import type { DocumentWrite, Listed, Page, Refusal, Store, WriteUnit } from '@weft/engine';
import { documentRejection } from '@weft/engine/store-rules';
import { batchBytes, batchText, sameBytes } from '../runs/codec.ts';
import type { Connection } from '../file/connection.ts';
import { decodeCursor, encodeCursor } from '../runs/cursor.ts';

type DocumentUnit = Extract<WriteUnit, { kind: 'document' }>;
type DocumentPlace = Parameters<Store['readDocument']>[0];
type StoredDocument = NonNullable<Awaited<ReturnType<Store['readDocument']>>>;

export interface Documents {
  read(place: DocumentPlace): StoredDocument | undefined;
  list(tenant: string, collection: string, scope: string, page: Page): Listed<StoredDocument>;
  /** Why it may not be written. */
  rejection(write: DocumentWrite): Refusal | undefined;
  /** Inside the group's transaction, what was not rejected. */
  write(write: DocumentWrite, batchId: string): void;
  /** Due at once, under another version; where nothing is, nothing happens. Inside the group's transaction. */
  wake(place: DocumentPlace, batchId: string): void;
  /** A document names the batch that wrote it; a removal has left nothing. */
  wasCommitted(unit: DocumentUnit): boolean;
}

export interface DocumentRow {
  readonly ord: number;
  readonly id: string;
  readonly at: number;
  readonly expires_at: number | null;
  readonly batch: Uint8Array;
  readonly body: string;
}

const FOLDER = 'tenant = ? AND collection = ? AND scope = ?';
/** Restates isLive. */
const LIVE = '(expires_at IS NULL OR expires_at > ?)';

export function prepareDocuments({ db, strings, clock }: Connection): Documents {
  const find = db.prepare<DocumentRow>(
    `SELECT ord, id, at, expires_at, batch, body FROM documents WHERE ${FOLDER} AND id = ? AND ${LIVE}`,
  );
  const listed = db.prepare<DocumentRow>(
    `SELECT ord, id, at, expires_at, batch, body FROM documents WHERE ${FOLDER} AND (at, ord) < (?, ?) AND ${LIVE}
     ORDER BY at DESC, ord DESC LIMIT ?`,
  );
  const findBatch = db.prepare<{ batch: Uint8Array }>(
    `SELECT batch FROM documents WHERE ${FOLDER} AND id = ?`,
  );
  const replace = db.prepare(
    `INSERT OR REPLACE INTO documents (tenant, collection, scope, id, at, expires_at, due_at, batch, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const wake = db.prepare(`UPDATE documents SET due_at = 0, batch = ? WHERE ${FOLDER} AND id = ?`);
  const remove = db.prepare(`DELETE FROM documents WHERE ${FOLDER} AND id = ?`);

  /** Undefined when nothing was ever written there. */
  function folderOf(tenant: string, collection: string, scope: string): [number, number, string] | undefined {
    const [tenantNumber, collectionNumber] = [strings.find(tenant), strings.find(collection)];
    if (tenantNumber === undefined || collectionNumber === undefined) return undefined;
    return [tenantNumber, collectionNumber, scope];
  }

  function read({ tenant, collection, scope, id }: DocumentPlace): StoredDocument | undefined {
    const folder = folderOf(tenant, collection, scope);
    const row = folder && find.get(...folder, id, clock());
    return row && documentFrom(row);
  }

  return {
    read,
    list(tenant, collection, scope, page) {
      const place = page.cursor === undefined ? [Number.MAX_SAFE_INTEGER, 0] : decodeCursor(page.cursor, 2);
      const folder = folderOf(tenant, collection, scope);
      const found = folder ? listed.all(...folder, ...place, clock(), page.limit + 1) : [];
      const rows = found.slice(0, page.limit);
      const last = rows.at(-1);
      const isMore = found.length > page.limit && last !== undefined;
      return {
        rows: rows.map(documentFrom),
        ...(isMore && { nextCursor: encodeCursor([last.at, last.ord]) }),
      };
    },
    rejection(write) {
      const depends = write.onlyNew === true || write.replaces !== undefined;
      return depends ? documentRejection(read(write)?.version, write) : undefined;
    },
    write({ tenant, collection, scope, id, body, at, expiresAt = null, dueAt = null }, batchId) {
      if (body === undefined) {
        const folder = folderOf(tenant, collection, scope);
        if (folder) remove.run(...folder, id);
        return;
      }
      const folder = [strings.numberOf(tenant), strings.numberOf(collection), scope];
      replace.run(...folder, id, at, expiresAt, dueAt, batchBytes(batchId), body);
    },
    wake({ tenant, collection, scope, id }, batchId) {
      const folder = folderOf(tenant, collection, scope);
      if (folder) wake.run(batchBytes(batchId), ...folder, id);
    },
    wasCommitted({ tenant, collection, scope, id, body, batchId }) {
      const folder = folderOf(tenant, collection, scope);
      const row = folder && findBatch.get(...folder, id);
      if (body === undefined || !row) return body === undefined && !row;
      return sameBytes(row.batch, batchBytes(batchId));
    },
  };
}

export function documentFrom({ id, body, at, expires_at, batch }: Omit<DocumentRow, 'ord'>): StoredDocument {
  return { id, body, at, version: batchText(batch), ...(expires_at !== null && { expiresAt: expires_at }) };
}
