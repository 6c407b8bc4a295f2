import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const rm = leaf({
  name: 'rm',
  summary: 'Remove a prompt template with all its versions; runs keep what they composed',
  examples: ['weft prompts rm greeting'],
  args: {
    prompt: { type: 'positional', description: 'ID, as in weft prompts ls', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.prompts.remove(args.prompt);
    const text = cli.json
      ? JSON.stringify({ templateId: args.prompt, removed: true })
      : `${args.prompt}  removed`;
    cli.io.stdout.write(shown`${text}\n`);
    return EXIT.done;
  },
});
