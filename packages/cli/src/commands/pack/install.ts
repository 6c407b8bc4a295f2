import type { WantedPack } from '@weft/packs';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import type { Installed } from '../../packs/install-pack.ts';
import { packsOf } from '../../packs/tenant-folders.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { type Cli, leaf } from '../../parsing/command.ts';
import { settingArgs } from '../../serve/settings/setting-args.ts';
import { readSettings, type SettingSources } from '../../serve/settings/settings.ts';
import { INTEGRITY_ARGS, PACKS_ARGS } from './pack-flags.ts';

interface Args {
  readonly pack: string;
  readonly packs: string;
  readonly integrity?: string | undefined;
  readonly registry?: string | undefined;
}

/** Flags that mean what they mean for `weft serve`; its `--registry` is a switch. */
const SHARED = ['config', 'allow-egress'] as const;

export const install = leaf({
  name: 'install',
  summary: 'Install a pack from a registry or an archive, if trust.json lets it in',
  examples: [
    'weft pack install vendor.acme.payments@^1.2.0 --registry https://packs.acme.example',
    'weft pack install vendor.acme.payments --config weft.json',
    'weft pack install greet.tgz',
    'weft pack install greet.tgz --tenant acme',
    'weft pack install greet.tgz --integrity sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  ],
  args: {
    pack: { type: 'positional', description: 'NAME, NAME@RANGE, or the file of an archive', required: true },
    registry: {
      type: 'string',
      valueHint: 'URL',
      description:
        'The registry to ask, with the key in WEFT_REGISTRY_KEY; default: "registries" of the config file',
    },
    ...INTEGRITY_ARGS,
    ...PACKS_ARGS,
    ...settingArgs(...SHARED),
  },
  async run({ cli, args, all }) {
    const packs = packsOf(args.packs, args.tenant);
    const { entries, warnings } = await withPacks(({ wantedPack }) =>
      installed(
        cli,
        { ...args, packs },
        {
          wanted: wantedPack(args.pack),
          flags: (name) => (isShared(name) ? all(name) : []),
        },
      ),
    );
    for (const warning of warnings) cli.io.stderr.write(shown`${warning}\n`);
    for (const entry of entries)
      cli.io.stdout.write(
        cli.json
          ? `${JSON.stringify(entry)}\n`
          : shown`Installed ${entry.name} ${entry.version} in ${packs}.\n`,
      );
    if (!cli.json)
      cli.io.stdout.write(shown`Hosts serve it from their next start on: weft serve --packs ${args.packs}\n`);
    return EXIT.done;
  },
});

function isShared(name: string): name is (typeof SHARED)[number] {
  return SHARED.some((each) => each === name);
}

async function installed(
  { io }: Cli,
  args: Args,
  { wanted, flags }: { readonly wanted: WantedPack | undefined; readonly flags: SettingSources['flags'] },
): Promise<Installed> {
  const { cwd } = io;
  if (wanted === undefined) {
    const { openArchive } = await import('../../packs/open-archive.ts');
    const { addPack } = await import('../../packs/pack-folder.ts');
    const { folder, ...pack } = await openArchive(cwd, { ...args, file: args.pack });
    return { entries: [await addPack(folder, pack)], warnings: [] };
  }
  const { installFromRegistries } = await import('../../packs/install-pack.ts');
  const { openRegistries } = await import('../../packs/registries.ts');
  const registries = await openRegistries(io, await readSettings(io, flags), args.registry);
  return installFromRegistries({ ...args, cwd }, wanted, registries);
}
