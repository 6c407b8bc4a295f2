import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { unusable } from '../exit-code.ts';
import { reasonOf } from './key-values.ts';

/** Every *.json directly in the folder, in order of name, as paths that begin as the folder was named. */
export async function jsonFilesIn(cwd: string, folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(resolve(cwd, folder), { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && entry.name.endsWith('.json'));
    return files.map((entry) => join(folder, entry.name)).sort();
  } catch (cause) {
    throw unusable('folder_unreadable', `${folder} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}
