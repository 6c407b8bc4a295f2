import { crc32 } from 'node:zlib';
import { DamagedRunError, type StoredEvent } from '@weft/engine';

/**
 * Four bytes per row that show whether it still is what was written: events, creation records and checkpoints carry them. A sum
 * covers the row's place as well (its run, its sequence), so that a row that stands where another one should is found, too. It is
 * computed over what the columns mean, not over how they are stored: damage to a dictionary is damage to the rows that use it.
 *
 * It finds accidents, not forgers: CRC-32 finds every flipped bit and every burst of up to 32, and misses one in four billion of
 * anything else. Rows without a sum were written by an older program and are not checked.
 */

/** One call for what is short, because a call costs as much as a hundred characters; the sum is the same either way. */
const SHORT = 2_048;

/** As a signed number, which takes no more than four bytes in either database. */
function sumOf(place: string, text: string): number {
  return (text.length < SHORT ? crc32(place + text) : crc32(text, crc32(place))) | 0;
}

export function eventSum(runId: string, event: StoredEvent): number {
  const { seq, type, at, nodeId, causeSeq, payload } = event;
  return sumOf(`${runId}\n${seq}\n${type}\n${at}\n${nodeId ?? ''}\n${causeSeq ?? ''}\n`, payload);
}

/** Apart from the public part, because an erasure takes the overlay away and nothing else. */
export function overlaySum(runId: string, seq: number, overlay: string): number {
  return sumOf(`${runId}\n${seq}\n`, overlay);
}

/** Of a creation record as it is stored: the parts that have columns of their own, and the text of the rest. */
export function recordSum(runId: string, parts: readonly (string | number | null)[], rest: string): number {
  return sumOf(`${runId}\n${parts.join('\n')}\n`, rest);
}

export function checkpointSum(runId: string, seq: number, foldVersion: number, state: string): number {
  return sumOf(`${runId}\n${seq}\n${foldVersion}\n`, state);
}

export interface EventSums {
  readonly sum: number | null;
  readonly overlaySum: number | null;
}

/** Throws DamagedRunError when the event is not what was written. */
export function checkEvent(runId: string, event: StoredEvent, sums: EventSums): void {
  if (!isWholeEvent(runId, event, sums)) throw new DamagedRunError(runId, event.seq);
}

export function isWholeEvent(
  runId: string,
  event: StoredEvent,
  { sum, overlaySum: kept }: EventSums,
): boolean {
  if (sum === null) return true;
  if (eventSum(runId, event) !== sum) return false;
  return event.overlay === undefined ? kept === null : overlaySum(runId, event.seq, event.overlay) === kept;
}
