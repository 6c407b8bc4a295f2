import { HOST_ARGS, leaf } from '../../command.ts';
import { connect } from '../../connection.ts';
import { EXIT } from '../../exit-code.ts';

export const revoke = leaf({
  name: 'revoke',
  summary: 'End a key for good',
  examples: ['weft keys revoke KEY-ID'],
  args: {
    key: { type: 'positional', description: 'Key id, as in weft keys ls', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.keys.revoke(args.key);
    cli.io.stdout.write(
      `${cli.json ? JSON.stringify({ keyId: args.key, revoked: true }) : `${args.key}  revoked`}\n`,
    );
    return EXIT.done;
  },
});
