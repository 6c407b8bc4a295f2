import type { DocumentPlace, DocumentUnit, Listed, Page, StoredDocument } from '../ports/store.ts';
import { isLive } from '../ports/store-rules.ts';
import type { MemoryData } from './data.ts';
import { decodeCursor, encodeCursor, isOlder, type Position, takePage } from './list-runs.ts';

export interface MemoryDocument {
  readonly stored: StoredDocument;
  /** Position in the order of writing: tells documents of the same time apart. */
  readonly order: number;
  readonly batchId: string;
}

/** The document at this place, unless it has expired. */
export function documentAt(data: MemoryData, place: DocumentPlace, now: number): StoredDocument | undefined {
  const document = storedAt(data, place);
  return document && isLive(document.stored.expiresAt, now) ? document.stored : undefined;
}

/** Writes over what was there, so that the order of writing is that of the last write. */
export function applyDocument(data: MemoryData, unit: DocumentUnit): void {
  const folder = folderKey(unit.tenant, unit.collection, unit.scope);
  const documents = data.documents.get(folder) ?? new Map<string, MemoryDocument>();
  if (unit.body === undefined) {
    documents.delete(unit.id);
  } else {
    const { id, body, at, expiresAt, batchId } = unit;
    const stored = { id, body, at, ...(expiresAt === undefined ? {} : { expiresAt }) };
    documents.set(id, { stored, order: data.documentWrites, batchId });
    data.documentWrites += 1;
  }
  if (documents.size === 0) data.documents.delete(folder);
  else data.documents.set(folder, documents);
}

/** A document names the batch that wrote it; a removal has left nothing. */
export function wasDocumentCommitted(data: MemoryData, unit: DocumentUnit): boolean {
  const document = storedAt(data, unit);
  return unit.body === undefined ? document === undefined : document?.batchId === unit.batchId;
}

export function listDocuments(
  data: MemoryData,
  folder: { readonly tenant: string; readonly collection: string; readonly scope: string },
  page: Page,
  now: number,
): Listed<StoredDocument> {
  const after = page.cursor === undefined ? undefined : decodeCursor(page.cursor);
  const documents = data.documents.get(folderKey(folder.tenant, folder.collection, folder.scope));
  const matching = [...(documents?.values() ?? [])]
    .filter(
      (document) =>
        isLive(document.stored.expiresAt, now) && (!after || isOlder(positionOf(document), after)),
    )
    .sort((a, b) => (isOlder(positionOf(a), positionOf(b)) ? 1 : -1));
  const listed = takePage(matching, page.limit, (document) => encodeCursor(positionOf(document)));
  return { ...listed, rows: listed.rows.map(({ stored }) => stored) };
}

/** Removes what has expired; answers how many. */
export function pruneDocuments(data: MemoryData, now: number): number {
  let removed = 0;
  for (const [folder, documents] of data.documents) {
    for (const [id, document] of documents) {
      if (isLive(document.stored.expiresAt, now)) continue;
      documents.delete(id);
      removed += 1;
    }
    if (documents.size === 0) data.documents.delete(folder);
  }
  return removed;
}

function storedAt(data: MemoryData, place: DocumentPlace): MemoryDocument | undefined {
  return data.documents.get(folderKey(place.tenant, place.collection, place.scope))?.get(place.id);
}

function folderKey(tenant: string, collection: string, scope: string): string {
  return JSON.stringify([tenant, collection, scope]);
}

function positionOf({ stored, order }: MemoryDocument): Position {
  return [stored.at, order];
}
