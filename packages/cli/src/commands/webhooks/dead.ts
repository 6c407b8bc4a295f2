import type { DeadDelivery } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { agoText } from '../../output/time-text.ts';

const PAGE = 500;

export const dead = leaf({
  name: 'dead',
  summary: 'List failed deliveries of webhooks and callbacks, newest first',
  examples: ['weft webhooks dead', 'weft webhooks dead --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const items: DeadDelivery[] = [];
    for await (const row of client.webhooks.deadDeliveries({ limit: PAGE })) {
      if (cli.json) cli.io.stdout.write(`${JSON.stringify(row)}\n`);
      else items.push(row);
    }
    if (cli.json) return EXIT.done;
    const now = Date.now();
    const table = renderTable<DeadDelivery>(
      cli.style,
      [
        { title: 'KIND', value: (row) => row.kind },
        { title: 'RUN', value: (row) => row.runId },
        { title: 'EVENT', value: (row) => String(row.sequence), align: 'right' },
        { title: 'REASON', value: (row) => row.reason },
        { title: 'GIVEN UP', value: (row) => agoText(row.failedAt, now) },
        { title: 'DELIVERY', value: (row) => row.deliveryId },
      ],
      items,
    );
    cli.io.stdout.write(`${table}\n`);
    return EXIT.done;
  },
});
