import { randomBytes } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { CliError, EXIT, unusable } from '../../exit-code.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { readPrivateFile } from '../../connecting/private-file.ts';

/** A key in a file of its own that only its owner may read. */
export interface KeyFile<Key> {
  readonly path: string;
  /** What error codes begin with, such as `secrets_key`. */
  readonly code: string;
  /** What the file must hold, for messages. */
  readonly holds: string;
  /** The text of a new key. */
  readonly make: () => string;
  /** Undefined when the text is no such key. */
  readonly parse: (text: string) => Key | undefined;
  /** What to do about a file without one, where a backup is not needed. */
  readonly wayOut?: string;
}

/** Reads the key, or makes it on the first start. */
export async function provideKeyFile<Key>(file: KeyFile<Key>): Promise<Key> {
  try {
    return (await readKey(file)) ?? (await makeKey(file));
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw unusable(`${file.code}_unusable`, `${file.path} cannot be used: ${reasonOf(cause)}.`, cause);
  }
}

async function readKey<Key>({ path, code, holds, parse, wayOut }: KeyFile<Key>): Promise<Key | undefined> {
  const text = await readPrivateFile(path, code);
  if (text === undefined) return undefined;
  const key = parse(text);
  if (key !== undefined) return key;
  throw new CliError(
    EXIT.unmet,
    `${code}_invalid`,
    `${path} does not hold ${holds}. ${wayOut ?? 'Restore it from a backup.'}`,
  );
}

/** Complete and closed to others before it gets its name; of two that make one, the first wins for both. */
async function makeKey<Key>(file: KeyFile<Key>): Promise<Key> {
  const draft = `${file.path}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${file.make()}\n`);
    await handle.sync();
    await handle.close();
    await link(draft, file.path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
  const key = await readKey(file);
  if (key === undefined) throw new Error('the file vanished while it was made');
  return key;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
