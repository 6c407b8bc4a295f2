import { resolve } from 'node:path';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { partsOf, partsText, SOURCE_ARGS } from './pack-flags.ts';

export const check = leaf({
  name: 'check',
  summary: 'Check the manifest and the files of a pack, without writing anything',
  examples: ['weft pack check', 'weft pack check ./payments --json'],
  args: SOURCE_ARGS,
  async run({ cli, args }) {
    const { manifest, files } = await withPacks(async () => {
      const { buildPack } = await import('../../packs/build-pack.ts');
      return buildPack(resolve(cli.io.cwd, args.folder ?? '.'), args);
    }, EXIT.failed);
    const { name, version } = manifest;
    const parts = partsOf(manifest);
    if (cli.json)
      cli.io.stdout.write(
        `${JSON.stringify({ name, version, ...parts, files: [...files.keys()].sort() })}\n`,
      );
    else cli.io.stdout.write(shown`${name} ${version} can be built: ${partsText(parts)}\n`);
    return EXIT.done;
  },
});
