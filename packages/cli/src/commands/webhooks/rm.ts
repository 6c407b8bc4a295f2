import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const rm = leaf({
  name: 'rm',
  summary: 'Remove a webhook; deliveries stop at once',
  examples: ['weft webhooks rm WEBHOOK-ID'],
  args: {
    webhook: { type: 'positional', description: 'Webhook id, as in weft webhooks ls', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.webhooks.remove(args.webhook);
    const done = cli.json
      ? JSON.stringify({ webhookId: args.webhook, removed: true })
      : `${args.webhook}  removed`;
    cli.io.stdout.write(shown`${done}\n`);
    return EXIT.done;
  },
});
