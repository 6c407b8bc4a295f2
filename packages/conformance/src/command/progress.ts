import type { CheckResult } from '../suite/outcome.ts';

export interface Progress {
  begin(id: string): void;
  end(result: CheckResult): void;
  done(): void;
}

const WIDTH = 76;

interface Terminal {
  readonly stderr: { write(text: string): unknown };
  readonly isTTY: boolean;
}

/** On a terminal one line that is written over; elsewhere a line for each tenth, and for each failure. */
export function showProgress({ stderr, isTTY }: Terminal, total: number): Progress {
  let finished = 0;
  let failed = 0;
  let lastTenth = 0;
  const line = (text: string): void => void stderr.write(`\r${text.slice(0, WIDTH).padEnd(WIDTH)}`);
  return {
    begin(id) {
      if (isTTY) line(`[${finished}/${total}] ${id}`);
    },
    end({ id, outcome, reason = '' }) {
      finished += 1;
      const tenth = Math.floor((finished / total) * 10);
      if (outcome === 'failed' || outcome === 'broken') {
        failed += 1;
        if (isTTY) line('');
        stderr.write(`${isTTY ? '\r' : ''}${outcome} ${id}: ${reason}\n`);
      }
      if (!isTTY && tenth > lastTenth) stderr.write(`${finished} of ${total} checks, ${failed} failed\n`);
      lastTenth = tenth;
    },
    done() {
      if (isTTY) stderr.write(`\r${' '.repeat(WIDTH)}\r`);
    },
  };
}
