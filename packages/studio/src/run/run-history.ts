import type { RunEventDocument } from '@weft/sdk';
import { blankView, copyView, foldEvent, type RunView } from './run-fold.ts';

/** Events between two keyframes: what a move of the slider folds at most. */
const KEYFRAME_EVERY = 2_000;

/** A log that grows, and the run as it stood after any of its events. */
export interface RunHistory {
  readonly events: readonly RunEventDocument[];
  append(more: readonly RunEventDocument[]): void;
  /** After the event at this place in the log; -1 is before the first. */
  viewAt(index: number): RunView;
  latest(): RunView;
}

export function createHistory(): RunHistory {
  const events: RunEventDocument[] = [];
  const keyframes: RunView[] = [];
  const newest = blankView();
  return {
    events,
    append(more) {
      for (const event of more) {
        // A stream that begins again may repeat what is known.
        if (event.sequence <= newest.sequence) continue;
        if (events.length % KEYFRAME_EVERY === 0) keyframes.push(copyView(newest));
        events.push(event);
        foldEvent(newest, event);
      }
    },
    viewAt(index) {
      const last = Math.min(index, events.length - 1);
      if (last < 0) return blankView();
      const frame = Math.floor(last / KEYFRAME_EVERY);
      const view = copyView(keyframes[frame] ?? blankView());
      for (let place = frame * KEYFRAME_EVERY; place <= last; place += 1) {
        const event = events[place];
        if (event !== undefined) foldEvent(view, event);
      }
      return view;
    },
    latest: () => copyView(newest),
  };
}
