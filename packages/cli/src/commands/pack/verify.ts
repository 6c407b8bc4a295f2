import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { packsOf } from '../../packs/tenant-folders.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { ARCHIVE_ARGS, INTEGRITY_ARGS, PACKS_ARGS, partsOf, partsText } from './pack-flags.ts';

export const verify = leaf({
  name: 'verify',
  summary: 'Say whether an archive would be installed here, and by whom it is signed',
  examples: ['weft pack verify greet.tgz', 'weft pack verify greet.tgz --packs ./packs --json'],
  args: { ...ARCHIVE_ARGS, ...INTEGRITY_ARGS, ...PACKS_ARGS },
  async run({ cli, args }) {
    const { opened, folder } = await withPacks(async () => {
      const { openArchive } = await import('../../packs/open-archive.ts');
      return openArchive(cli.io.cwd, { ...args, packs: packsOf(args.packs, args.tenant) });
    }, EXIT.failed);
    const { manifest, integrity, signed } = opened;
    const { name, version } = manifest;
    const parts = partsOf(manifest);
    const { mode } = folder.trust;
    if (cli.json) {
      const result = {
        name,
        version,
        integrity,
        mode,
        ...parts,
        ...(signed !== undefined && { signedBy: signed.kid }),
      };
      cli.io.stdout.write(`${JSON.stringify(result)}\n`);
    } else {
      const by = signed === undefined ? `trust mode ${mode}` : `signed by ${signed.kid}`;
      cli.io.stdout.write(shown`${name} ${version} is accepted (${by}): ${partsText(parts)}\n`);
    }
    return EXIT.done;
  },
});
