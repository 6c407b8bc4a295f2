import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const replay = leaf({
  name: 'replay',
  summary: 'Retry a failed delivery from its first attempt',
  examples: ['weft webhooks replay DELIVERY-ID'],
  args: {
    delivery: { type: 'positional', description: 'Delivery id, as in weft webhooks dead', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.webhooks.replay(args.delivery);
    const done = cli.json
      ? JSON.stringify({ deliveryId: args.delivery, replayed: true })
      : `${args.delivery}  will be retried now`;
    cli.io.stdout.write(shown`${done}\n`);
    return EXIT.done;
  },
});
