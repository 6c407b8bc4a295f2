import { type FileHandle, open } from 'node:fs/promises';
import { CliError, EXIT } from '../exit-code.ts';
import { shellWord } from '../output/shell-word.ts';

const OTHERS = 0o077;

/**
 * The text of a file that only its owner may read, as ssh wants of its keys; undefined when there is none. `code` is what error
 * codes begin with, such as `secrets_key`. `forbidden`: bits of its mode that must not be set.
 */
export async function readPrivateFile(
  path: string,
  code: string,
  forbidden: number = OTHERS,
): Promise<string | undefined> {
  const handle = await openExisting(path);
  if (handle === undefined) return undefined;
  try {
    // Asked of the open file, so that what is checked is what is read.
    const { mode } = await handle.stat();
    if (process.platform !== 'win32' && (mode & forbidden) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      throw new CliError(
        EXIT.unmet,
        `${code}_exposed`,
        `${path} is accessible to other users (mode ${shown}). Fix it with: chmod 600 ${shellWord(path)}`,
      );
    }
    return (await handle.readFile('utf8')).trim();
  } finally {
    await handle.close();
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
