import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { renderTools } from './tool-table.ts';

export const test = leaf({
  name: 'test',
  summary: 'Start an MCP server, and list its tools',
  examples: ['weft mcp test files', 'weft mcp test files --json'],
  args: {
    server: { type: 'positional', description: 'Name in the config file', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const tested = await client.toolServers.test(args.server);
    const { server, tookMs, error } = tested;
    if (cli.json) io.stdout.write(`${JSON.stringify(tested)}\n`);
    else if (error === undefined) {
      const called = server.serverName === undefined ? '' : shown` (${server.serverName})`;
      io.stdout.write(shown`${server.name} is ready` + called + shown` after ${tookMs} ms.\n\n`);
      io.stdout.write(renderTools(cli.style, server));
    } else io.stderr.write(shown`${error.code}: ${error.message}\n`);
    return error === undefined ? EXIT.done : EXIT.failed;
  },
});
