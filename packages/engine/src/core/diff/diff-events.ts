import { isSameEvent, type LogEvent } from './same-event.ts';

/**
 * The differences of two logs, one by one, while the logs are read.
 *
 * E-28. Alignment is by sequence and nothing else: after an insertion everything that follows differs.
 * E-29. Differences come in ascending order of sequence, at most one per sequence.
 * E-30. The same two logs give the same differences, however they are cut into pages.
 * E-31. Memory holds one page of each log, whatever their lengths.
 */

/** A log in pages, ascending by sequence. */
export type LogPages = AsyncIterable<readonly LogEvent[]>;

/** Events are wire documents, as JSON text. */
export type EventDifference =
  | { readonly seq: number; readonly op: 'removed'; readonly aEvent: string }
  | { readonly seq: number; readonly op: 'added'; readonly bEvent: string }
  | { readonly seq: number; readonly op: 'changed'; readonly aEvent: string; readonly bEvent: string };

export async function* diffEvents(
  a: LogPages,
  b: LogPages,
): AsyncGenerator<EventDifference, void, undefined> {
  const left = readerOf(a);
  const right = readerOf(b);
  try {
    for (;;) {
      if (left.isSpent() || right.isSpent()) await Promise.all([left.refill(), right.refill()]);
      const difference = nextDifference(left, right);
      if (difference !== undefined) yield difference;
      else if (left.isOver() && right.isOver()) return;
    }
  } finally {
    await Promise.allSettled([left.close(), right.close()]);
  }
}

export interface Divergence {
  /** Sequence of the first difference; null when there is none. */
  readonly divergedAtSeq: number | null;
  /** All of them, the first included. */
  readonly differences: AsyncIterable<EventDifference>;
}

/** Reads both logs up to their first difference, so that a response can begin with where it is. */
export async function findDivergence(a: LogPages, b: LogPages): Promise<Divergence> {
  const rest = diffEvents(a, b);
  const first = await rest.next();
  if (first.done === true) return { divergedAtSeq: null, differences: rest };
  return { divergedAtSeq: first.value.seq, differences: startingWith(first.value, rest) };
}

async function* startingWith(
  first: EventDifference,
  rest: AsyncGenerator<EventDifference, void, undefined>,
): AsyncGenerator<EventDifference, void, undefined> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/** Undefined when a page is used up first. */
function nextDifference(left: LogReader, right: LogReader): EventDifference | undefined {
  while (!left.isSpent() && !right.isSpent()) {
    const a = left.peek();
    const b = right.peek();
    if (a !== undefined && (b === undefined || a.seq < b.seq)) {
      left.skip();
      return { seq: a.seq, op: 'removed', aEvent: a.document };
    }
    if (b !== undefined && (a === undefined || b.seq < a.seq)) {
      right.skip();
      return { seq: b.seq, op: 'added', bEvent: b.document };
    }
    if (a === undefined || b === undefined) return undefined;
    left.skip();
    right.skip();
    if (!isSameEvent(a, b)) return { seq: a.seq, op: 'changed', aEvent: a.document, bEvent: b.document };
  }
  return undefined;
}

interface LogReader {
  /** The next event; undefined at the end of the log, or of the page. */
  peek(): LogEvent | undefined;
  skip(): void;
  /** True when the page is used up and there may be another. */
  isSpent(): boolean;
  isOver(): boolean;
  /** Does nothing unless the page is used up. */
  refill(): Promise<void>;
  close(): Promise<unknown>;
}

function readerOf(pages: LogPages): LogReader {
  const source = pages[Symbol.asyncIterator]();
  let page: readonly LogEvent[] = [];
  let index = 0;
  let over = false;
  const isSpent = (): boolean => !over && index >= page.length;
  return {
    peek: () => page[index],
    skip() {
      index += 1;
    },
    isSpent,
    isOver: () => over,
    async refill() {
      while (isSpent()) {
        const next = await source.next();
        index = 0;
        page = next.done === true ? [] : next.value;
        if (next.done === true) over = true;
      }
    },
    close: () => Promise.resolve(source.return?.()),
  };
}
