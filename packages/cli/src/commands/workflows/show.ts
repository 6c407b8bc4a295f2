import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { meantWorkflow } from './find-workflow.ts';

export const show = leaf({
  name: 'show',
  summary: 'Print a registered definition',
  examples: [
    'weft workflows show order-fulfilment',
    'weft workflows show order-fulfilment --version 1.0.0',
    'weft workflows show order-fulfilment --json > order.json',
  ],
  args: {
    workflow: { type: 'positional', description: 'Workflow id', required: true },
    version: { type: 'string', valueHint: 'V', description: 'This version instead of the current one' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const definition = await client.workflows
      .get(args.workflow, args.version)
      .catch(async (error: unknown) => {
        throw await meantWorkflow(client, error, { id: args.workflow, verb: 'workflows show' });
      });
    cli.io.stdout.write(`${cli.json ? JSON.stringify(definition) : JSON.stringify(definition, null, 2)}\n`);
    return EXIT.done;
  },
});
