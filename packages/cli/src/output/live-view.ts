import type { Io } from '../io.ts';
import { control, isControl, splitAtControls } from './terminal-text.ts';

export const DEFAULT_ROWS = 24;

/** A block of lines at the bottom of the terminal that is drawn over itself. */
export interface LiveView {
  draw(text: string): void;
  /** Writes lines that stay, uncut, above the block, which is drawn again below them. */
  say(text: string): void;
  /** Leaves the last drawing in place and the cursor below it. */
  end(): void;
}

export function createLiveView(io: Io): LiveView {
  let height = 0;
  let last = '';
  /** Back to where the block begins, with nothing below. */
  const start = (): string => (height === 0 ? '' : control(`[${height}A`)) + LINE_START + control('[J');
  return {
    draw(text) {
      if (text === last) return;
      last = text;
      const width = io.columns ?? 80;
      // What has left the screen at the top cannot be drawn over; the cursor needs the last line.
      const room = Math.max(1, (io.rows ?? DEFAULT_ROWS) - 1);
      const lines = text
        .split('\n')
        .slice(0, room)
        .map((line) => cut(line, width));
      io.stdout.write(`${start()}${lines.join('\n')}\n`);
      height = lines.length;
    },
    say(text) {
      io.stdout.write(`${start()}${text}\n`);
      height = 0;
      last = '';
    },
    end() {
      height = 0;
      last = '';
    },
  };
}

const LINE_START = control('[G');

/** A wrapped line would break the count of lines to go up; colour codes take no room. */
export function cut(line: string, width: number): string {
  let seen = 0;
  let result = '';
  for (const part of splitAtControls(line)) {
    if (isControl(part)) {
      result += part;
      continue;
    }
    const room = Math.max(0, width - seen);
    result += part.slice(0, room);
    seen += part.length;
  }
  return result;
}
