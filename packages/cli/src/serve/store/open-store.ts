import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { AuditEntry, Log, Store } from '@weft/engine';
import {
  isRetryable,
  openPostgresStore,
  openSqliteStore,
  reasonNotOpened,
  StoreBehindError,
  type StoreLoss,
} from '@weft/storage';
import { type DataFolder, makeDataFolder } from '../../connecting/data-folder.ts';
import { type CliError, unusable } from '../../exit-code.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { LOST_DATA_WAYS_OUT } from './lost-data.ts';
import { shownUrl } from './postgres-url.ts';
import type { PostgresSettings } from '../settings/settings.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export interface FolderOptions {
  readonly maxPageCount?: number | undefined;
  /** Called when acknowledged writes are missing and that is accepted. Without it such a folder is not opened. */
  readonly acceptLoss?: ((loss: StoreLoss) => AuditEntry) | undefined;
}

/** The file of the folder, which has one owner process. */
export async function openFolder(
  folder: DataFolder,
  log: Log,
  { maxPageCount, acceptLoss }: FolderOptions,
): Promise<Store> {
  try {
    await makeDataFolder(folder);
    return openSqliteStore({
      path: folder.database,
      ...(maxPageCount !== undefined && { maxPageCount }),
      // The last file that a first start makes, when all else is there.
      isExpected: existsSync(folder.identityFile),
      ...(acceptLoss !== undefined && { acceptLoss }),
      onDamage: (reason) =>
        log('error', { reason }, 'the database is damaged; restore a backup, and see weft doctor --deep'),
      onScrubDelayed: (reason) =>
        log('warn', { reason }, 'erased data is still in the write-ahead log; retrying'),
    });
  } catch (cause) {
    if (cause instanceof StoreBehindError)
      throw unusable('data_lost', `${cause.message}. ${LOST_DATA_WAYS_OUT}`, cause);
    const isOurs = cause instanceof Error && /^(Store|NotAStore)/.test(cause.name);
    const message = isOurs ? cause.message : `${folder.root} cannot be used: ${reasonOf(cause)}.`;
    throw unusable('data_folder_unusable', message, cause);
  }
}

/**
 * The database that processes share. One that is away, still starting or full is waited for, because in a rollout hosts and
 * database start together; what only a person can put right is said at once.
 */
export async function openDatabase(settings: PostgresSettings, log: Log): Promise<Store> {
  const { url, schema, connections: maxConnections, waitMs } = settings;
  const until = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await openPostgresStore({ url, schema, maxConnections });
    } catch (cause) {
      if (!isRetryable(cause) || performance.now() + pauseMs > until) throw databaseError(settings, cause);
      log('warn', { database: shownUrl(url), reason: reasonNotOpened(cause) }, 'waiting for the database');
      await pause(pauseMs);
    }
  }
}

function databaseError({ url, waitMs }: PostgresSettings, cause: unknown): CliError {
  const waited = isRetryable(cause) ? ` Gave up after ${Math.round(waitMs / 1_000)} s.` : '';
  // Without the cause: it could quote the URL it was given.
  return unusable('database_unusable', `${shownUrl(url)}: ${reasonNotOpened(cause)}${waited}`);
}
