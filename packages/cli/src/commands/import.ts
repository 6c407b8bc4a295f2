import type { ImportedRun } from '@weft/sdk';
import { readBundleFile } from '../bundle-file.ts';
import { type Cli, HOST_ARGS, leaf } from '../command.ts';
import { connect } from '../connection.ts';
import { EXIT } from '../exit-code.ts';

export const importBundle = leaf({
  name: 'import',
  summary: 'Make a bundle of any OpenWOP host a run here, to look at, compare and fork',
  examples: ['weft import failed-order.json', 'weft import run.bundle.json.gz --json'],
  args: {
    file: { type: 'positional', description: 'A debug bundle, plain or gzipped', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const bundle = await readBundleFile(cli.io.cwd, args.file);
    const { client } = await connect(cli.io, args);
    const run = await client.imports.create(bundle);
    if (cli.json) cli.io.stdout.write(`${JSON.stringify(run)}\n`);
    else tell(cli, run);
    return EXIT.done;
  },
});

function tell({ io, style }: Cli, run: ImportedRun): void {
  const what = [
    run.status,
    run.truncated ? `the first ${run.events} of ${run.totalEvents} events` : `${run.events} events`,
    run.verified ? 'digest checked' : 'unverified',
    ...(run.created ? [] : ['imported before']),
  ].join(', ');
  io.stdout.write(`${run.runId}  ${style.dim(what)}\n`);
  if (run.definition === 'present') return;
  const why =
    run.definition === 'missing'
      ? 'Its workflow did not come along and is not registered here'
      : 'Its workflow cannot be run by this host';
  io.stderr.write(`${why}: the run can be shown and compared; to fork it, name a registered version.\n`);
}
