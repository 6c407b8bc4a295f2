import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { TRIGGER_ARG } from './trigger-arg.ts';

export const rm = leaf({
  name: 'rm',
  summary: 'Remove a webhook trigger; deliveries to it are refused at once',
  examples: ['weft triggers rm TRIGGER-ID'],
  args: { trigger: TRIGGER_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.triggers.remove(args.trigger);
    const text = cli.json ? JSON.stringify({ id: args.trigger, removed: true }) : `${args.trigger}  removed`;
    cli.io.stdout.write(shown`${text}\n`);
    return EXIT.done;
  },
});
