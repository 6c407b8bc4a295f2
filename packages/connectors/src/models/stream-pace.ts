/**
 * How long the pieces of a streamed answer are held together. Each hand-over costs a library its parsing, the host an event and the disk
 * a share of a commit, so all streams of a process together make at most about a thousand a second: with more than fifty of them, each waits
 * a little longer. They wait for common moments, so that one commit serves many.
 */
const LEAST_MS = 50;
const MOST_MS = 250;
const HAND_OVERS_PER_SECOND = 1_000;
const MOMENT_MS = 25;

export interface StreamPace {
  opened(): void;
  closed(): void;
  /** Until the next hand-over of a stream that has something to hand over now. */
  waitMs(now: number): number;
}

export function createStreamPace(): StreamPace {
  let open = 0;
  return {
    opened: () => void (open += 1),
    closed: () => void (open -= 1),
    waitMs(now) {
      const hold = Math.min(Math.max(LEAST_MS, (open / HAND_OVERS_PER_SECOND) * 1_000), MOST_MS);
      const due = Math.floor((now + hold) / MOMENT_MS) * MOMENT_MS;
      return due - now;
    },
  };
}
