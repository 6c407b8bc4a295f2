import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { readSecretValue } from './read-value.ts';
import { shown } from '../../output/terminal-text.ts';

export const set = leaf({
  name: 'set',
  summary: 'Store a secret for nodes; its value is typed, piped in or read from a variable',
  examples: [
    'weft secrets set openai',
    'weft secrets set openai --from-env OPENAI_API_KEY',
    'pass show github | weft secrets set github --user',
  ],
  args: {
    id: { type: 'positional', description: 'The name nodes use', required: true },
    'from-env': { type: 'string', valueHint: 'NAME', description: 'Read the value from this variable' },
    user: { type: 'boolean', description: 'Your own secret; used before the one of the tenant' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const value = await readSecretValue(cli.io, args['from-env'], process.stdin);
    const { client } = await connect(cli.io, args);
    const scope = args.user === true ? 'user' : 'tenant';
    const secret = await client.secrets.set({ id: args.id, value, scope });
    cli.io.stdout.write(
      shown`${cli.json ? JSON.stringify(secret) : `${secret.id}  set for the ${secret.scope}`}\n`,
    );
    return EXIT.done;
  },
});
