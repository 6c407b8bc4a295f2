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
export const LEAST_PER_TURN = 5;
/** Where turns are long for other reasons, more go in each, so that text is not late by all of them: one for two milliseconds of a turn. */
export const MOST_PER_TURN = 20;
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
  let perTurn = LEAST_PER_TURN;
  let turnedAt = 0;
  let dueAt = 0;
  let open = 0;
  let timer: NodeJS.Timeout | undefined;

  function next(): void {
    const now = performance.now();
    const momentMs = Math.min(MOMENT_MS, (MOST_PER_MOMENT * MOST_MS) / open);
    let left = MOST_PER_MOMENT * (1 + Math.floor(Math.max(0, now - dueAt) / momentMs));
    for (const each of waiting) {
      if (left === 0 || each.since + LEAST_MS > now) break;
      waiting.delete(each);
      each.handOver();
      left -= 1;
    }
    const [oldest] = waiting;
    timer = oldest && nextAfter(Math.max(momentMs, oldest.since + LEAST_MS - now));
  }

  function nextAfter(ms: number): NodeJS.Timeout {
    dueAt = performance.now() + ms;
    return setTimeout(next, ms);
  }

  function nextTurn(): void {
    const byTime = Math.floor((performance.now() - turnedAt) / 2);
    perTurn =
      entering.length === 0 ? LEAST_PER_TURN : Math.min(Math.max(LEAST_PER_TURN, byTime), MOST_PER_TURN);
    inTurn = 0;
    for (const enter of entering.splice(0, perTurn)) count(enter);
  }

  function count(enter: () => void): void {
    if (inTurn === 0) {
      turnedAt = performance.now();
      setImmediate(nextTurn);
    }
    inTurn += 1;
    enter();
  }

  return {
    opened: () => void (open += 1),
    closed: () => void (open -= 1),
    wait(handOver) {
      const each = { since: performance.now(), handOver };
      waiting.add(each);
      timer ??= nextAfter(LEAST_MS);
      return () => void waiting.delete(each);
    },
    turn: () =>
      new Promise((resolve) => {
        if (inTurn < perTurn) count(resolve);
        else entering.push(resolve);
      }),
  };
}
