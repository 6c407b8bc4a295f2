import type { Io } from '../io.ts';

/** A block of lines at the bottom of the terminal that is drawn over itself. */
export interface LiveView {
  draw(text: string): void;
  /** Writes lines that stay, uncut, above the block, which is drawn anew below them. */
  say(text: string): void;
  /** Leaves the last drawing in place and the cursor below it. */
  end(): void;
}

export function createLiveView(io: Io): LiveView {
  let height = 0;
  let last = '';
  return {
    draw(text) {
      if (text === last) return;
      last = text;
      const width = io.columns ?? 80;
      const lines = text.split('\n').map((line) => cut(line, width));
      const up = height === 0 ? '' : `\u001B[${height}A`;
      io.stdout.write(`${up}\r\u001B[J${lines.join('\n')}\n`);
      height = lines.length;
    },
    say(text) {
      const up = height === 0 ? '' : `\u001B[${height}A`;
      io.stdout.write(`${up}\r\u001B[J${text}\n`);
      height = 0;
      last = '';
    },
    end() {
      height = 0;
      last = '';
    },
  };
}

/** A wrapped line would break the count of lines to go up; colour codes take no room. */
export function cut(line: string, width: number): string {
  let seen = 0;
  let result = '';
  for (const part of line.split(/(\u001B\[\d+m)/)) {
    if (part.startsWith('\u001B')) {
      result += part;
      continue;
    }
    const room = Math.max(0, width - seen);
    result += part.slice(0, room);
    seen += part.length;
  }
  return result;
}
