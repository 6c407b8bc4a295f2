import type { DeadLetter } from '@weft/sdk';
import type { Cli } from '../parsing/command.ts';
import { renderTable } from './table.ts';
import { agoText } from './time-text.ts';

/** As JSON line by line, or as a table. */
export async function printDeadLetters(cli: Cli, letters: AsyncIterable<DeadLetter>): Promise<void> {
  const found: DeadLetter[] = [];
  for await (const letter of letters) {
    if (cli.json) cli.io.stdout.write(`${JSON.stringify(letter)}\n`);
    else found.push(letter);
  }
  if (cli.json) return;
  if (found.length === 0) return void cli.io.stderr.write('No dead letters.\n');
  const now = Date.now();
  const table = renderTable<DeadLetter>(
    cli.style,
    [
      { title: 'LETTER', value: ({ id }) => id },
      { title: 'GIVEN UP', value: ({ at }) => agoText(at, now) },
      { title: 'ATTEMPTS', value: ({ attempts }) => String(attempts), align: 'right' },
      { title: 'REASON', value: ({ reason }) => reason },
      { title: 'MESSAGE', value: ({ message }) => message },
    ],
    found,
  );
  cli.io.stdout.write(`${table}\n`);
}
