import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readPrivateFile } from './private-file.ts';

/** Where things stand in a data folder. */
export interface DataFolder {
  readonly root: string;
  readonly database: string;
  /** The generated key, for the local command line only. */
  readonly keyFile: string;
  /** The secret by which the local command line recognises the host, before it sends the key. */
  readonly identityFile: string;
  /** Where the running host listens; removed when it stops. */
  readonly urlFile: string;
}

export const DEFAULT_DATA = '.weft';

export function dataFolder(cwd: string, path: string): DataFolder {
  const root = resolve(cwd, path);
  return {
    root,
    database: join(root, 'weft.db'),
    keyFile: join(root, 'key'),
    identityFile: join(root, 'identity'),
    urlFile: join(root, 'url'),
  };
}

/** Only the owner may look inside: the folder holds a key and the runs' private values. */
export async function makeDataFolder(folder: DataFolder): Promise<void> {
  await mkdir(folder.root, { recursive: true, mode: 0o700 });
}

/** Throws CliError `key_exposed` when others may read it. */
export async function readKeyFile(folder: DataFolder): Promise<string | undefined> {
  const key = await readPrivateFile(folder.keyFile, 'key');
  return key === '' ? undefined : key;
}

export function readUrlFile(folder: DataFolder): Promise<string | undefined> {
  return readTrimmed(folder.urlFile);
}

export async function writeUrlFile(folder: DataFolder, url: string): Promise<void> {
  await writeFile(folder.urlFile, `${url}\n`);
}

export async function removeUrlFile(folder: DataFolder): Promise<void> {
  await rm(folder.urlFile, { force: true });
}

async function readTrimmed(path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path, 'utf8')).trim();
    return text === '' ? undefined : text;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
