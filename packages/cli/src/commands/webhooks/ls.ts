import type { WebhookSummary } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { agoText } from '../../output/time-text.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the webhooks of your tenant; secrets are never shown',
  examples: ['weft webhooks ls', 'weft webhooks ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const items = await client.webhooks.list();
    if (cli.json) {
      for (const webhook of items) cli.io.stdout.write(`${JSON.stringify(webhook)}\n`);
      return EXIT.done;
    }
    const now = Date.now();
    const table = renderTable<WebhookSummary>(
      cli.style,
      [
        { title: 'WEBHOOK', value: (webhook) => webhook.webhookId },
        { title: 'SECRET', value: (webhook) => webhook.secretFingerprint },
        { title: 'CREATED', value: (webhook) => agoText(webhook.createdAt, now) },
        { title: 'TAGS', value: (webhook) => webhook.tags.join(' ') || '-' },
        { title: 'EVENTS', value: (webhook) => webhook.events.join(' ') },
        { title: 'URL', value: (webhook) => webhook.url },
      ],
      items,
    );
    cli.io.stdout.write(`${table}\n`);
    return EXIT.done;
  },
});
