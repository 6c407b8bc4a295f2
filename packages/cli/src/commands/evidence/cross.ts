import { resolve } from 'node:path';
import { leaf } from '../../parsing/command.ts';
import { DECLARED_ARGS, DIFF_ARGS, outputPath, readOptions } from './evidence-flags.ts';

export const cross = leaf({
  name: 'cross',
  summary: 'Compare two runs of two runtimes (cross-runtime diff v0)',
  examples: [
    'weft evidence cross s5.tar.gz gemini.tar.gz --base-runtime s5_openai_agents --head-runtime gemini_google_genai ' +
      '--base-prefix /tmp/a/work/ --head-prefix /tmp/b/work/',
  ],
  args: {
    base: { type: 'positional', description: 'Folder, .tar.gz or .tar of the base run', required: true },
    head: { type: 'positional', description: 'Folder, .tar.gz or .tar of the head run', required: true },
    ...DECLARED_ARGS,
    ...DIFF_ARGS,
  },
  async run({ cli, args }) {
    const { cross: projectCross } = await import('@weft/evidence');
    const { readRun } = await import('@weft/evidence/node');
    const { deliver } = await import('./deliver.ts');
    const paths = [args.base, args.head].map((path) => resolve(cli.io.cwd, path)) as [string, string];
    const output = await outputPath(cli.io, '--output', args.output, paths);
    const html = await outputPath(cli.io, '--html', args.html, paths);
    const isView = args.view === true || (cli.io.isTTY && !cli.json && output === undefined);
    const declared = {
      baseRuntime: args['base-runtime'],
      headRuntime: args['head-runtime'],
      basePrefix: args['base-prefix'],
      headPrefix: args['head-prefix'],
    };
    // Reports show values as observed too; the document alone does not need them.
    const options = { ...readOptions(args), keepRawPaths: isView || html !== undefined };
    const base = await readRun(paths[0], { ...options, workDirPrefix: declared.basePrefix });
    const head = await readRun(paths[1], { ...options, workDirPrefix: declared.headPrefix });
    return deliver(cli, projectCross(base, head, declared), [base, head], {
      output,
      html,
      isView,
      isCleanRequired: args.require === 'clean',
      emitsFailed: args['emit-failed'] === true,
    });
  },
});
