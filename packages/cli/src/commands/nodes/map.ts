import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const map = leaf({
  name: 'map',
  summary: 'Have workers of another version perform the tasks of a version',
  examples: ['weft nodes map acme.charge 1.0.0 1.1.0', 'weft nodes map acme.charge 1.0.0 --remove'],
  args: {
    type: { type: 'positional', description: 'Type id', required: true },
    version: { type: 'positional', description: 'Version whose tasks wait', required: true },
    to: { type: 'positional', description: 'Version whose workers perform them', required: false },
    remove: { type: 'boolean', description: 'Its own workers perform them again' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { type, version, to } = args;
    if ((to === undefined) !== (args.remove === true))
      throw usageError('Name the version whose workers perform the tasks, or pass --remove; one of the two.');
    const { client } = await connect(cli.io, args);
    await client.nodeTypes.map(type, to === undefined ? { version } : { version, to });
    if (cli.json) cli.io.stdout.write(`${JSON.stringify({ typeId: type, version, to: to ?? null })}\n`);
    else if (to === undefined) cli.io.stdout.write(shown`Workers of ${type} ${version} perform its tasks.\n`);
    else cli.io.stdout.write(shown`Workers of ${type} ${to} perform the tasks of ${version}.\n`);
    return EXIT.done;
  },
});
