import type { KeyObject } from 'node:crypto';
import type { Json } from '@weft/protocol';
import { type Anomaly, createChainWalk, type Place } from '../../core/audit/chain-walk.ts';
import { type AuditCheckpoint, readCheckpoint } from '../../core/audit/checkpoint.ts';
import {
  BATCH_ENTRIES,
  type ChainTip,
  GENESIS,
  isCount,
  type LinkBatch,
  readBatch,
  tipAfter,
} from '../../core/audit/link-batch.ts';
import {
  type AuditVerification,
  conclude,
  createCheckpointCheck,
  NOTHING_TO_VERIFY,
} from '../../core/audit/verification.ts';
import type { AuditTrail, Documents, StoredAuditEntry } from '../../ports/store.ts';
import { yieldTurn } from '../../ports/clock.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';

/** Reads the chain that `audit.ts` writes, and holds it against the entries. Writes nothing and trusts nothing it reads. */
export interface AuditLog {
  /** The number of the newest batch or checkpoint; −1 when there is none. */
  last(collection: AuditCollection): Promise<number>;
  /** Undefined when it is missing or is not what it should be. */
  batch(number: number): Promise<LinkBatch | undefined>;
  checkpoint(number: number): Promise<AuditCheckpoint | undefined>;
  /** Without rows whose content cannot be read any more. */
  entries(fromId: number, limit: number): Promise<readonly StoredAuditEntry[]>;
  verify(fromSeq: number, toSeq: number, publicKey: KeyObject | undefined): Promise<AuditVerification>;
}

export const LINKS = 'audit-link';
export const CHECKPOINTS = 'audit-checkpoint';
export type AuditCollection = typeof LINKS | typeof CHECKPOINTS;

const PAGE = 500;
/** More are counted as found, but not listed. */
const MAX_ANOMALIES = 1_000;

/** A piece of the chain with the ids between which its entries must lie. */
interface Batch {
  readonly places: readonly Place[];
  readonly fromId: number;
  readonly toId: number;
}

export function createAuditLog(store: Documents & AuditTrail): AuditLog {
  async function last(collection: AuditCollection): Promise<number> {
    const { rows } = await store.listDocuments(HOST_TENANT, collection, '', { limit: 10 });
    const numbers = rows.map(({ id }) => Number(id));
    return numbers.find(isCount) ?? -1;
  }

  async function document(collection: AuditCollection, number: number): Promise<Json | undefined> {
    const found = await store.readDocument({
      tenant: HOST_TENANT,
      collection,
      scope: '',
      id: String(number),
    });
    return found === undefined ? undefined : parsed(found.body);
  }

  const batch = async (number: number): Promise<LinkBatch | undefined> =>
    readBatch(await document(LINKS, number), number);
  const checkpoint = async (number: number): Promise<AuditCheckpoint | undefined> =>
    readCheckpoint(await document(CHECKPOINTS, number), number);

  /** A row whose details were broken makes the whole page unreadable, so the page is narrowed down to what can be read. */
  async function entries(fromId: number, limit: number): Promise<readonly StoredAuditEntry[]> {
    for (let from = fromId, size = limit; ; ) {
      try {
        return await store.readAudit(from, size);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        if (size === 1) from = Math.max(from + 1, 0);
        size = size === 1 ? limit : Math.floor(size / 2);
      }
    }
  }

  async function* entriesBetween(fromId: number, toId: number): AsyncGenerator<StoredAuditEntry> {
    for (let from = fromId; from <= toId; ) {
      const page = await entries(from, PAGE);
      for (const entry of page) {
        if (entry.id > toId) return;
        yield entry;
      }
      const newest = page.at(-1);
      if (newest === undefined) return;
      from = newest.id + 1;
    }
  }

  /** The last batch that begins at or before this sequence, by halving; numbers follow each other without gap. */
  async function batchWith(seq: number, lastNumber: number): Promise<number> {
    let low = 0;
    let high = lastNumber;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const found = await batch(middle);
      if (found !== undefined && found.firstSeq <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Where to begin so that everything from this sequence on is seen: at a batch whose predecessor can be read. */
  async function tipBefore(seq: number, lastNumber: number): Promise<ChainTip> {
    for (let number = await batchWith(seq, lastNumber); number > 0; number -= 1) {
      const before = await batch(number - 1);
      if (before !== undefined) return tipAfter(before);
    }
    return GENESIS;
  }

  async function* piecees(start: ChainTip, lastNumber: number, toSeq: number): AsyncGenerator<Batch> {
    // Ids begin at 1; what someone put before that is found too.
    let fromId = start.nextBatch === 0 ? Number.MIN_SAFE_INTEGER : start.lastId + 1;
    let nextSeq = start.frontier.size;
    let lost = 0;
    for (let number = start.nextBatch; number <= lastNumber && nextSeq <= toSeq; number += 1) {
      const found = await batch(number);
      const skipped = (found?.firstSeq ?? -1) - nextSeq;
      if (found === undefined || skipped < 0 || skipped > lost * BATCH_ENTRIES) {
        lost += 1;
        continue;
      }
      const first = found.links[0]?.id ?? fromId;
      if (lost > 0) {
        yield { places: lostPlaces(nextSeq, found.firstSeq), fromId, toId: first - 1 };
        fromId = first;
      }
      lost = 0;
      const toId = found.links.at(-1)?.id ?? first;
      yield { places: placesOf(found), fromId, toId };
      fromId = toId + 1;
      nextSeq = found.firstSeq + found.links.length;
    }
    // The end of the chain is lost: no one knows how many it held, but that it held one.
    if (lost > 0) yield { places: lostPlaces(nextSeq, nextSeq + 1), fromId, toId: fromId };
  }

  /** Sequence of the newest entry in the chain; −1 when there is none. */
  async function newestSeq(lastNumber: number): Promise<number> {
    for (let number = lastNumber; number >= 0; number -= 1) {
      const found = await batch(number);
      // What cannot be read held at least one entry.
      if (found !== undefined) return found.firstSeq + found.links.length - 1 + (lastNumber - number);
    }
    return lastNumber;
  }

  /** The checkpoints within the range, ascending; not whole when one of them is missing. */
  async function checkpointsIn(
    fromSeq: number,
    toSeq: number,
  ): Promise<{ checkpoints: readonly AuditCheckpoint[]; isWhole: boolean }> {
    const checkpoints: AuditCheckpoint[] = [];
    let isWhole = true;
    for (let number = await last(CHECKPOINTS); number >= 0; number -= 1) {
      const found = await checkpoint(number);
      if (found === undefined) isWhole = false;
      else if (found.atSequence < fromSeq) break;
      else if (found.atSequence <= toSeq) checkpoints.push(found);
    }
    return { checkpoints: checkpoints.reverse(), isWhole };
  }

  async function verify(
    askedFrom: number,
    askedTo: number,
    publicKey: KeyObject | undefined,
  ): Promise<AuditVerification> {
    const lastNumber = await last(LINKS);
    const newest = await newestSeq(lastNumber);
    if (newest < 0) return NOTHING_TO_VERIFY;
    const [fromSeq, toSeq] = [Math.min(askedFrom, newest), Math.min(askedTo, newest)];
    const { checkpoints, isWhole } = await checkpointsIn(fromSeq, toSeq);
    const start = await tipBefore(fromSeq, lastNumber);
    const check = createCheckpointCheck(checkpoints, start.frontier);
    const anomalies: Anomaly[] = [];
    const note = (anomaly: Anomaly): void => {
      const isAsked = anomaly.atSeq >= fromSeq && anomaly.atSeq <= toSeq + 1;
      if (isAsked && anomalies.length < MAX_ANOMALIES) anomalies.push(anomaly);
    };
    let hash = start.lastHash;
    for await (const { places, fromId, toId } of piecees(start, lastNumber, toSeq)) {
      const walk = createChainWalk(places, hash, note);
      for await (const entry of entriesBetween(fromId, toId)) walk.entry(entry);
      hash = walk.end();
      check.cover(places);
      await yieldTurn(); // the log may be long, and others want to be served
    }
    const rootsValid = isWhole && check.rootsValid();
    return conclude({ fromSeq, toSeq, anomalies, checkpoints, rootsValid, publicKey });
  }

  return { last, batch, checkpoint, entries, verify };
}

export function placesOf({ firstSeq, links }: LinkBatch): readonly Place[] {
  return links.map(({ id, hash }, index) => ({ seq: firstSeq + index, id, hash }));
}

function lostPlaces(fromSeq: number, untilSeq: number): readonly Place[] {
  return Array.from({ length: untilSeq - fromSeq }, (_, index) => ({ seq: fromSeq + index }));
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // someone has written there; to the reader it is missing
  }
}
