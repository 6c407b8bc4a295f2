/** Reads one subscriber's frames out of what its socket brings, in whatever pieces, and checks that the ids have no gap. */
export interface StreamReader {
  take(text: string, now: number): void;
  readonly counts: StreamCounts;
}

export interface StreamCounts {
  received: number;
  lost: number;
  repeated: number;
  isOver: boolean;
}

export interface Seen {
  readonly seq: number;
  /** Milliseconds since the epoch, as the event says. */
  readonly at: number;
  readonly receivedAt: number;
}

const ID = /(?:^|\n)id: ?(\d+)\n/;
const TERMINAL = /\nevent: ?run\.(?:completed|failed|cancelled)\n/;
const TIME = /"timestamp":"([^"]+)"/;

/** `onEvent` is called for every frame with an id. */
export function createStreamReader(onEvent: (seen: Seen) => void): StreamReader {
  const counts: StreamCounts = { received: 0, lost: 0, repeated: 0, isOver: false };
  let rest = '';
  let next = 0;

  function takeFrame(frame: string, now: number): void {
    const id = ID.exec(frame)?.[1];
    if (id === undefined) return;
    const seq = Number(id);
    counts.received += 1;
    if (seq < next) counts.repeated += 1;
    else {
      counts.lost += seq - next;
      next = seq + 1;
    }
    if (TERMINAL.test(frame)) counts.isOver = true;
    onEvent({ seq, at: timeOf(TIME.exec(frame)?.[1] ?? ''), receivedAt: now });
  }

  return {
    counts,
    take(text, now) {
      rest += text;
      let from = 0;
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n', from)) {
        takeFrame(rest.slice(from, end + 1), now);
        from = end + 2;
      }
      rest = rest.slice(from);
    },
  };
}

let lastText = '';
let lastTime = Number.NaN;

/** A thousand subscribers see the same time in a row; it is parsed once. */
function timeOf(text: string): number {
  if (text !== lastText) {
    lastText = text;
    lastTime = Date.parse(text);
  }
  return lastTime;
}
