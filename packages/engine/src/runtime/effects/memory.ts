import { isName, toIso } from '@weft/protocol';
import { type Memory, type MemoryEntry, type NewMemoryEntry, NodeFailure } from '../../model/node-type.ts';
import type { Documents, DocumentUnit } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SecretMask } from '../secrets/mask.ts';

/** What agents remember: one document per entry, under the tenant and the reference, masked before it is written. */
export interface MemoryDependencies {
  readonly store: Documents;
  readonly write: (unit: Omit<DocumentUnit, 'batchId'>) => Promise<unknown>;
  readonly clock: Pick<Clock, 'now'>;
  readonly maxEntryBytes: number;
}

/** What hides secrets, and sensitive inputs unless the entry is declared not to be sensitive. */
export type MaskFor = (sensitive: false | undefined) => SecretMask;

const MEMORY = 'memory';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** A filter that finds little gives up after this many entries. */
const MAX_SCANNED = 10_000;
const PAGE = 200;
const MAX_REF = 256;
const MAX_ID = 1_500;
const MAX_TAGS = 64;
const MAX_TAG = 256;
/** Beyond it a Date cannot tell the time. */
const LAST_MOMENT = 8.64e15;

/** What is stored of an entry; its id and times are the document's. */
interface Body {
  readonly content: string;
  readonly tags: readonly string[];
}

export function openMemory(dependencies: MemoryDependencies, tenant: string, maskFor: MaskFor): Memory {
  const { store, write, clock, maxEntryBytes } = dependencies;
  return {
    async write(memoryRef, given) {
      checkRef(memoryRef);
      checkEntry(given);
      const mask = maskFor(given.sensitive);
      const id = mask.text(given.id);
      const body: Body = { content: mask.text(given.content), tags: (given.tags ?? []).map(mask.text) };
      checkSize(body, maxEntryBytes);
      const at = clock.now();
      const { expiresAt } = given;
      await write({
        kind: 'document',
        tenant,
        collection: MEMORY,
        scope: memoryRef,
        id,
        body: JSON.stringify(body),
        at,
        ...(expiresAt !== undefined && { expiresAt }),
      });
      return entryOf({ id, at, ...(expiresAt !== undefined && { expiresAt }) }, body);
    },

    async list(memoryRef, { limit = DEFAULT_LIMIT, tag } = {}) {
      const wanted = Math.min(limit, MAX_LIMIT);
      const found: MemoryEntry[] = [];
      if (!isMemoryRef(memoryRef)) return found;
      let cursor: string | undefined;
      for (let scanned = 0; found.length < wanted && scanned < MAX_SCANNED; ) {
        const page = await store.listDocuments(tenant, MEMORY, memoryRef, {
          limit: PAGE,
          ...(cursor !== undefined && { cursor }),
        });
        scanned += PAGE;
        for (const row of page.rows) {
          const body = JSON.parse(row.body) as Body;
          if (row.expiresAt !== undefined && row.expiresAt <= clock.now()) continue;
          if (tag === undefined || body.tags.includes(tag)) found.push(entryOf(row, body));
        }
        cursor = page.nextCursor;
        if (cursor === undefined) break;
      }
      return found.slice(0, wanted);
    },
  };
}

/** References are opaque names; what looks like a path out of its own place is none. */
export function isMemoryRef(ref: string): boolean {
  return ref.length >= 1 && ref.length <= MAX_REF && isName(ref) && !ref.split(/[/\\]/).includes('..');
}

function entryOf(row: { id: string; at: number; expiresAt?: number }, body: Body): MemoryEntry {
  return {
    id: row.id,
    content: body.content,
    tags: body.tags,
    createdAt: toIso(row.at),
    ...(row.expiresAt !== undefined && { expiresAt: toIso(row.expiresAt) }),
  };
}

function checkRef(ref: string): void {
  if (isMemoryRef(ref)) return;
  throw invalid(
    'memoryRef',
    `The memoryRef must be 1 to ${MAX_REF} characters without control characters and without ".." segments.`,
  );
}

function checkEntry({ id, tags = [], expiresAt }: NewMemoryEntry): void {
  if (id.length < 1 || id.length > MAX_ID || !isName(id)) {
    throw invalid(
      'id',
      `The id of a memory entry must be 1 to ${MAX_ID} characters without control characters.`,
    );
  }
  if (tags.length > MAX_TAGS || !tags.every(isTag)) {
    throw invalid(
      'tags',
      `A memory entry takes up to ${MAX_TAGS} tags of 1 to ${MAX_TAG} characters without control characters.`,
    );
  }
  if (expiresAt !== undefined && !(Number.isInteger(expiresAt) && Math.abs(expiresAt) <= LAST_MOMENT)) {
    throw invalid('expiresAt', 'The expiresAt of a memory entry must be whole milliseconds since the epoch.');
  }
}

function isTag(tag: string): boolean {
  return tag.length >= 1 && tag.length <= MAX_TAG && isName(tag);
}

function checkSize({ content, tags }: Body, limit: number): void {
  const observed = Buffer.byteLength(content, 'utf8') + Buffer.byteLength(tags.join(''), 'utf8');
  if (observed <= limit) return;
  throw new NodeFailure(
    'validation_error',
    `A memory entry may have ${limit} bytes; this one has ${observed}. Write several entries, or an artifact.`,
    { details: { field: 'content', limit, observed } },
  );
}

function invalid(field: string, message: string): NodeFailure {
  return new NodeFailure('validation_error', message, { details: { field } });
}
