import { resolve } from 'node:path';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { readJsonFile } from '../../parsing/key-values.ts';
import { shown } from '../../output/terminal-text.ts';
import { shellCommand } from '../../output/shell-command.ts';

export const register = leaf({
  name: 'register',
  summary: 'Register a definition with the host',
  examples: ['weft workflows register examples/workflows/order-fulfilment.json'],
  args: { file: { type: 'positional', description: 'Definition, as JSON', required: true }, ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    const definition = await readJsonFile(resolve(io.cwd, args.file));
    const { client } = await connect(io, args);
    const registration = await client.workflows.register(definition);
    if (cli.json) io.stdout.write(`${JSON.stringify(registration)}\n`);
    else {
      const what = registration.created ? 'registered' : 'already registered, nothing changed';
      io.stdout.write(shown`${registration.id}@${registration.version}  ${what}\n`);
      for (const warning of registration.warnings)
        io.stderr.write(shown`warning: ${warning.message} (${warning.path})\n`);
      io.stderr.write(shown`Run it: ${shellCommand('run', [registration.id], '--watch')}\n`);
    }
    return EXIT.done;
  },
});
