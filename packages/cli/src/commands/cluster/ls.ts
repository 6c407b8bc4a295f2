import type { ClusterNode } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { agoText } from '../../output/time-text.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the processes that share the store, and how many runs each holds',
  examples: ['weft cluster ls', 'weft cluster ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const nodes = await client.cluster.nodes();
    if (cli.json) {
      for (const node of nodes) cli.io.stdout.write(`${JSON.stringify(node)}\n`);
      return EXIT.done;
    }
    const now = Date.now();
    const table = renderTable<ClusterNode>(
      cli.style,
      [
        { title: 'NODE', value: ({ name, isSelf }) => (isSelf ? `${name} *` : name) },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'RUNS', value: ({ runs }) => String(runs), align: 'right' },
        {
          title: 'SINCE',
          value: ({ startedAt }) => (startedAt === undefined ? '' : agoText(startedAt, now)),
        },
        { title: 'DEADLINE', value: ({ deadline }) => deadlineText(deadline, now) },
        { title: 'VERSION', value: ({ version }) => version ?? '' },
      ],
      nodes,
    );
    cli.io.stdout.write(`${table}\n`);
    return EXIT.done;
  },
});

/** By this machine's clock; the database's counts. */
function deadlineText(deadline: string, now: number): string {
  const leftMs = Date.parse(deadline) - now;
  return leftMs > 0 ? `in ${Math.ceil(leftMs / 1_000)} s` : agoText(deadline, now);
}
