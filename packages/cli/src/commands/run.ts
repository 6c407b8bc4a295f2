import { connect } from '../connecting/connection.ts';
import { HOST_ARGS, leaf } from '../parsing/command.ts';
import { EXIT } from '../exit-code.ts';
import { asDeclared, refuseUndeclared } from '../parsing/declared-inputs.ts';
import { readGivenValues, readKeyValues } from '../parsing/key-values.ts';
import { watchRun } from '../output/watch-run.ts';
import { shown } from '../output/terminal-text.ts';
import { shellCommand } from '../output/shell-command.ts';
import { meantWorkflow, shownDefinition } from './workflows/find-workflow.ts';

export const run = leaf({
  name: 'run',
  summary: 'Start a run of a workflow',
  examples: [
    'weft run order-fulfilment --input orderId=A-17 --input quantity=2 --watch',
    'weft run batch-totals --input @inputs.json --tag nightly',
    'weft run reminder --input delayMs=500 --idempotency-key monday --json',
    'weft run reminder --version 1.0.0',
  ],
  args: {
    workflow: { type: 'positional', description: 'Workflow id', required: true },
    input: {
      type: 'string',
      alias: 'i',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'An input; JSON is parsed unless the workflow declares a string; may be repeated',
    },
    set: {
      type: 'string',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'Set a key of configurable, such as recursionLimit=500; may be repeated',
    },
    version: { type: 'string', valueHint: 'V', description: 'Run this version instead of the current one' },
    'allow-undeclared': {
      type: 'boolean',
      description: 'Pass inputs that the workflow does not declare, too',
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
    const given = await readGivenValues('input', all('input'), io.cwd);
    let inputs = given.values;
    const configurable = {
      ...(await readKeyValues('set', all('set'), io.cwd)),
      ...(args.version !== undefined && { 'weft.workflowVersion': args.version }),
    };
    const tags = all('tag');
    const { client } = await connect(io, args);
    if (Object.keys(inputs).length > 0) {
      const definition = await shownDefinition(client, args.workflow, args.version);
      if (definition !== undefined) inputs = asDeclared(definition, given);
      if (definition !== undefined && args['allow-undeclared'] !== true) refuseUndeclared(definition, inputs);
    }
    const idempotencyKey = args['idempotency-key'];
    const request = {
      workflowId: args.workflow,
      inputs,
      ...(Object.keys(configurable).length === 0 ? {} : { configurable }),
      ...(tags.length === 0 ? {} : { tags }),
    };
    const created = await client.runs
      .create(request, idempotencyKey === undefined ? {} : { idempotencyKey })
      .catch(async (error: unknown) => {
        throw await meantWorkflow(client, error, { id: args.workflow, verb: 'run' });
      });
    const ignored = created.weft?.ignoredInputs;
    if (!cli.json && ignored !== undefined)
      io.stderr.write(shown`Ignored, because the workflow does not declare it: ${ignored.join(', ')}\n`);
    if (args.watch === true) return watchRun(cli, client, created.runId);
    io.stdout.write(shown`${cli.json ? JSON.stringify(created) : created.runId}\n`);
    if (!cli.json)
      io.stderr.write(shown`Watch it: ${shellCommand('runs events', [created.runId], '--follow')}\n`);
    return EXIT.done;
  },
});
