import { createHash } from 'node:crypto';
import { type Connection, quoteIdentifier, together } from './connection.ts';
import { SchemaTooNewError } from './errors.ts';
import { migration0001 } from './migrations/0001-initial.ts';
import { migration0002 } from './migrations/0002-holders-say-who-they-are.ts';
import { migration0003 } from './migrations/0003-audit-kept.ts';
import { migration0004 } from './migrations/0004-origins.ts';
import { migration0005 } from './migrations/0005-integrity.ts';
import { migration0006 } from './migrations/0006-quarantine.ts';
import { migration0007 } from './migrations/0007-drop-link-secret.ts';
import { migration0008 } from './migrations/0008-tenant-turns.ts';
import { migration0009 } from './migrations/0009-tasks.ts';
import { migration0010 } from './migrations/0010-due-documents.ts';
import { migration0011 } from './migrations/0011-run-filters.ts';
import { migration0012 } from './migrations/0012-costs.ts';

/** In order; each is frozen once released. */
const MIGRATIONS = [
  migration0001,
  migration0002,
  migration0003,
  migration0004,
  migration0005,
  migration0006,
  migration0007,
  migration0008,
  migration0009,
  migration0010,
  migration0011,
  migration0012,
] as const;

export const SCHEMA_VERSIONS = MIGRATIONS.map(({ version }) => version);
export const SCHEMA_VERSION = Math.max(...SCHEMA_VERSIONS);

/**
 * Brings the schema to this program's version, all steps in one transaction. Processes that start at the same time take turns
 * by an advisory lock; the second one finds the work done.
 */
export async function migrate(connection: Connection, schema: string): Promise<void> {
  if ((await versionFound(connection, schema)) === SCHEMA_VERSION) return;
  try {
    await together([
      connection.query('BEGIN'),
      connection.query('SET LOCAL statement_timeout = 0'),
      connection.query(`SELECT pg_advisory_xact_lock(${lockKey(schema, 'migrations')})`),
    ]);
    const found = await versionFound(connection, schema);
    if (found === 0) await createSchema(connection, schema);
    for (const { version, sql } of MIGRATIONS) {
      if (version <= found) continue;
      await connection.query(`${sql}; INSERT INTO schema_versions (version) VALUES (${version})`);
    }
    await connection.query('COMMIT');
  } catch (error) {
    if (connection.isOpen()) await connection.query('ROLLBACK');
    throw error;
  }
}

/** A role that may not create schemas can use one that was made for it. */
async function createSchema(connection: Connection, schema: string): Promise<void> {
  const [row] = await connection.query<{ missing: boolean }>(
    'SELECT NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1::text) AS missing',
    [schema],
  );
  if (row?.missing) await connection.query(`CREATE SCHEMA ${quoteIdentifier(schema)}`);
  await connection.query(
    `CREATE TABLE ${quoteIdentifier(schema)}.schema_versions (
       version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT statement_timestamp())`,
  );
}

/** 0 when there is none. Throws SchemaTooNewError. */
export async function versionFound(connection: Connection, schema: string): Promise<number> {
  // Asked of the catalogue itself: to_regclass may answer from a cache of before the wait for the lock.
  const known = await connection.query(
    `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1::text AND relname = 'schema_versions'`,
    [schema],
  );
  if (known.length === 0) return 0;
  const [row] = await connection.query<{ version: number | null }>(
    `SELECT max(version) AS version FROM ${quoteIdentifier(schema)}.schema_versions`,
  );
  const found = row?.version ?? 0;
  if (found > SCHEMA_VERSION) throw new SchemaTooNewError(schema, found, SCHEMA_VERSION);
  return found;
}

/** Advisory locks are named by a number, and all schemas of a database share the numbers. */
export function lockKey(...names: readonly string[]): bigint {
  return createHash('sha256').update(JSON.stringify(names)).digest().readBigInt64BE(0);
}
