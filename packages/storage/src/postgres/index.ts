import type { Store } from '@weft/engine';
import { type Notifier, openNotifier } from './connections/notifier.ts';
import { prepareClaims } from './runs/claims.ts';
import { type PostgresFaults, prepareCommit } from './commits/commit.ts';
import { type ConnectionOptions, openConnection } from './connections/connection.ts';
import { prepareDocumentReader } from './documents/documents.ts';
import { prepareClaimDueDocuments } from './documents/due-documents.ts';
import { prepareReadCosts } from './runs/costs.ts';
import { prepareCountRuns, prepareListRuns } from './runs/list-runs.ts';
import { migrate } from './connections/migrations.ts';
import { prepareOrigins } from './runs/origins.ts';
import { createPool, type Pool } from './connections/pool.ts';
import { preparePrune } from './retention/prune.ts';
import { prepareRetentionReader } from './retention/read-retention.ts';
import { prepareRegistryReader } from './documents/read-registry.ts';
import { prepareRunReader } from './runs/read-run.ts';
import { prepareTasks } from './runs/tasks.ts';
import { prepareInDoubtUnits } from './commits/was-committed.ts';

export { checkPostgres } from './connections/check-database.ts';
export type { DatabaseReport } from './connections/check-database.ts';
export type { PostgresFaults } from './commits/commit.ts';
export { ConnectionLostError, SchemaTooNewError, UnsafeDatabaseError } from './connections/errors.ts';
export { isRetryable, reasonNotOpened } from './connections/connect-errors.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. Sessions are used as such: no pooler in transaction mode in between. */
  readonly url: string;
  /** Holds all tables; created when it does not exist. */
  readonly schema?: string;
  /** Connections for work; one more listens. */
  readonly maxConnections?: number;
  readonly statementTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** For tests; otherwise the database's clock counts. */
  readonly clock?: () => number;
  /** For tests. */
  readonly faults?: PostgresFaults;
}

const DEFAULTS = { schema: 'weft', maxConnections: 10, statementTimeoutMs: 10_000, connectTimeoutMs: 5_000 };

/**
 * Opens the schema, brought to this program's version; any number of processes may do so at once. Throws SchemaTooNewError,
 * UnsafeDatabaseError, or what PostgreSQL says.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, faults = {}, ...given } = options;
  const settings = { ...DEFAULTS, ...given };
  assertSchemaName(settings.schema);
  await prepareSchema(settings);
  const pool = createPool(settings);
  try {
    const notifier = await openNotifier(settings);
    return storeOn({ pool, notifier, clock, faults, ...settings });
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** PostgreSQL cuts longer names off without a word. */
const LONGEST_NAME = 63;

function assertSchemaName(schema: string): void {
  const length = Buffer.byteLength(schema);
  if (length === 0 || length > LONGEST_NAME || schema.includes('\0'))
    throw new TypeError(`schema must be a name of 1 to ${LONGEST_NAME} bytes; it has ${length}.`);
}

/** On a connection of its own, because a migration may take longer than anything else. */
async function prepareSchema(settings: ConnectionOptions): Promise<void> {
  const connection = await openConnection(settings);
  try {
    await migrate(connection, settings.schema);
  } finally {
    connection.destroy(new Error('the schema is ready'));
  }
}

interface Parts {
  readonly pool: Pool;
  readonly notifier: Notifier;
  readonly schema: string;
  readonly statementTimeoutMs: number;
  readonly clock: (() => number) | undefined;
  readonly faults: PostgresFaults;
}

function storeOn({ pool, notifier, schema, statementTimeoutMs, clock, faults }: Parts): Store {
  const runs = prepareRunReader(pool, clock);
  const registry = prepareRegistryReader(pool, clock);
  const documents = prepareDocumentReader(pool, clock);
  const claims = prepareClaims(pool, clock);
  const inDoubt = prepareInDoubtUnits(pool, runs, statementTimeoutMs);
  const commit = prepareCommit(pool, inDoubt, {
    schema,
    clock,
    faults,
    origins: prepareOrigins(pool, clock),
  });

  return {
    async commit(units) {
      const committed = await commit(units);
      inDoubt.add(committed.inDoubt);
      notifier.publishAppends(committed.appended);
      notifier.publishCommands(committed.commanded);
      return committed.results;
    },
    async committed(unit) {
      const isCommitted = await inDoubt.wasCommitted(unit);
      if (isCommitted && unit.kind === 'run' && unit.events.length > 0)
        notifier.publishAppends(new Map([[unit.runId, unit.expectedSeq + unit.events.length]]));
      if (isCommitted && unit.kind === 'command') notifier.publishCommands(new Map([[unit.runId, 0]]));
      return isCommitted;
    },
    watch: notifier.watch,

    ...runs,
    listRuns: prepareListRuns(pool, clock),
    countRuns: prepareCountRuns(pool),
    readCosts: prepareReadCosts(pool),
    ...prepareRetentionReader(pool, clock),
    ...claims,
    ...registry,
    ...documents,
    ...prepareTasks(pool, notifier, clock),
    claimDueDocuments: prepareClaimDueDocuments(pool, clock),

    prune: preparePrune(pool, clock),
    async ping() {
      await pool.use((connection) => connection.query('SELECT 1'));
    },
    async close() {
      await notifier.close();
      await pool.close();
    },
  };
}
