import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const rm = leaf({
  name: 'rm',
  summary: 'Remove a secret',
  examples: ['weft secrets rm openai', 'weft secrets rm github --user'],
  args: {
    id: { type: 'positional', description: 'As in weft secrets ls', required: true },
    user: { type: 'boolean', description: 'Your own secret, not the one of the tenant' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const scope = args.user === true ? 'user' : 'tenant';
    await client.secrets.remove(args.id, scope);
    const text = cli.json ? JSON.stringify({ id: args.id, scope, removed: true }) : `${args.id}  removed`;
    cli.io.stdout.write(shown`${text}\n`);
    return EXIT.done;
  },
});
