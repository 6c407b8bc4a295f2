import type { Sink } from '../io.ts';

/** As much of a terminal as the live view uses: lines that wrap and scroll, and a cursor that moves up. */
export interface Screen extends Sink {
  /** What a person sees, without empty lines at the end. */
  visible(): string[];
  /** What has left at the top. */
  scrollback(): string[];
}

const TOKEN = /\u001B\[(\d*)([A-Za-z])|\n|[^\u001B\n]/gu;

export function createScreen(columns: number, rows: number): Screen {
  const lines = [''];
  let top = 0;
  let row = 0;
  let column = 0;

  function newLine(): void {
    row += 1;
    column = 0;
    if (row === lines.length) lines.push('');
    top = Math.max(top, row - rows + 1);
  }

  function put(character: string): void {
    if (column === columns) newLine();
    const line = lines[row] ?? '';
    lines[row] = line.slice(0, column).padEnd(column) + character + line.slice(column + 1);
    column += 1;
  }

  function move(letter: string, count: number): void {
    if (letter === 'A') row = Math.max(top, row - count);
    if (letter === 'G') column = 0;
    if (letter === 'J') {
      lines[row] = (lines[row] ?? '').slice(0, column);
      lines.length = row + 1;
    }
  }

  return {
    write(text: string) {
      for (const [token, count, letter] of text.matchAll(TOKEN)) {
        if (letter !== undefined) move(letter, Number(count === '' ? 1 : count));
        else if (token === '\n') newLine();
        else put(token);
      }
    },
    visible: () =>
      lines
        .slice(top)
        .join('\n')
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd()),
    scrollback: () => lines.slice(0, top),
  };
}
