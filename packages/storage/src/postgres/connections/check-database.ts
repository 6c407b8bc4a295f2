import { findDamagedRows } from './check-sums.ts';
import { type Connection, openConnection, quoteIdentifier } from './connection.ts';
import { SCHEMA_VERSION, versionFound } from './migrations.ts';

export interface DatabaseCheckOptions {
  readonly url: string;
  readonly schema: string;
  /** Reads every log, too. */
  readonly deep: boolean;
}

export interface DatabaseReport {
  readonly serverVersion: string;
  /** 0: the schema is not there yet. */
  readonly schemaVersion: number;
  readonly supportedVersion: number;
  /** One round trip. */
  readonly answeredInMs: number;
  /** How far the database's clock is ahead of this machine's. */
  readonly clockAheadMs: number;
  readonly connections: { readonly used: number; readonly max: number };
  /** What is wrong with what is stored; empty unless asked for. */
  readonly problems: readonly string[];
}

const TIMEOUT_MS = 10_000;
const MOST_PROBLEMS = 100;

/** Looks at a database and changes nothing; hosts may be at work on it. Throws like `openPostgresStore`. */
export async function checkPostgres({ url, schema, deep }: DatabaseCheckOptions): Promise<DatabaseReport> {
  const connection = await openConnection({
    url,
    schema,
    statementTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: TIMEOUT_MS,
  });
  try {
    const schemaVersion = await versionFound(connection, schema);
    const askedAt = Date.now();
    const [state] = await connection.query<ServerState>(STATE);
    const answeredAt = Date.now();
    if (!state) throw new Error('PostgreSQL gave no answer when asked for its state.');
    return {
      serverVersion: state.version,
      schemaVersion,
      supportedVersion: SCHEMA_VERSION,
      answeredInMs: answeredAt - askedAt,
      clockAheadMs: Math.round(state.now - (askedAt + answeredAt) / 2),
      connections: { used: state.used, max: state.max },
      problems: deep && schemaVersion === SCHEMA_VERSION ? await findProblems(connection, schema) : [],
    };
  } finally {
    connection.destroy(new Error('the check is over'));
  }
}

interface ServerState {
  readonly version: string;
  readonly now: number;
  readonly used: number;
  readonly max: number;
}

const STATE = `SELECT current_setting('server_version') AS version,
  (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS used,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS max`;

/** Each answers a `subject` for every row that should not be there. Forks begin where they leave their source. */
const CHECKS: readonly (readonly [text: string, sql: string])[] = [
  [
    'the log has a gap, or another length than its run says',
    `SELECT runs.id AS subject FROM runs CROSS JOIN LATERAL (
       SELECT count(*) AS n, min(seq) AS low, max(seq) AS high FROM events WHERE run = runs.id) AS log
     WHERE CASE WHEN log.n = 0 THEN runs.source IS NULL AND next_seq <> 0
       ELSE log.high + 1 <> next_seq OR log.high - log.low + 1 <> log.n OR (runs.source IS NULL AND log.low <> 0) END`,
  ],
  [
    'the run has ended, but its log has not; or the other way round',
    `SELECT runs.id AS subject FROM runs JOIN events ON events.run = runs.id AND events.seq = runs.next_seq - 1
     WHERE (status >= 6) <> (type IN ('run.completed', 'run.failed', 'run.cancelled'))`,
  ],
  [
    'the run counts other commands than there are',
    `SELECT id AS subject FROM runs
     WHERE inbox <> (SELECT count(*) FROM commands WHERE run = runs.id AND verdict IS NULL) AND status < 6`,
  ],
  [
    'the definition of the workflow is missing',
    `SELECT id AS subject FROM workflows WHERE NOT EXISTS (SELECT 1 FROM definitions WHERE digest = workflows.digest)`,
  ],
  [
    'there are events without a run',
    `SELECT run AS subject FROM events WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = run) GROUP BY run`,
  ],
];

/** In one snapshot, so that what hosts write meanwhile is seen whole or not at all. */
async function findProblems(connection: Connection, schema: string): Promise<string[]> {
  await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await connection.query('SET LOCAL statement_timeout = 0');
  await connection.query(`SET LOCAL search_path = ${quoteIdentifier(schema)}`);
  const problems: string[] = [];
  for (const [text, sql] of CHECKS) {
    const rows = await connection.query<{ subject: string }>(`${sql} LIMIT ${MOST_PROBLEMS}`);
    problems.push(...rows.map(({ subject }) => `${subject}: ${text}`));
  }
  for await (const problem of findDamagedRows(connection)) {
    problems.push(problem);
    if (problems.length >= MOST_PROBLEMS) break;
  }
  await connection.query('ROLLBACK');
  return problems;
}
