import { isJsonObject, type Json } from '@weft/protocol/plain';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown, terminalText } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { readKeyValues } from '../../parsing/key-values.ts';

export const call = leaf({
  name: 'call',
  summary: 'Call a tool now, outside of any run; you approve it by asking',
  examples: [
    'weft mcp call files list_allowed_directories',
    'weft mcp call files read_text_file --input path=/srv/data/note.txt',
    'weft mcp call files search_files --input @arguments.json --json',
  ],
  args: {
    server: { type: 'positional', description: 'Name in the config file', required: true },
    tool: { type: 'positional', description: 'Name of the tool', required: true },
    input: {
      type: 'string',
      valueHint: 'NAME=VALUE|@FILE',
      description: 'An argument; JSON values are parsed; may be repeated',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    const { io } = cli;
    const given = await readKeyValues('input', all('input'), io.cwd);
    const { client } = await connect(io, args);
    const outcome = await client.toolServers.call(args.server, args.tool, given);
    const { result, error } = outcome;
    if (cli.json) io.stdout.write(`${JSON.stringify(outcome)}\n`);
    else if (error !== undefined) io.stderr.write(shown`${error.code}: ${error.message}\n`);
    else if (result !== undefined) {
      for (const part of result.content) io.stdout.write(`${terminalText(textOf(part))}\n`);
      if (result.isError) io.stderr.write('The tool says that it has failed.\n');
    }
    return error === undefined && result?.isError !== true ? EXIT.done : EXIT.failed;
  },
});

function textOf(part: Json): string {
  if (isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
  return JSON.stringify(part);
}
