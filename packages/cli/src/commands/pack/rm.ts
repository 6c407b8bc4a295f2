import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { packsOf } from '../../packs/tenant-folders.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { PACKS_ARGS } from './pack-flags.ts';

export const rm = leaf({
  name: 'rm',
  summary:
    'Remove an installed pack; runs that wait for its node types wait until it is back, its agents stay with their runs',
  examples: ['weft pack rm vendor.acme.payments', 'weft pack rm vendor.acme.payments 1.0.0'],
  args: {
    name: { type: 'positional', description: 'Name of the pack', required: true },
    version: { type: 'positional', description: 'Only this version', required: false },
    ...PACKS_ARGS,
  },
  async run({ cli, args }) {
    const gone = await withPacks(async ({ PackError }) => {
      const { openPackFolder, removePacks } = await import('../../packs/pack-folder.ts');
      const folder = await openPackFolder(cli.io.cwd, packsOf(args.packs, args.tenant));
      const found = folder.packs.filter(
        ({ name, version }) => name === args.name && (args.version === undefined || version === args.version),
      );
      if (found.length === 0)
        throw new PackError(
          'pack_version_not_found',
          `${[args.name, args.version].filter(Boolean).join(' ')} is not installed in ${args.packs}. See: weft pack ls`,
        );
      await removePacks(folder, found);
      return found;
    });
    for (const { name, version } of gone) {
      if (cli.json) cli.io.stdout.write(`${JSON.stringify({ name, version })}\n`);
      else cli.io.stdout.write(shown`Removed ${name} ${version}\n`);
    }
    return EXIT.done;
  },
});
