import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { TRIGGER_ARG } from './trigger-arg.ts';

export const replay = leaf({
  name: 'replay',
  summary: 'Start what a dead letter should have started, and remove the letter',
  examples: ['weft triggers replay TRIGGER-ID LETTER-ID'],
  args: {
    trigger: TRIGGER_ARG,
    letter: { type: 'positional', description: 'Dead letter, as in weft triggers dead', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const started = await client.deadLetters.replay(`trigger:${args.trigger}`, args.letter);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(started) : started.runId}\n`);
    return EXIT.done;
  },
});
