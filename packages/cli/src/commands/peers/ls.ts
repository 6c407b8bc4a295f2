import type { PeerEntry } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the agents of other hosts that are configured',
  examples: ['weft peers ls', 'weft peers ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const peers = await client.peers.list();
    if (cli.json) for (const peer of peers) io.stdout.write(`${JSON.stringify(peer)}\n`);
    else if (peers.length === 0)
      io.stderr.write('No peers. Name them under "a2a.peers" in the config file of the host.\n');
    else io.stdout.write(`${renderTable<PeerEntry>(cli.style, COLUMNS, peers)}\n`);
    return EXIT.done;
  },
});

const COLUMNS = [
  { title: 'PEER', value: ({ name }: PeerEntry) => name },
  { title: 'URL', value: ({ url }: PeerEntry) => url ?? '' },
];
