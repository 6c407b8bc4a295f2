/**
 * What is on its way to the host: results, text, progress, logs, tasks handed back. Each piece is turned into JSON once, when it arises;
 * a report joins them.
 *
 * V-1. Of one task, no two reports are on their way at the same time: its text arrives in order, and before its result.
 */

export type Section = 'results' | 'chunks' | 'progress' | 'logs' | 'returned';

export interface Piece {
  readonly section: Section;
  /** A JSON document. */
  readonly text: string;
}

/** Of one task. */
export interface Sender {
  readonly ref: string;
  /** Waiting to be sent, in order. */
  waiting: Piece[];
  /** Sent and not yet answered. */
  sent: readonly Piece[];
}

export interface Report {
  readonly senders: readonly Sender[];
  readonly body: string;
}

const MOST_PIECES = 1_000;
/** Three bytes each at most: less than a host takes in one request. */
const MOST_CHARACTERS = 256 * 1024;

export interface Outgoing {
  add(sender: Sender, piece: Piece): void;
  /** The next report; undefined when nothing can be sent now. */
  take(): Report | undefined;
  /** It has arrived. */
  settle(report: Report): void;
  /** It has not: what it held is sent again, in the same order. */
  giveBack(report: Report): void;
  /** It is too large for the host, or holds something that it refuses: with fewer tasks. False: there is only one. */
  giveBackSmaller(report: Report): boolean;
  /** Of this task nothing more is sent. */
  forget(sender: Sender): void;
  readonly isEmpty: boolean;
}

export function createOutgoing(): Outgoing {
  const ready = new Set<Sender>();
  let mostSenders = MOST_PIECES;

  function release(sender: Sender): void {
    sender.sent = [];
    if (sender.waiting.length > 0) ready.add(sender);
  }

  function giveBack({ senders }: Report): void {
    for (const sender of senders) {
      sender.waiting = [...sender.sent, ...sender.waiting];
      release(sender);
    }
  }

  return {
    get isEmpty() {
      return ready.size === 0;
    },
    add(sender, piece) {
      sender.waiting.push(piece);
      if (sender.sent.length === 0) ready.add(sender);
    },
    take() {
      const senders: Sender[] = [];
      const sections = new Map<Section, string[]>();
      let pieces = 0;
      let characters = 0;
      for (const sender of ready) {
        const count = fitting(sender.waiting, MOST_PIECES - pieces, MOST_CHARACTERS - characters);
        // One piece may be larger than a report should be.
        const taken = sender.waiting.splice(0, senders.length === 0 ? Math.max(count, 1) : count);
        if (taken.length === 0) break;
        for (const { section, text } of taken) {
          const texts = sections.get(section);
          if (texts === undefined) sections.set(section, [text]);
          else texts.push(text);
          characters += text.length;
        }
        pieces += taken.length;
        sender.sent = taken;
        senders.push(sender);
        ready.delete(sender);
        if (senders.length >= mostSenders) break;
      }
      return senders.length === 0 ? undefined : { senders, body: bodyOf(sections) };
    },
    settle({ senders }) {
      mostSenders = Math.min(MOST_PIECES, mostSenders * 2);
      for (const sender of senders) release(sender);
    },
    giveBack,
    giveBackSmaller(report) {
      if (report.senders.length === 1) return false;
      mostSenders = Math.ceil(report.senders.length / 2);
      giveBack(report);
      return true;
    },
    forget(sender) {
      sender.waiting = [];
      sender.sent = [];
      ready.delete(sender);
    },
  };
}

/** How many of the first pieces there is room for. */
function fitting(pieces: readonly Piece[], room: number, characters: number): number {
  let count = 0;
  let left = characters;
  for (const { text } of pieces) {
    left -= text.length;
    if (count === room || left < 0) break;
    count += 1;
  }
  return count;
}

function bodyOf(sections: ReadonlyMap<Section, readonly string[]>): string {
  return `{${Array.from(sections, ([name, texts]) => `"${name}":[${texts.join(',')}]`).join(',')}}`;
}
