import { resolve } from 'node:path';
import { type OpenedPack, openTrustedPack, PACK_LIMITS } from '@weft/packs';
import { readIfThere, readLimited } from './pack-files.ts';
import { checkCode, offerOf, openPackFolder, type PackFolder } from './pack-folder.ts';

export interface ArchiveArgs {
  readonly file: string;
  readonly packs: string;
  readonly integrity?: string | undefined;
}

export interface OpenedArchive {
  readonly folder: PackFolder;
  readonly opened: OpenedPack;
  readonly archive: Uint8Array;
  readonly signature: Uint8Array | undefined;
}

const MOST_SIGNATURE = 1024;

/** An archive and its signature, checked against the trust of a folder. Throws PackError. */
export async function openArchive(cwd: string, args: ArchiveArgs): Promise<OpenedArchive> {
  const folder = await openPackFolder(cwd, args.packs);
  const file = resolve(cwd, args.file);
  const archive = await readLimited(file, PACK_LIMITS.compressed);
  const signature = await readIfThere(`${file}.sig`, MOST_SIGNATURE);
  const { integrity } = args;
  const source = { archive, signature, integrity };
  const opened = await openTrustedPack(source, folder.trust, await offerOf(folder), Date.now(), 'install');
  await checkCode(opened);
  return { folder, opened, archive, signature };
}
