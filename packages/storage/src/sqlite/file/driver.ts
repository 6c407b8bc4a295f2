import type * as dropIn from '@photostructure/sqlite';
import { assertStorable } from '@weft/engine';

/**
 * The only file that knows which SQLite binding is used: the one that Node has built in, from 22.16 on; before that, the
 * package that gives Node 20 the same API.
 */
type Binding = Pick<typeof dropIn, 'backup' | 'DatabaseSync'>;

const { backup, DatabaseSync } = builtIn() ?? (await import('@photostructure/sqlite'));

function builtIn(): Binding | undefined {
  const { emitWarning } = process;
  // Node 22 calls it experimental on its first use. What is used of it here is what the tests of the store hold.
  process.emitWarning = () => {};
  try {
    const found = process.getBuiltinModule('node:sqlite') as Binding | undefined;
    return found !== undefined && isComplete(found) ? found : undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The first versions had neither busy timeouts nor `isTransaction`, which came together. */
function isComplete({ DatabaseSync: Database }: Binding): boolean {
  const db = new Database(':memory:');
  try {
    return 'isTransaction' in db;
  } finally {
    db.close();
  }
}

export type SqlValue = string | number | null | Uint8Array;

/** A column that holds the number of a word, or the word itself where the dictionary had no room for it. */
export type SqlWord = number | string;

export interface Statement<Row> {
  run(...parameters: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  /** Also the cheapest way to run a statement that has no rows: no object is made of what it has changed. */
  get(...parameters: SqlValue[]): Row | undefined;
  all(...parameters: SqlValue[]): Row[];
  iterate(...parameters: SqlValue[]): IterableIterator<Row>;
}

export interface Database {
  /** False also after SQLite rolled back by itself, as it does when the disk is full. */
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare<Row>(sql: string): Statement<Row>;
  close(): void;
}

export interface DatabaseOptions {
  readonly busyTimeoutMs: number;
  readonly readOnly?: boolean;
  /** What to throw when SQLite finds the file damaged; its own error where this is left out. */
  readonly onMalformed?: (error: unknown) => Error;
}

export function openDatabase(path: string, options: DatabaseOptions): Database {
  const { busyTimeoutMs, readOnly = false, onMalformed } = options;
  const thrown = (error: unknown): unknown =>
    onMalformed && isMalformed(error) ? onMalformed(error) : error;
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly, enableForeignKeyConstraints: false });
  return {
    get isTransaction() {
      return db.isTransaction;
    },
    exec: (sql) => db.exec(sql),
    prepare: <Row>(sql: string) => guarded<Row>(db.prepare(sql), thrown),
    close: () => db.close(),
  };
}

/** No text is bound that the binding would change on the way: it cuts at NUL. Throws UnstorableTextError. */
function guarded<Row>(statement: Statement<Row>, thrown: (error: unknown) => unknown): Statement<Row> {
  return {
    run(...parameters) {
      assertStorable(parameters);
      try {
        return statement.run(...parameters);
      } catch (error) {
        throw thrown(error);
      }
    },
    get(...parameters) {
      assertStorable(parameters);
      try {
        return statement.get(...parameters);
      } catch (error) {
        throw thrown(error);
      }
    },
    all(...parameters) {
      assertStorable(parameters);
      try {
        return statement.all(...parameters);
      } catch (error) {
        throw thrown(error);
      }
    },
    *iterate(...parameters) {
      assertStorable(parameters);
      try {
        yield* statement.iterate(...parameters);
      } catch (error) {
        throw thrown(error);
      }
    },
  };
}

const ALL_PAGES = 0x7fff_ffff;

/**
 * Copies a database as of one moment, while others write to it. All pages go in one step on a thread of its own: with smaller ones
 * SQLite begins again after every write.
 */
export async function copyDatabase(path: string, copy: string): Promise<void> {
  const source = new DatabaseSync(path, { timeout: 5_000, readOnly: true });
  try {
    await backup(source, copy, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

const SQLITE_ERROR = 1;
export const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
export const SQLITE_NOTADB = 26;

/** SQLite's primary result code, or undefined when the error is not SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  if (!('code' in error)) return undefined;
  // A number that no program of ours has written: the bindings read integers up to 2^53.
  if (error.code === 'ERR_OUT_OF_RANGE') return SQLITE_CORRUPT;
  // A value of a kind that the types do not allow to be bound: it was read where the file says something else than its schema.
  if (error.code === 'ERR_INVALID_ARG_TYPE') return SQLITE_CORRUPT;
  // Where reading several rows fails halfway, a binding reports SQLite as the source, but not the number.
  return error.code === 'ERR_SQLITE_ERROR' ? SQLITE_ERROR : undefined;
}

/** Not every error of the binding brings its number along. A value that is no JSON is damage to its row, not to the file. */
function isMalformed(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return true;
  return (
    code === SQLITE_ERROR &&
    error instanceof Error &&
    /malformed(?! JSON)|too large to be represented/.test(error.message)
  );
}
