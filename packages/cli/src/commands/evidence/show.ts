import { resolve } from 'node:path';
import { leaf } from '../../parsing/command.ts';
import { EXIT } from '../../exit-code.ts';
import { renderFields } from '../../output/table.ts';
import { READ_ARGS, readOptions } from './evidence-flags.ts';
import { visibleText } from '../../output/terminal-text.ts';
import { countText } from '../../output/count-text.ts';

export const show = leaf({
  name: 'show',
  summary: 'Show one run: observation quality, counts, and problems of its files',
  examples: ['weft evidence show run.tar.gz', 'weft evidence show runs/monday --json'],
  args: {
    run: { type: 'positional', description: 'Folder, .tar.gz or .tar of a run', required: true },
    ...READ_ARGS,
  },
  async run({ cli, args }) {
    const { show: summarize } = await import('@weft/evidence');
    const { readRun } = await import('@weft/evidence/node');
    const evidence = await readRun(resolve(cli.io.cwd, args.run), readOptions(args));
    const summary = summarize(evidence);
    const isFailed = summary.problems.some((problem) => problem.effect === 'failed');
    if (cli.json) {
      cli.io.stdout.write(`${JSON.stringify(summary)}\n`);
      return isFailed ? EXIT.unusable : EXIT.done;
    }
    const { health, surface, correlation, sdk } = summary;
    const fields: [string, string | undefined][] = [
      ['run', summary.run_id],
      ['health', health && (health.clean ? 'clean' : 'not clean')],
      ...Object.entries(health?.fields ?? {}).map(([name, value]): [string, string] => [
        `  ${name}`,
        String(value),
      ]),
      ...Object.entries(surface ?? {}).map(([name, count]): [string, string] => [
        name,
        countText(count, 'value'),
      ]),
      [
        'correlation',
        correlation &&
          `${correlation.clean ? 'clean' : 'not clean'}, ${countText(correlation.bindings, 'binding')}`,
      ],
      [
        'sdk',
        sdk && `${sdk.sdk_name ?? 'unknown'} ${sdk.sdk_version ?? ''} (${countText(sdk.events, 'event')})`,
      ],
      ['work dir hint', summary.prefix_hint],
      ...summary.problems.map((problem): [string, string] => [
        problem.effect,
        `${problem.file} ${problem.field}: found ${problem.found}; needed ${problem.needed}`,
      ]),
    ];
    const shown = fields.map(
      ([name, value]) => [name, value === undefined ? undefined : visibleText(value)] as const,
    );
    cli.io.stdout.write(`${renderFields(cli.style, shown)}\n`);
    return isFailed ? EXIT.unusable : EXIT.done;
  },
});
