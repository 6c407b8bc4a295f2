import { resolve } from 'node:path';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { readJsonFile } from '../../parsing/key-values.ts';
import { TRIGGER_ARG } from './trigger-arg.ts';

export const test = leaf({
  name: 'test',
  summary: 'Show the inputs that a delivery would start a run with; starts nothing',
  examples: ['weft triggers test TRIGGER-ID payload.json'],
  args: {
    trigger: TRIGGER_ARG,
    file: { type: 'positional', description: 'The body of a delivery, as JSON', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const body = await readJsonFile(resolve(cli.io.cwd, args.file));
    const { client } = await connect(cli.io, args);
    const { inputs } = await client.triggers.test(args.trigger, { body });
    cli.io.stdout.write(`${cli.json ? JSON.stringify(inputs) : JSON.stringify(inputs, null, 2)}\n`);
    return EXIT.done;
  },
});
