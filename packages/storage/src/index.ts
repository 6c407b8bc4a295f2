export {
  checkSqliteFile,
  NotAStoreError,
  openSqliteStore,
  StoreInUseError,
  StoreTooNewError,
} from './sqlite/index.ts';
export type { Finding, Owner, SqliteFaults, SqliteStoreOptions } from './sqlite/index.ts';
