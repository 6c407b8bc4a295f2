import { placeOf } from '@weft/engine/compare';
import type { RunEventDocument } from '@weft/sdk';

export interface EventFilter {
  /** Part of a type, such as `node.` or `failed`. */
  readonly type: string;
  /** Part of a node's name. */
  readonly node: string;
}

/** Reads a log that grows: each event once. */
export interface MatchingEvents {
  /** How many match of the events up to a place. */
  count(events: readonly RunEventDocument[], upTo: number): number;
  /** Place in the log of the one with this number. */
  place(index: number): number;
}

export function createMatching(filter: EventFilter): MatchingEvents {
  const type = filter.type.trim().toLowerCase();
  const node = filter.node.trim().toLowerCase();
  if (type === '' && node === '')
    return { count: (events, upTo) => Math.min(upTo + 1, events.length), place: (index) => index };
  return matchingBy(
    (event) =>
      (type === '' || event.type.toLowerCase().includes(type)) &&
      (node === '' || (placeOf(event) ?? '').toLowerCase().includes(node)),
  );
}

export function matchingBy(matches: (event: RunEventDocument) => boolean): MatchingEvents {
  const found: number[] = [];
  let done = 0;
  return {
    count(events, upTo) {
      for (; done < events.length; done += 1) {
        const event = events[done];
        if (event !== undefined && matches(event)) found.push(done);
      }
      return countUpTo(found, upTo);
    },
    place: (index) => found[index] ?? -1,
  };
}

/** Of numbers that grow, how many are not above one. */
function countUpTo(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The request that reads this event, for a shell. The key is a variable of the shell: it is never copied. */
export function curlOf(
  host: string,
  { runId, sequence }: Pick<RunEventDocument, 'runId' | 'sequence'>,
): string {
  const after = sequence === 0 ? '' : `lastSequence=${sequence - 1}&`;
  const address = `${host}/v1/runs/${encodeURIComponent(runId)}/events/poll?${after}limit=1&timeout=1`;
  return `curl -H "Authorization: Bearer $WEFT_API_KEY" '${address}'`;
}
