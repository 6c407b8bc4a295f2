export {
  checkSqliteFile,
  NotAStoreError,
  openSqliteStore,
  StoreInUseError,
  StoreTooNewError,
} from './sqlite/index.ts';
export type { Finding, Owner, SqliteFaults, SqliteStoreOptions } from './sqlite/index.ts';
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
