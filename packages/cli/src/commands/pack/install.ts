import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { ARCHIVE_ARGS, INTEGRITY_ARGS, PACKS_ARGS } from './pack-flags.ts';

export const install = leaf({
  name: 'install',
  summary: 'Install a pack from an archive, if trust.json lets it in',
  examples: [
    'weft pack install greet.tgz',
    'weft pack install greet.tgz --integrity sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  ],
  args: { ...ARCHIVE_ARGS, ...INTEGRITY_ARGS, ...PACKS_ARGS },
  async run({ cli, args }) {
    const entry = await withPacks(async () => {
      const { openArchive } = await import('../../packs/open-archive.ts');
      const { addPack } = await import('../../packs/pack-folder.ts');
      const { folder, ...pack } = await openArchive(cli.io.cwd, args);
      return addPack(folder, pack);
    });
    if (cli.json) cli.io.stdout.write(`${JSON.stringify(entry)}\n`);
    else
      cli.io.stdout.write(
        shown`Installed ${entry.name} ${entry.version} in ${args.packs}. Hosts serve it from their next start on: weft serve --packs ${args.packs}\n`,
      );
    return EXIT.done;
  },
});
