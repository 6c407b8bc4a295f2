import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { visibleText } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const test = leaf({
  name: 'test',
  summary: 'Ask a language model for one word, to see that it answers',
  examples: ['weft models test', 'weft models test local/llama3', 'weft models test --json'],
  args: {
    model: {
      type: 'positional',
      description: 'PROVIDER/MODEL; default: the one of the host',
      required: false,
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const { error, provider, model, usage, tookMs } = await client.models.test(args.model);
    if (cli.json) {
      io.stdout.write(`${JSON.stringify({ provider, model, usage, error, tookMs })}\n`);
    } else if (error === undefined) {
      const tokens = usage === undefined ? '' : `, ${usage.totalTokens} tokens`;
      io.stdout.write(`${visibleText(`${provider}/${model}`)} answered in ${tookMs} ms${tokens}.\n`);
    } else {
      io.stderr.write(`No answer (${visibleText(error.code)}): ${visibleText(error.message)}\n`);
    }
    return error === undefined ? EXIT.done : EXIT.failed;
  },
});
