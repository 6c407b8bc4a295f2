import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACK_LIMITS, type PackFiles } from '@weft/packs';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';

/** Files of a folder that are packed in addition to those of the manifest. All others are left out. */
const FILES = ['README.md', 'LICENSE', 'NOTICE'];
const FOLDERS = ['schemas', 'prompts', 'dist'];

export async function filesOfFolder(folder: string): Promise<PackFiles> {
  const files = new Map<string, Uint8Array>();
  for (const name of FILES) {
    const bytes = await readIfThere(join(folder, name));
    if (bytes !== undefined) files.set(name, bytes);
  }
  for (const name of FOLDERS) await addFolder(folder, name, files);
  return files;
}

async function addFolder(root: string, path: string, files: Map<string, Uint8Array>): Promise<void> {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch(absent);
  for (const entry of entries ?? []) {
    const name = `${path}/${entry.name}`;
    if (entry.isDirectory()) await addFolder(root, name, files);
    else if (entry.isFile()) files.set(name, await readLimited(join(root, name), PACK_LIMITS.file));
    else
      throw new CliError(
        EXIT.failed,
        'not_packable',
        `${name} is neither a file nor a folder; packs hold no links.`,
      );
    if (files.size > PACK_LIMITS.files)
      throw new CliError(EXIT.failed, 'tarball_too_large', `A pack has ${PACK_LIMITS.files} files at most.`);
  }
}

/** Undefined when there is no such file. */
export async function readIfThere(
  path: string,
  limit: number = PACK_LIMITS.file,
): Promise<Buffer | undefined> {
  try {
    await stat(path);
  } catch (error) {
    if (absent(error) === undefined) return undefined;
  }
  return readLimited(path, limit);
}

export async function readLimited(path: string, limit: number): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > limit) throw unusable('too_large', `${path} has ${size} bytes; ${limit} at most.`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw unusable('file_unreadable', `${path} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

export async function writeBytes(
  path: string,
  bytes: Uint8Array | string,
  flag: 'w' | 'wx' = 'w',
): Promise<void> {
  await writeFile(path, bytes, { flag }).catch((cause: unknown) => {
    throw unusable('file_unwritable', `${path} cannot be written: ${reasonOf(cause)}.`, cause);
  });
}

function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
