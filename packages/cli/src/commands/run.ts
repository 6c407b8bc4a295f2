import { connect } from '../connecting/connection.ts';
import { HOST_ARGS, leaf } from '../parsing/command.ts';
import { EXIT } from '../exit-code.ts';
import { readKeyValues } from '../parsing/key-values.ts';
import { watchRun } from '../output/watch-run.ts';
import { shown } from '../output/terminal-text.ts';
import { shellCommand } from '../output/shell-command.ts';

export const run = leaf({
  name: 'run',
  summary: 'Start a run of a workflow',
  examples: [
    'weft run order-fulfilment --input orderId=A-17 --input quantity=2 --watch',
    'weft run batch-totals --input @inputs.json --tag nightly',
    'weft run reminder --input delayMs=500 --idempotency-key monday --json',
  ],
  args: {
    workflow: { type: 'positional', description: 'Workflow id', required: true },
    input: {
      type: 'string',
      alias: 'i',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'An input; JSON values are parsed; may be repeated',
    },
    set: {
      type: 'string',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'Set a key of configurable, such as recursionLimit=500; may be repeated',
    },
    tag: {
      type: 'string',
      alias: 't',
      valueHint: 'TAG',
      description: 'A tag to find the run by; may be repeated',
    },
    'idempotency-key': {
      type: 'string',
      valueHint: 'KEY',
      description: 'Repeating the command with this key returns the same run',
    },
    watch: {
      type: 'boolean',
      alias: 'w',
      description: 'Follow the run to its end; the exit code is its outcome',
    },
    ...HOST_ARGS,
  },
  moved: { config: 'weft run has no --config. Keys of configurable are given with --set NAME=VALUE.' },
  async run({ cli, args, all }) {
    const { io } = cli;
    const inputs = await readKeyValues('input', all('input'), io.cwd);
    const configurable = await readKeyValues('set', all('set'), io.cwd);
    const tags = all('tag');
    const { client } = await connect(io, args);
    const idempotencyKey = args['idempotency-key'];
    const created = await client.runs.create(
      {
        workflowId: args.workflow,
        inputs,
        ...(Object.keys(configurable).length === 0 ? {} : { configurable }),
        ...(tags.length === 0 ? {} : { tags }),
      },
      idempotencyKey === undefined ? {} : { idempotencyKey },
    );
    if (args.watch === true) return watchRun(cli, client, created.runId);
    io.stdout.write(shown`${cli.json ? JSON.stringify(created) : created.runId}\n`);
    if (!cli.json)
      io.stderr.write(shown`Watch it: ${shellCommand('runs events', [created.runId], '--follow')}\n`);
    return EXIT.done;
  },
});
