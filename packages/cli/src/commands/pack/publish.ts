import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { ARCHIVE_ARGS } from './pack-flags.ts';

export const publish = leaf({
  name: 'publish',
  summary: 'Publish an archive and its signature to a host that is a registry',
  examples: [
    'weft pack publish vendor.acme.payments-0.1.0.tgz --url https://packs.acme.example',
    'weft pack publish greet.tgz --json',
  ],
  args: { ...ARCHIVE_ARGS, ...HOST_ARGS },
  async run({ cli, args }) {
    const published = await withPacks(async () => {
      const { publishPack } = await import('../../packs/publish-pack.ts');
      const { target } = await connect(cli.io, args);
      return publishPack(cli.io.cwd, args.file, target);
    });
    const { isNew, ...record } = published;
    if (cli.json) cli.io.stdout.write(`${JSON.stringify({ ...record, isNew })}\n`);
    else {
      const how = isNew ? 'Published' : 'Already published:';
      cli.io.stdout.write(shown`${how} ${record.name} ${record.version}\n${record.integrity}\n`);
      if (!record.signed)
        cli.io.stderr.write('It is not signed: hosts with the trust mode verified do not install it.\n');
    }
    return EXIT.done;
  },
});
