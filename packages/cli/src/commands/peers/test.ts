import type { PeerSkill } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const test = leaf({
  name: 'test',
  summary: 'Fetch the agent card of a peer, check it, and list its skills',
  examples: ['weft peers test billing', 'weft peers test billing --json'],
  args: {
    peer: { type: 'positional', description: 'Name in the config file', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const tested = await client.peers.test(args.peer);
    const { peer, card, tookMs, error } = tested;
    if (cli.json) io.stdout.write(`${JSON.stringify(tested)}\n`);
    else if (card !== undefined) {
      io.stdout.write(
        shown`${peer.name} is ${card.agentName}, A2A ${card.protocolVersion}, after ${tookMs} ms.\n\n`,
      );
      io.stdout.write(`${renderTable<PeerSkill>(cli.style, COLUMNS, card.skills)}\n`);
    } else if (error !== undefined) io.stderr.write(shown`${error.code}: ${error.message}\n`);
    return error === undefined ? EXIT.done : EXIT.failed;
  },
});

const COLUMNS = [
  { title: 'SKILL', value: ({ id }: PeerSkill) => id },
  { title: 'NAME', value: ({ name }: PeerSkill) => name },
  { title: 'DIGEST', value: ({ digest }: PeerSkill) => digest.slice(0, 12) },
  { title: 'DESCRIPTION', value: ({ description }: PeerSkill) => description.split('\n', 1)[0] ?? '' },
];
