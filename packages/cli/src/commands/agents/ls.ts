import type { AgentEntry } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the agents of installed packs, each with its newest version',
  examples: ['weft agents ls', 'weft agents ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const agents = await client.agents.list();
    if (cli.json) for (const agent of agents) io.stdout.write(`${JSON.stringify(agent)}\n`);
    else if (agents.length === 0)
      io.stderr.write('No agents. Packs bring them: weft pack install, then weft serve --packs.\n');
    else io.stdout.write(`${renderTable<AgentEntry>(cli.style, COLUMNS, agents)}\n`);
    return EXIT.done;
  },
});

const COLUMNS = [
  { title: 'AGENT', value: ({ agentId }: AgentEntry) => agentId },
  { title: 'VERSION', value: ({ packVersion }: AgentEntry) => packVersion },
  { title: 'MODEL', value: ({ modelClass }: AgentEntry) => modelClass },
  { title: 'TOOLS', value: ({ toolAllowlist }: AgentEntry) => String(toolAllowlist.length) },
  { title: 'NAME', value: ({ label }: AgentEntry) => label },
];
