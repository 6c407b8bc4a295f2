import { isJsonObject, type Json } from '@weft/protocol';
import type { StoredAuditEntry } from '../../ports/store.ts';
import { entryHash } from './entry.ts';
import { EMPTY_FRONTIER, extendFrontier, type Frontier } from './merkle.ts';

/**
 * The chain is stored apart from the entries, in batches that are written once and numbered without gap.
 *
 * U-1. Sequences of the chain are 0, 1, 2 … without gap, whatever gaps the ids of the entries have.
 * U-2. A batch follows from the one before it and from the entries alone; how they are cut into batches changes no hash.
 * U-3. The frontier of a batch covers all entries up to its last.
 */
export interface LinkBatch {
  readonly batch: number;
  /** Sequence of its first entry. */
  readonly firstSeq: number;
  readonly links: readonly Link[];
  readonly peaks: readonly string[];
}

/** The place of one entry in the chain. */
export interface Link {
  readonly id: number;
  readonly hash: string;
}

/** Where the next batch is linked to. */
export interface ChainTip {
  readonly nextBatch: number;
  readonly lastId: number;
  readonly lastHash: string | null;
  readonly frontier: Frontier;
}

/** A batch never holds more; so a reader knows how much a lost one can have held. */
export const BATCH_ENTRIES = 250;

export const GENESIS: ChainTip = { nextBatch: 0, lastId: 0, lastHash: null, frontier: EMPTY_FRONTIER };

/** Links entries to the chain, in the order of their ids. */
export function linkEntries(tip: ChainTip, entries: readonly StoredAuditEntry[]): LinkBatch {
  const firstSeq = tip.frontier.size;
  let prevHash = tip.lastHash;
  const links = entries.map((entry, index) => {
    prevHash = entryHash(firstSeq + index, entry, prevHash);
    return { id: entry.id, hash: prevHash };
  });
  const { peaks } = extendFrontier(
    tip.frontier,
    links.map(({ hash }) => hash),
  );
  return { batch: tip.nextBatch, firstSeq, links, peaks };
}

export function tipAfter({ batch, firstSeq, links, peaks }: LinkBatch): ChainTip {
  const last = links.at(-1);
  if (last === undefined) throw new Error(`audit batch ${batch} links nothing`);
  return {
    nextBatch: batch + 1,
    lastId: last.id,
    lastHash: last.hash,
    frontier: { size: firstSeq + links.length, peaks },
  };
}

/** Undefined when it is no batch, or not the one of this number. */
export function readBatch(value: Json | undefined, batch: number): LinkBatch | undefined {
  if (!isJsonObject(value) || value['batch'] !== batch || !isCount(value['firstSeq'])) return undefined;
  const { firstSeq, links, peaks } = value;
  if (
    !Array.isArray(links) ||
    links.length === 0 ||
    links.length > BATCH_ENTRIES ||
    !Array.isArray(peaks) ||
    !peaks.every(isHash)
  )
    return undefined;
  const read = links.map(readLink);
  if (!read.every((link) => link !== undefined)) return undefined;
  return { batch, firstSeq, links: read, peaks };
}

function readLink(value: Json): Link | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, hash } = value;
  return Number.isSafeInteger(id) && isHash(hash) ? { id: Number(id), hash } : undefined;
}

export function isCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function isHash(value: Json | undefined): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
