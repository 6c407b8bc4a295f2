export {
  checkSqliteFile,
  NotAStoreError,
  openSqliteStore,
  sqliteRejection,
  StoreBehindError,
  StoreInUseError,
  StoreTooNewError,
} from './sqlite/index.ts';
export type { Finding, Owner, SqliteFaults, SqliteStoreOptions, StoreLoss } from './sqlite/index.ts';
export {
  checkPostgres,
  ConnectionLostError,
  isRetryable,
  openPostgresStore,
  reasonNotOpened,
  SchemaTooNewError,
  UnsafeDatabaseError,
} from './postgres/index.ts';
export type { DatabaseReport, PostgresFaults, PostgresStoreOptions } from './postgres/index.ts';
