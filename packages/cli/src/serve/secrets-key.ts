import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { reasonOf } from '../key-values.ts';

const VARIABLE = 'WEFT_SECRETS_KEY';
const KEY_BYTES = 32;
const OTHERS = 0o077;

/**
 * The key that encrypts the secrets of this folder: from WEFT_SECRETS_KEY, or from a file in the folder that is made on the
 * first start. Whoever has both the folder and the key can read the secrets; a backup of the database alone is not enough.
 */
export async function provideSecretsKey(
  env: Readonly<Record<string, string | undefined>>,
  folder: DataFolder,
): Promise<Uint8Array> {
  const given = env[VARIABLE];
  if (given !== undefined && given !== '') {
    return (
      decode(given) ?? fail(`${VARIABLE} must be ${KEY_BYTES} bytes in base64url. Make one with: ${MAKE}`)
    );
  }
  const file = secretsKeyFile(folder);
  try {
    return (await readKey(file)) ?? (await makeKey(file));
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw unusable('secrets_key_unusable', `${file} cannot be used: ${reasonOf(cause)}.`, cause);
  }
}

export function secretsKeyFile(folder: DataFolder): string {
  return join(folder.root, 'secrets.key');
}

const MAKE = `node -p "crypto.randomBytes(${KEY_BYTES}).toString('base64url')"`;

async function readKey(file: string): Promise<Uint8Array | undefined> {
  const handle = await openExisting(file);
  if (handle === undefined) return undefined;
  try {
    // Asked of the open file, so that what is checked is what is read.
    const { mode } = await handle.stat();
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      throw new CliError(
        EXIT.unmet,
        'secrets_key_exposed',
        `${file} is open to other users (mode ${shown}). Close it with: chmod 600 ${file}`,
      );
    }
    const key = decode((await handle.readFile('utf8')).trim());
    return key ?? fail(`${file} does not hold ${KEY_BYTES} bytes in base64url. Restore it from a backup.`);
  } finally {
    await handle.close();
  }
}

async function openExisting(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Complete and closed to others before it gets its name; of two that make one, the first wins for both. */
async function makeKey(file: string): Promise<Uint8Array> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const key = randomBytes(KEY_BYTES);
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${key.toString('base64url')}\n`);
    await handle.sync();
    await handle.close();
    await link(draft, file);
    return key;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    const first = await readKey(file);
    if (first === undefined) throw error;
    return first;
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}

function decode(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64url');
}

function fail(message: string): never {
  throw new CliError(EXIT.unmet, 'secrets_key_invalid', message);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
