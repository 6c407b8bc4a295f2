import type {
  DocumentPlace,
  DocumentUnit,
  DocumentWrite,
  DueDocuments,
  Listed,
  Page,
  StoredDocument,
} from '../ports/store.ts';
import { createFairQueue } from '../runtime/fairness/fair-queue.ts';
import { isLive } from '../ports/store-rules.ts';
import type { MemoryData } from './data.ts';
import { decodeCursor, encodeCursor, isOlder, type Position, takePage } from './list-runs.ts';

export interface MemoryDocument {
  readonly stored: StoredDocument;
  readonly place: DocumentPlace;
  /** Position in the order of writing: tells documents of the same time apart. */
  readonly order: number;
  /** When it may be claimed: due, or its lease over. */
  readonly dueAt?: number | undefined;
}

/** The document at this place, unless it has expired. */
export function documentAt(data: MemoryData, place: DocumentPlace, now: number): StoredDocument | undefined {
  const document = storedAt(data, place);
  return document && isLive(document.stored.expiresAt, now) ? document.stored : undefined;
}

/** Writes over what was there, so that the order of writing is that of the last write. */
export function applyDocument(data: MemoryData, write: DocumentWrite, version: string): void {
  const { tenant, collection, scope, id, body, at, expiresAt, dueAt } = write;
  const folder = folderKey(tenant, collection, scope);
  const documents = data.documents.get(folder) ?? new Map<string, MemoryDocument>();
  if (body === undefined) {
    documents.delete(id);
  } else {
    const stored = { id, body, at, version, ...(expiresAt === undefined ? {} : { expiresAt }) };
    const place = { tenant, collection, scope, id };
    documents.set(id, { stored, place, order: data.documentWrites, dueAt });
    data.documentWrites += 1;
  }
  if (documents.size === 0) data.documents.delete(folder);
  else data.documents.set(folder, documents);
}

/** Due at once, under another version; where nothing is, nothing happens. */
export function wakeDocument(data: MemoryData, place: DocumentPlace, version: string): void {
  const document = storedAt(data, place);
  if (document === undefined) return;
  replace(data, { ...document, stored: { ...document.stored, version }, dueAt: 0 });
}

export function claimDueDocuments(
  data: MemoryData,
  { collection, limit, leaseMs }: { collection: string; limit: number; leaseMs: number },
  now: number,
): DueDocuments {
  const timed = [...data.documents.values()]
    .flatMap((documents) => [...documents.values()])
    .filter(
      ({ place, dueAt, stored }) =>
        place.collection === collection && dueAt !== undefined && isLive(stored.expiresAt, now),
    )
    .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.order - b.order);
  const turns = createFairQueue<MemoryDocument>();
  const due = timed.filter(({ dueAt = 0 }) => dueAt <= now);
  for (const document of due) turns.push(document, document.place.tenant);
  const claimed = due.length <= limit ? due : [];
  for (
    let next = turns.next();
    due.length > limit && next !== undefined && claimed.length < limit;
    next = turns.next()
  ) {
    turns.take()?.leave();
    claimed.push(next);
  }
  for (const document of claimed) replace(data, { ...document, dueAt: now + leaseMs });
  const others = timed.filter((document) => !claimed.includes(document)).map(({ dueAt = 0 }) => dueAt);
  const times = claimed.length > 0 ? [...others, now + leaseMs] : others;
  return {
    now,
    rows: claimed.map(({ stored, place: { tenant, scope } }) => ({ ...stored, tenant, scope })),
    ...(times.length > 0 && { nextAt: Math.min(...times) }),
  };
}

/** Keeps its place in the order of writing. */
function replace(data: MemoryData, document: MemoryDocument): void {
  const { tenant, collection, scope, id } = document.place;
  data.documents.get(folderKey(tenant, collection, scope))?.set(id, document);
}

/** A document names the batch that wrote it; a removal has left nothing. */
export function wasDocumentCommitted(data: MemoryData, unit: DocumentUnit): boolean {
  const document = storedAt(data, unit);
  return unit.body === undefined ? document === undefined : document?.stored.version === unit.batchId;
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
