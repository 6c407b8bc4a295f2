import type { RunEventDocument } from '@weft/sdk';
import { createMatching, matchingBy } from './event-filter.ts';

/** Up to this many events the slider stops at each of them. */
export const MOST_SINGLE_STOPS = 100_000;

const STARTS_OR_ENDS = /^(?:run|node)\.(?:started|completed|failed|skipped|cancelled)$/;

/** Where the slider stops in a log of some length. */
export interface SliderStops {
  /** Only where a node, or the run, starts or ends. */
  readonly isByNode: boolean;
  /** Number of the last stop, which stands for the newest event; -1 without any. */
  readonly last: number;
  /** Number of the stop at or before a place in the log. */
  upTo(place: number): number;
  /** Place in the log of the stop with this number. */
  place(stop: number): number;
}

/** For a log that grows: each of its events is read once. */
export function createStops(
  events: readonly RunEventDocument[],
  mostSingle = MOST_SINGLE_STOPS,
): (length: number) => SliderStops {
  const each = createMatching({ type: '', node: '' });
  const byNode = matchingBy(({ type }) => STARTS_OR_ENDS.test(type));
  return (length) => {
    const isByNode = length > mostSingle;
    const stops = isByNode ? byNode : each;
    const upTo = (place: number): number => stops.count(events, place) - 1;
    return { isByNode, last: upTo(length - 1), upTo, place: stops.place };
  };
}
