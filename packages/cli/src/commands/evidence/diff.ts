import { resolve } from 'node:path';
import { leaf } from '../../parsing/command.ts';
import { DIFF_ARGS, outputPath, readOptions } from './evidence-flags.ts';

export const diff = leaf({
  name: 'diff',
  summary: 'Compare two runs of one runtime (capability diff v0)',
  examples: [
    'weft evidence diff runs/monday runs/tuesday.tar.gz',
    'weft evidence diff base.tar.gz head.tar.gz --output diff.json --html diff.html --require clean',
  ],
  args: {
    base: { type: 'positional', description: 'Folder, .tar.gz or .tar of the base run', required: true },
    head: { type: 'positional', description: 'Folder, .tar.gz or .tar of the head run', required: true },
    ...DIFF_ARGS,
  },
  async run({ cli, args }) {
    const { diff: projectDiff } = await import('@weft/evidence');
    const { readRun } = await import('@weft/evidence/node');
    const { deliver } = await import('./deliver.ts');
    const paths = [args.base, args.head].map((path) => resolve(cli.io.cwd, path)) as [string, string];
    const output = await outputPath(cli.io, '--output', args.output, paths);
    const html = await outputPath(cli.io, '--html', args.html, paths);
    const options = readOptions(args);
    const base = await readRun(paths[0], options);
    const head = await readRun(paths[1], options);
    return deliver(cli, projectDiff(base, head), [base, head], {
      output,
      html,
      isView: args.view === true || (cli.io.isTTY && !cli.json && output === undefined),
      isCleanRequired: args.require === 'clean',
      emitsFailed: args['emit-failed'] === true,
    });
  },
});
