/** Installs a pack and what it depends on from registries: everything is fetched and verified before the first of them is kept. */
import {
  type FetchedPack,
  fetchPack,
  isWanted,
  type LockEntry,
  openTrustedPack,
  PackError,
  type WantedPack,
} from '@weft/packs';
import { addPack, checkCode, type NewPack, offerOf, openPackFolder, type PackFolder } from './pack-folder.ts';
import type { Registries } from './registries.ts';

const MOST_PACKS = 50;

export interface Installed {
  /** The pack that was asked for comes last. */
  readonly entries: readonly LockEntry[];
  readonly warnings: readonly string[];
}

/** Throws PackError. */
export async function installFromRegistries(
  {
    cwd,
    packs,
    integrity,
  }: { readonly cwd: string; readonly packs: string; readonly integrity?: string | undefined },
  wanted: WantedPack,
  registries: Registries,
): Promise<Installed> {
  const folder = await openPackFolder(cwd, packs);
  const fetched: NewPack[] = [];
  const warnings: string[] = [];

  function isThere(pack: WantedPack): boolean {
    const known = [...folder.packs, ...fetched.map(({ opened: { manifest } }) => manifest)];
    return known.some((each) => isWanted(pack, each));
  }

  async function collect(pack: WantedPack, above: readonly string[]): Promise<void> {
    const { name } = pack;
    if (above.includes(name))
      throw new PackError('pack_dependency_cycle', `${[...above, name].join(' depends on ')}.`);
    if (fetched.length + above.length >= MOST_PACKS)
      throw new PackError('pack_dependency_conflict', `More than ${MOST_PACKS} packs would be installed.`);
    const found = await fetchPack(registries.of(name), pack, registries.ask);
    warnings.push(...found.warnings);
    const verifiedPack = await verified(folder, found, above.length === 0 ? integrity : undefined);
    for (const [other, range] of Object.entries(verifiedPack.opened.manifest.dependencies ?? {}))
      if (!isThere({ name: other, range })) await collect({ name: other, range }, [...above, name]);
    fetched.push(verifiedPack);
  }

  await collect(wanted, []);
  const entries: LockEntry[] = [];
  for (const pack of fetched) entries.push(await addPack(await openPackFolder(cwd, packs), pack));
  return { entries, warnings };
}

/** The digest of the registry only says that the archive came over whole; trust wants one that its user was given elsewhere. */
async function verified(
  folder: PackFolder,
  found: FetchedPack,
  integrity: string | undefined,
): Promise<NewPack> {
  const { name, version, archive, signature } = found;
  const source = { archive, signature, name, version, integrity };
  const opened = await openTrustedPack(source, folder.trust, await offerOf(folder), Date.now(), 'install');
  await checkCode(opened);
  return { opened, archive, signature };
}
