import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { TRIGGER_ARG } from './trigger-arg.ts';

export const resume = leaf({
  name: 'resume',
  summary: 'Take deliveries again',
  examples: ['weft triggers resume TRIGGER-ID'],
  args: { trigger: TRIGGER_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const answer = await client.triggers.resume(args.trigger);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${answer.id}  ${answer.state}`}\n`);
    return EXIT.done;
  },
});
