import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const revoke = leaf({
  name: 'revoke',
  summary: 'Revoke a key (permanent)',
  examples: ['weft keys revoke KEY-ID', 'weft keys revoke KEY-ID --tenant acme'],
  args: {
    key: { type: 'positional', description: 'Key id, as in weft keys ls', required: true },
    tenant: { type: 'string', valueHint: 'NAME', description: 'Tenant of the key (default your own)' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.keys.revoke(args.key, args.tenant);
    cli.io.stdout.write(
      shown`${cli.json ? JSON.stringify({ keyId: args.key, revoked: true }) : `${args.key}  revoked`}\n`,
    );
    return EXIT.done;
  },
});
