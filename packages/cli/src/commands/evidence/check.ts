import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { leaf } from '../../parsing/command.ts';
import { EXIT, unusable } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { DIFF_ARGS } from './evidence-flags.ts';
import { shown } from '../../output/terminal-text.ts';

const MAX_BYTES = 512 * 1024 * 1024;

export const check = leaf({
  name: 'check',
  summary: 'Validate a v0 diff document: shape, values, order, bytes',
  examples: ['weft evidence check diff.json', 'weft evidence check diff.json --require clean --json'],
  args: {
    document: { type: 'positional', description: 'A diff, as JSON', required: true },
    require: DIFF_ARGS.require,
  },
  async run({ cli, args }) {
    const { check: checkDocument } = await import('@weft/evidence');
    const report = checkDocument(await readDocument(resolve(cli.io.cwd, args.document)));
    const isGood = report.problems.length === 0;
    if (cli.json) cli.io.stdout.write(`${JSON.stringify({ file: args.document, ok: isGood, ...report })}\n`);
    else if (isGood)
      cli.io.stdout.write(shown`${args.document}: a ${report.contract} diff v0, ${report.status}\n`);
    else {
      const table = renderTable(
        cli.style,
        [
          { title: 'PLACE', value: (problem) => problem.place || '(document)' },
          { title: 'FOUND', value: (problem) => problem.found },
          { title: 'NEEDED', value: (problem) => problem.needed },
        ],
        report.problems,
      );
      cli.io.stdout.write(`${table}\n`);
    }
    if (!isGood) return EXIT.unusable;
    return args.require === 'clean' && report.status !== 'clean' ? EXIT.unmet : EXIT.done;
  },
});

async function readDocument(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw unusable('too_large', `${path} has ${size} bytes; at most ${MAX_BYTES} are read.`);
    return await readFile(path);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw unusable('unreadable', `${path} cannot be read: ${error.message}`, error);
  }
}
