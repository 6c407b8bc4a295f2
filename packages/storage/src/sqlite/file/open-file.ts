import type { Database, SqlValue } from './driver.ts';
import { openDatabase, SQLITE_NOTADB, sqliteCode } from './driver.ts';
import { NotAStoreError } from './errors.ts';
import { migrate, schemaVersion } from './migrations.ts';

/** 'WEFT': distinguishes our files from those of other programs. */
const APPLICATION_ID = 0x57454654;

export interface FileOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly maxPageCount: number | undefined;
  readonly onMalformed?: (error: unknown) => Error;
}

/** Opens and migrates the file. Refuses to continue with settings under which an acknowledged fact could be lost. */
export function openFile({ path, busyTimeoutMs, maxPageCount, onMalformed }: FileOptions): Database {
  const db = openDatabase(path, { busyTimeoutMs, ...(onMalformed !== undefined && { onMalformed }) });
  try {
    assertOurs(db, path);
    applySettings(db);
    migrate(db, path);
    const renamed = renamedColumn(db);
    if (renamed !== undefined) throw onMalformed?.(new Error(renamed)) ?? new Error(renamed);
    if (maxPageCount !== undefined) db.exec(`PRAGMA max_page_count = ${maxPageCount}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function assertOurs(db: Database, path: string): void {
  try {
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (isEmpty && schemaVersion(db) === 0) return;
  } catch (cause) {
    throw sqliteCode(cause) === SQLITE_NOTADB
      ? new NotAStoreError(path, 'not an SQLite database', { cause })
      : cause;
  }
  if (readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw new NotAStoreError(path, 'an SQLite database of another program');
  }
}

/**
 * SQLite does not mind when a damaged name of a column differs from the one asked for by the case of a letter alone. It answers with the
 * name in the file, so that rows would seem to lack what is in them. All of ours are in lower case.
 */
export function renamedColumn(db: Database): string | undefined {
  const found = db
    .prepare<{ readonly name: string; readonly column: string }>(
      `SELECT tables.name, columns.name AS "column" FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND columns.name <> lower(columns.name) LIMIT 1`,
    )
    .get();
  return found && `The schema is damaged: table ${found.name} has a column ${found.column}.`;
}

/**
 * Durability is not a default to hope for: each setting is written, then read back. Nor is it that what was taken away is gone:
 * SQLite moves rows from page to page while tables grow, and what it leaves behind must be overwritten then, not only when the
 * row itself is deleted.
 */
function applySettings(db: Database): void {
  const required = { journal_mode: 'wal', synchronous: 2, fullfsync: 1, foreign_keys: 0, secure_delete: 1 };
  for (const [name, value] of Object.entries(required)) {
    readPragma(db, `${name} = ${value}`);
    const answer = readPragma(db, name);
    if (answer !== value) {
      throw new Error(
        `SQLite answers ${name} = ${String(answer)} where ${value} was set; the store would not be safe.`,
      );
    }
  }
  db.exec(
    'PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864',
  );
}

function readPragma(db: Database, pragma: string): SqlValue | undefined {
  const row = db.prepare<Record<string, SqlValue>>(`PRAGMA ${pragma}`).get();
  return row && Object.values(row)[0];
}
