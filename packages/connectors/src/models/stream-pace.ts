/**
 * When the streams of a process begin, hand over what was gathered, and end. Each hand-over costs a library its parsing, the host an event
 * and the disk a share of a commit: all of them together make at most about a thousand a second, so with more than fifty streams each
 * waits longer. Some go at the same moment, so that one commit serves them, and few in the same turn of the event loop, so that no other
 * request waits for all of them.
 */
export interface StreamPace {
  opened(): void;
  closed(): void;
  /** Calls when a stream that has something now may hand it over, in the order of asking; not after the returned function was called. */
  wait(handOver: () => void): () => void;
  /** Resolves in a turn of the event loop that still has room for a stream: the present one, as long as few ask. */
  turn(): Promise<void>;
}

/** A hand-over takes about a fifth of a millisecond, a request twice that. */
export const MOST_PER_TURN = 5;
export const MOST_PER_MOMENT = 10;
const MOMENT_MS = 10;
/** With few streams: what comes in this time is handed over together. */
const LEAST_MS = 40;
/** With hundreds, after which everyone has had a turn; timers are some milliseconds late. */
const MOST_MS = 225;

interface Waiting {
  readonly since: number;
  readonly handOver: () => void;
}

export function createStreamPace(): StreamPace {
  const waiting = new Set<Waiting>();
  const entering: (() => void)[] = [];
  let inTurn = 0;
  let open = 0;
  let timer: NodeJS.Timeout | undefined;

  function next(): void {
    const now = performance.now();
    let count = 0;
    for (const each of waiting) {
      if (count === MOST_PER_MOMENT || each.since + LEAST_MS > now) break;
      waiting.delete(each);
      each.handOver();
      count += 1;
    }
    const [oldest] = waiting;
    const momentMs = Math.min(MOMENT_MS, (MOST_PER_MOMENT * MOST_MS) / open);
    timer = oldest && setTimeout(next, Math.max(momentMs, oldest.since + LEAST_MS - now));
  }

  function nextTurn(): void {
    inTurn = 0;
    for (const enter of entering.splice(0, MOST_PER_TURN)) count(enter);
  }

  function count(enter: () => void): void {
    if (inTurn === 0) setImmediate(nextTurn);
    inTurn += 1;
    enter();
  }

  return {
    opened: () => void (open += 1),
    closed: () => void (open -= 1),
    wait(handOver) {
      const each = { since: performance.now(), handOver };
      waiting.add(each);
      timer ??= setTimeout(next, LEAST_MS);
      return () => void waiting.delete(each);
    },
    turn: () =>
      new Promise((resolve) => {
        if (inTurn < MOST_PER_TURN) count(resolve);
        else entering.push(resolve);
      }),
  };
}
