import { endpointOf } from '@weft/protocol/plain';
import { findTarget } from '../../connecting/connection.ts';
import { EXIT, unusable, usageError } from '../../exit-code.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const serve = leaf({
  name: 'serve',
  summary: 'Offer the workflows of a host to an assistant that starts this as a command',
  examples: ['weft mcp serve', 'weft mcp serve --url https://weft.example.org'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    if (io.isTTY)
      throw usageError(
        'weft mcp serve speaks with an assistant that starts it, not with a person: name it as the command of an MCP server in the configuration of the assistant.',
      );
    const { url, key, fetch } = await findTarget(io, args);
    if (key === undefined)
      throw unusable(
        'no_key',
        `No key for ${url}. Give one with WEFT_API_KEY, or --data of the folder of its host.`,
      );
    const { bridgeStdio } = await import('./stdio-bridge.ts');
    await bridgeStdio({
      url: new URL(endpointOf('sendMcpMessage').path, url),
      key,
      ...(fetch !== undefined && { fetch }),
      // What stands on standard output is the protocol, and nothing else may.
      note: (message) => void io.stderr.write(`${message}\n`),
    });
    return EXIT.done;
  },
});
