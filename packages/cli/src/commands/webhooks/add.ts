import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const add = leaf({
  name: 'add',
  summary: 'Register a webhook; its signing secret is printed once',
  examples: [
    'weft webhooks add https://hooks.example.org/weft --events run.completed,run.failed',
    'weft webhooks add https://hooks.example.org/weft --events "*" --tag billing',
  ],
  args: {
    to: { type: 'positional', description: 'URL that receives the events', required: true, valueHint: 'URL' },
    events: {
      type: 'string',
      alias: 'e',
      valueHint: 'TYPE[,…]',
      description: 'Event types, or "*" for all; may be repeated',
    },
    tag: { type: 'string', valueHint: 'TAG[,…]', description: 'Only runs with one of these tags' },
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    const { io } = cli;
    const events = namesIn(all('events'));
    if (events.length === 0) {
      throw usageError('weft webhooks add needs --events, such as --events run.completed or --events "*".');
    }
    const tags = namesIn(all('tag'));
    const { client } = await connect(io, args);
    const created = await client.webhooks.register({
      url: args.to,
      events,
      ...(tags.length === 0 ? {} : { tags }),
    });
    io.stdout.write(shown`${cli.json ? JSON.stringify(created) : created.secret}\n`);
    if (!cli.json) {
      io.stderr.write(shown`Webhook ${created.webhookId}. Its signing secret is not shown again.\n`);
    }
    return EXIT.done;
  },
});

function namesIn(values: readonly string[]): string[] {
  return values
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
