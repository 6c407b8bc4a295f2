import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const secret = leaf({
  name: 'secret',
  summary: 'Print the secret that signs the callbacks of your tenant',
  examples: ['weft webhooks secret', 'weft webhooks secret --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const found = await client.webhooks.callbackSecret();
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(found) : found.secret}\n`);
    return EXIT.done;
  },
});
