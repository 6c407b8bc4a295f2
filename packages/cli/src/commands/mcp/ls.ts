import type { ToolServerEntry } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { renderTools } from './tool-table.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List MCP servers, or the tools of one as it last listed them',
  examples: ['weft mcp ls', 'weft mcp ls files', 'weft mcp ls --json'],
  args: {
    server: { type: 'positional', description: 'Name in the config file', required: false },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const servers = await client.toolServers.list();
    const found = servers.filter(({ name }) => args.server === undefined || name === args.server);
    if (args.server !== undefined && found.length === 0)
      throw usageError(`No MCP server "${args.server}" is configured on this host. List them: weft mcp ls`);
    if (cli.json) {
      for (const server of found) io.stdout.write(`${JSON.stringify(server)}\n`);
      return EXIT.done;
    }
    const [first] = found;
    if (first === undefined) {
      io.stderr.write('No MCP servers. Name them under "mcpServers" in the config file of the host.\n');
      return EXIT.done;
    }
    if (args.server === undefined) {
      io.stdout.write(`${renderTable<ToolServerEntry>(cli.style, COLUMNS, found)}\n`);
      return EXIT.done;
    }
    if (first.problem !== undefined) io.stderr.write(shown`${first.problem}\n`);
    if (first.tools === undefined)
      io.stderr.write(
        shown`Its tools are not known yet: it is started at its first use. Start it: weft mcp test ${first.name}\n`,
      );
    else io.stdout.write(renderTools(cli.style, first));
    return EXIT.done;
  },
});

const COLUMNS = [
  { title: 'SERVER', value: ({ name }: ToolServerEntry) => name },
  { title: 'TRANSPORT', value: ({ transport }: ToolServerEntry) => transport },
  { title: 'STATE', value: ({ state }: ToolServerEntry) => state },
  {
    title: 'TOOLS',
    value: ({ tools }: ToolServerEntry) => tools?.length.toString() ?? '',
    align: 'right' as const,
  },
  { title: 'PROBLEM', value: ({ problem }: ToolServerEntry) => problem ?? '' },
];
