import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { DEFAULT_TENANT, type FirstKey, type Store, ensureFirstKey, newKey } from '@weft/engine';
import type { DataFolder } from '../../connecting/data-folder.ts';
import { CliError, EXIT, usageError } from '../../exit-code.ts';
import { provideKeyFile } from './key-file.ts';
import { isLoopbackBind } from '../settings/loopback.ts';
import { countText } from '../../output/count-text.ts';

const VARIABLE = 'WEFT_API_KEY';
const MIN_LENGTH = 24;
/** What fits into a header, without spaces. */
const USABLE = new RegExp(`^[\\x21-\\x7e]{${MIN_LENGTH},512}$`);
const MAKE = `node -p "crypto.randomBytes(32).toString('base64url')"`;

/** The key from the environment. One that is missing where it is needed, or can be guessed, ends the start. */
export function chosenKey(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const key = env[VARIABLE];
  if (key !== undefined && key !== '') {
    if (USABLE.test(key)) return key;
    throw usageError(
      `${VARIABLE} has ${countText(key.length, 'character')}; it must have ${MIN_LENGTH} to 512, all visible ASCII. Make one with: ${MAKE}`,
    );
  }
  if (isLoopbackBind(host)) return undefined;
  // Any machine on the network could use a key that lies in a file of this machine for the local person only.
  throw new CliError(
    EXIT.unmet,
    'key_required',
    `--host ${host} can be reached from other machines, so the host needs a key you chose: set ${VARIABLE} and start again.`,
  );
}

export interface FirstKeyOptions {
  readonly store: Store;
  readonly folder: DataFolder;
  readonly fromEnv: string | undefined;
  readonly test: boolean;
  /** Other processes may have first keys of their own on this store. */
  readonly isShared: boolean;
}

export interface ProvidedKey {
  readonly key: string;
  /** Where the person finds it. */
  readonly keyFrom: string;
}

/**
 * Makes sure that one key with every scope exists: the one from WEFT_API_KEY, or the one in the key file, which is made
 * on the first start, and again when it was revoked. The one before it is revoked.
 */
export async function provideFirstKey({ store, folder, ...options }: FirstKeyOptions): Promise<ProvidedKey> {
  const { fromEnv, test, isShared } = options;
  const first = { store, test, tenant: DEFAULT_TENANT, now: Date.now(), random: randomBytes };
  if (fromEnv !== undefined) {
    const replaces: FirstKey['replaces'] = isShared ? ['configured'] : ['configured', 'generated'];
    if ((await ensureFirstKey({ ...first, key: fromEnv, replaces })) !== 'revoked')
      return { key: fromEnv, keyFrom: `from ${VARIABLE}` };
    throw new CliError(
      EXIT.unmet,
      'key_revoked',
      `The key in ${VARIABLE} was revoked, or replaced by another one. Set the current one, or a new one: ${MAKE}`,
    );
  }
  const own = { ...first, source: 'generated', ...(isShared && { replaces: [] }) } as const;
  const file = {
    path: folder.keyFile,
    code: 'key',
    holds: `a key of ${MIN_LENGTH} to 512 visible ASCII characters`,
    make: () => newKey(randomBytes, test),
    parse: (text: string) => (USABLE.test(text) ? text : undefined),
    wayOut: 'Remove the file to create a new one.',
  } as const;
  const known = await provideKeyFile(file);
  if ((await ensureFirstKey({ ...own, key: known })) !== 'revoked')
    return { key: known, keyFrom: folder.keyFile };
  await rm(folder.keyFile);
  const key = await provideKeyFile(file);
  await ensureFirstKey({ ...own, key });
  return { key, keyFrom: folder.keyFile };
}
