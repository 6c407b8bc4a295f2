import { resolve } from 'node:path';
import { leaf } from '../../parsing/command.ts';
import { EXIT } from '../../exit-code.ts';
import { DECLARED_ARGS, DIFF_ARGS, READ_ARGS, readOptions } from './evidence-flags.ts';

export const explain = leaf({
  name: 'explain',
  summary: 'Explain why a diff is not clean: every problem, what is needed, what is still usable',
  examples: [
    'weft evidence explain base.tar.gz head.tar.gz',
    'weft evidence explain a b --base-runtime s5_openai_agents --head-runtime gemini_google_genai ' +
      '--base-prefix /tmp/a/work/ --head-prefix /tmp/b/work/ --json',
  ],
  args: {
    base: { type: 'positional', description: 'Folder, .tar.gz or .tar of the base run', required: true },
    head: { type: 'positional', description: 'Folder, .tar.gz or .tar of the head run', required: true },
    ...DECLARED_ARGS,
    ...READ_ARGS,
    require: DIFF_ARGS.require,
  },
  async run({ cli, args }) {
    const { cross, diff, explain: explainProjection, explanationText } = await import('@weft/evidence');
    const { readRun } = await import('@weft/evidence/node');
    const declared = {
      baseRuntime: args['base-runtime'],
      headRuntime: args['head-runtime'],
      basePrefix: args['base-prefix'],
      headPrefix: args['head-prefix'],
    };
    const isCross = Object.values(declared).some((value) => value !== undefined);
    const options = readOptions(args);
    const base = await readRun(resolve(cli.io.cwd, args.base), {
      ...options,
      workDirPrefix: declared.basePrefix,
    });
    const head = await readRun(resolve(cli.io.cwd, args.head), {
      ...options,
      workDirPrefix: declared.headPrefix,
    });
    const explanation = explainProjection(isCross ? cross(base, head, declared) : diff(base, head));
    if (cli.json) cli.io.stdout.write(`${JSON.stringify(explanation)}\n`);
    else {
      const text = explanationText(explanation);
      cli.io.stdout.write(`${explanation.status}: ${explanation.summary}\n${text === '' ? '' : `${text}\n`}`);
    }
    if (explanation.status === 'failed') return EXIT.unusable;
    return args.require === 'clean' && explanation.status !== 'clean' ? EXIT.unmet : EXIT.done;
  },
});
