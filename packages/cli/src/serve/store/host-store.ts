import type { KeyObject } from 'node:crypto';
import type { Log, Store } from '@weft/engine';
import { type DataFolder, makeDataFolder } from '../../connecting/data-folder.ts';
import { unusable } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { provideAuditKey } from '../keys/audit-key.ts';
import { fixKeys } from '../keys/cluster-keys.ts';
import { type FolderOptions, openDatabase, openFolder } from './open-store.ts';
import { provideSecretsKey } from '../keys/secrets-key.ts';
import type { ServeSettings } from '../settings/settings.ts';

/** The store of a host, and the keys that go with it. */
export function openStore(
  { store }: Pick<ServeSettings, 'store'>,
  folder: DataFolder,
  log: Log,
  options: FolderOptions = {},
): Promise<Store> {
  return store === undefined ? openFolder(folder, log, options) : openDatabase(store, log);
}

/** On a database of its own a host can do without a folder, if every key comes from outside. */
export function usesFolder({ store }: Pick<ServeSettings, 'store'>, env: Io['env']): boolean {
  const keys = ['WEFT_API_KEY', 'WEFT_SECRETS_KEY', 'WEFT_AUDIT_KEY'];
  return store === undefined || keys.some((name) => (env[name] ?? '') === '');
}

export async function provideKeys(
  env: Io['env'],
  settings: Pick<ServeSettings, 'store'>,
  { store, folder }: { readonly store: Store; readonly folder: DataFolder },
): Promise<{ readonly secretsKey: Uint8Array; readonly auditKey: KeyObject }> {
  if (usesFolder(settings, env)) {
    await makeDataFolder(folder).catch((cause: unknown) => {
      const way = 'Name another one with --data, or set WEFT_API_KEY, WEFT_SECRETS_KEY and WEFT_AUDIT_KEY.';
      throw unusable(
        'data_folder_unusable',
        `${folder.root} cannot be used: ${reasonOf(cause)}. ${way}`,
        cause,
      );
    });
  }
  const [secretsKey, auditKey] = await Promise.all([
    provideSecretsKey(env, folder),
    provideAuditKey(env, folder),
  ]);
  if (settings.store !== undefined) await fixKeys(store, { secretsKey, auditKey });
  return { secretsKey, auditKey };
}
