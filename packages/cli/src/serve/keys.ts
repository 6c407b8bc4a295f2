import { randomBytes } from 'node:crypto';
import { DEFAULT_TENANT, type Store, ensureFirstKey, newKey } from '@weft/engine';
import { type DataFolder, readKeyFile, writeKeyFile } from '../data-folder.ts';
import { CliError, EXIT } from '../exit-code.ts';
import { isLoopbackBind } from './loopback.ts';

/** Anybody on the network could use a key that lies in a file of this machine for the local person only. */
export function requireKeyFor(host: string, key: string | undefined): void {
  if (key !== undefined || isLoopbackBind(host)) return;
  throw new CliError(
    EXIT.unmet,
    'key_required',
    `--host ${host} can be reached from other machines, so the host needs a key you chose: set WEFT_API_KEY and start again.`,
  );
}

export interface FirstKeyOptions {
  readonly store: Store;
  readonly folder: DataFolder;
  readonly fromEnv: string | undefined;
  readonly test: boolean;
}

/**
 * Makes sure that one key with every scope exists: the one from WEFT_API_KEY, or the one in the key file, which is made
 * on the first start. Returns where the person finds it.
 */
export async function provideFirstKey({ store, folder, fromEnv, test }: FirstKeyOptions): Promise<string> {
  const first = { store, test, tenant: DEFAULT_TENANT, now: Date.now(), random: randomBytes };
  if (fromEnv !== undefined) {
    await ensureFirstKey({ ...first, key: fromEnv });
    return 'from WEFT_API_KEY';
  }
  let key = await readKeyFile(folder);
  if (key === undefined) {
    key = newKey(randomBytes, test);
    await writeKeyFile(folder, key);
  }
  await ensureFirstKey({ ...first, key });
  return folder.keyFile;
}
