import type { RunEventDocument } from '@weft/sdk';
import {
  blankView,
  copyFacts,
  foldEvent,
  foldFacts,
  nodesAt,
  type RunFacts,
  type RunView,
} from './run-fold.ts';

/** Events between two keyframes: what a move of the slider folds at most. */
const KEYFRAME_EVERY = 2_000;

/** A log that grows, and the run as it stood after any of its events. */
export interface RunHistory {
  readonly events: readonly RunEventDocument[];
  append(more: readonly RunEventDocument[]): void;
  /** After the event at this place in the log; -1 is before the first. */
  viewAt(index: number): RunView;
  /** Its maps are those that further events change: a long log has too many nodes to copy them for each. */
  latest(): RunView;
}

export function createHistory(): RunHistory {
  const events: RunEventDocument[] = [];
  const keyframes: RunFacts[] = [];
  const newest = blankView();
  return {
    events,
    append(more) {
      for (const event of more) {
        // A stream that begins again may repeat what is known.
        if (event.sequence <= newest.sequence) continue;
        if (events.length % KEYFRAME_EVERY === 0) keyframes.push(copyFacts(newest));
        events.push(event);
        foldEvent(newest, event);
      }
    },
    viewAt(index) {
      const last = Math.min(index, events.length - 1);
      const sequence = events[last]?.sequence;
      if (sequence === undefined) return blankView();
      const frame = Math.floor(last / KEYFRAME_EVERY);
      const facts = copyFacts(keyframes[frame] ?? blankView());
      for (const event of events.slice(frame * KEYFRAME_EVERY, last + 1)) foldFacts(facts, event);
      return { ...facts, nodes: nodesAt(newest.nodes, sequence) };
    },
    latest: () => ({ ...newest }),
  };
}
