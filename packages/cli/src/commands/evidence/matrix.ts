import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { MatrixRun } from '@weft/evidence';
import { leaf } from '../../parsing/command.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { outputPath, READ_ARGS, readOptions } from './evidence-flags.ts';

const VIEW_LIMIT = 200;

export const matrix = leaf({
  name: 'matrix',
  summary: 'Compare many runs: which values are stable in a runtime, which vary',
  examples: [
    'weft evidence matrix runs/monday runs/tuesday runs/wednesday',
    'weft evidence matrix a1 a2 b1 --runtime s5_openai_agents --runtime s5_openai_agents --runtime gemini_google_genai ' +
      '--prefix /tmp/a1/work/ --prefix /tmp/a2/work/ --prefix /tmp/b1/work/ --cells cells',
  ],
  args: {
    run: {
      type: 'positional',
      description: 'Folder, .tar.gz or .tar of a run; give several',
      required: true,
    },
    runtime: {
      type: 'string',
      valueHint: 'ID',
      description: 'Runtime; once for all runs, or once per run in order',
    },
    prefix: {
      type: 'string',
      valueHint: 'DIR/',
      description: 'Work dir; once for all runs, or once per run in order',
    },
    cells: {
      type: 'string',
      valueHint: 'DIR',
      description: 'Write the v0 diff of every pair into this folder',
    },
    output: { type: 'string', alias: 'o', valueHint: 'FILE', description: 'Write the matrix here as JSON' },
    ...READ_ARGS,
  },
  variadic: true,
  async run({ cli, args, all }) {
    const { matrix: compareAll, matrixDocument, matrixText, renderDiff } = await import('@weft/evidence');
    const { readRun } = await import('@weft/evidence/node');
    const { writeText } = await import('./deliver.ts');
    const given = args._;
    if (given.length < 2) throw usageError('weft evidence matrix needs at least two runs.');
    const paths = given.map((label) => resolve(cli.io.cwd, label));
    const runtimes = spread('--runtime', all('runtime'), given.length);
    const prefixes = spread('--prefix', all('prefix'), given.length);
    const output = await outputPath(cli.io, '--output', args.output, paths);
    const cells = await outputPath(cli.io, '--cells', args.cells, paths);
    const runs: MatrixRun[] = [];
    for (const [index, path] of paths.entries()) {
      const options = { ...readOptions(args), workDirPrefix: prefixes[index], keepRawPaths: true };
      runs.push({
        label: given[index] ?? path,
        runtime: runtimes[index],
        evidence: await readRun(path, options),
      });
    }
    const result = compareAll(runs);
    if (cells !== undefined) {
      await mkdir(cells, { recursive: true });
      for (const cell of result.cells)
        writeText(join(cells, `${cell.base}-${cell.head}.json`), renderDiff(cell.projection.diff));
    }
    const document = (): string => `${JSON.stringify(matrixDocument(result))}\n`;
    if (output !== undefined) writeText(output, document());
    if (cli.json) cli.io.stdout.document(document());
    else if (output === undefined) cli.io.stdout.write(`${matrixText(result, VIEW_LIMIT)}\n`);
    return result.groups.length === 0 ? EXIT.unusable : EXIT.done;
  },
});

/** One value for every run, one for each, or none. */
function spread(flag: string, values: readonly string[], count: number): (string | undefined)[] {
  if (values.length !== 0 && values.length !== 1 && values.length !== count)
    throw usageError(
      `${flag} is given ${values.length} times for ${count} runs; give it once, or once per run.`,
    );
  return Array.from({ length: count }, (_, index) => (values.length === 1 ? values[0] : values[index]));
}
