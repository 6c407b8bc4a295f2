import { assertStorable } from '@weft/engine';
import postgres from 'postgres';
import { readUrl, type Target } from './connection-url.ts';
import { codeOf, ConnectionLostError, isAboutTrust, UnsafeDatabaseError } from './errors.ts';
import type { Scalar, Statement } from '../runs/rows.ts';

/**
 * One connection, which is open and then closed, and never opened again.
 *
 * 1. The client library would reconnect by itself, and statements of a transaction that lostBecause could then run on the new
 *    session, one by one, outside of any transaction. So each connection is a client of its own with a single, reserved
 *    session, and once that is gone nothing is sent any more: every later and every unanswered call is rejected with
 *    ConnectionLostError.
 * 2. Statements sent without waiting for each other travel together and run in order.
 * 3. Settings on which durability depends are part of the connection's start and are read back before its first use.
 * 4. Nothing is sent of what holds a text that the server would refuse or change (UnstorableTextError), and nothing of the
 *    statements that were to travel with it.
 * 5. A read-only server counts as unavailable: during a failover a name may lead to a replica, and a primary may become one
 *    under an open connection. Nothing is read there either, because a replica may not know yet what was acknowledged.
 */
export interface Connection {
  readonly backend: Backend;
  readonly isOpen: () => boolean;
  query<Row>(text: string, values?: readonly Scalar[]): Promise<readonly Row[]>;
  /** Sends all of them together. Answers the commands' tags, such as `COMMIT`. */
  runAll(statements: readonly Statement[]): Promise<string[]>;
  /** Ends it at once; pending queries are rejected with the reason. */
  destroy(reason: Error): void;
}

/** The server's process for a connection. Numbers are given out again, so when it began is part of its name. */
export interface Backend {
  readonly pid: number;
  readonly began: string;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly schema: string;
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly onNotify?: (channel: string, payload: string) => void;
  /** Once, when an open connection ends without `end`. */
  readonly onClose?: () => void;
}

const OLDEST_SERVER = 130_000;
const READ_ONLY =
  'The server is read-only: it is a replica, or set so, as some providers do when the disk is full';
/** read_only_sql_transaction */
const NOT_WRITABLE = '25006';

interface Settings extends Backend {
  readonly synchronous_commit: string;
  readonly fsync: string;
  readonly encoding: string;
  readonly version: number;
  readonly read_only: boolean;
}

const READ_SETTINGS = `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
  current_setting('server_encoding') AS encoding, current_setting('server_version_num')::int AS version,
  current_setting('transaction_read_only')::bool AS read_only,
  pid, extract(epoch FROM backend_start)::text AS began FROM pg_stat_activity WHERE pid = pg_backend_pid()`;

/** To the first server of the URL that can be written to. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  // Read for every connection: files with certificates are replaced while the host runs.
  const targets = readUrl(options.url);
  let failure: unknown;
  for (const target of targets) {
    try {
      return await openTo(target, options);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function openTo(target: Target, options: ConnectionOptions): Promise<Connection> {
  const end = newConnectionEnd();
  let wasOpened = false;
  const lose = (reason: Error): void => {
    if (end.markLost(reason) && wasOpened) options.onClose?.();
  };
  const client = newClient(target, options, lose);
  try {
    const [settings] = await client.unsafe<Settings[]>(READ_SETTINGS);
    const backend = assertSafe(settings);
    if (settings?.read_only === true) throw new ConnectionLostError(READ_ONLY);
    const session = await client.reserve();
    const reason = end.reason();
    if (reason) throw reason;
    wasOpened = true;
    return sessionOn(session, client, { backend, end, lose });
  } catch (error) {
    end.markLost(new ConnectionLostError('the connection was not opened'));
    await client.end({ timeout: 0 });
    // A certificate does not become a trusted one by waiting.
    throw isSocketError(error) && !isAboutTrust(error)
      ? new ConnectionLostError(`PostgreSQL cannot be reached: ${describe(error)}`, error)
      : error;
  }
}

interface ConnectionEnd {
  readonly reason: () => Error | undefined;
  /** Settles as the answer does, or is rejected when the connection is gone before there is one. */
  before<Answer>(answer: PromiseLike<Answer>): Promise<Answer>;
  /** False when it had happened before. */
  markLost(reason: Error): boolean;
}

function newConnectionEnd(): ConnectionEnd {
  const unanswered = new Set<(reason: Error) => void>();
  let lostBecause: Error | undefined;
  return {
    reason: () => lostBecause,
    before: (answer) =>
      new Promise((resolve, reject) => {
        unanswered.add(reject);
        answer.then(
          (value) => {
            unanswered.delete(reject);
            resolve(value);
          },
          (error: unknown) => {
            unanswered.delete(reject);
            reject(error);
          },
        );
      }),
    markLost(reason) {
      if (lostBecause) return false;
      lostBecause = reason;
      for (const reject of unanswered) reject(reason);
      unanswered.clear();
      return true;
    },
  };
}

type Client = ReturnType<typeof newClient>;

function newClient(
  { url, ssl }: Target,
  options: Omit<ConnectionOptions, 'url'>,
  onDeath: (reason: Error) => void,
) {
  const { schema, statementTimeoutMs, connectTimeoutMs, onNotify } = options;
  const settings = {
    max: 1,
    ssl,
    connect_timeout: connectTimeoutMs / 1_000,
    max_lifetime: null,
    idle_timeout: 0,
    fetch_types: false,
    onnotice: () => {},
    onclose: () => onDeath(new ConnectionLostError('the connection to PostgreSQL was closed')),
    // Handed on to the session by the client, although its types do not say so.
    ...(onNotify && { onnotify: onNotify }),
    types: {
      bigint: {
        to: 20,
        from: [20],
        parse: (text: string) => Number(text),
        serialize: (value: number) => String(value),
      },
    },
    connection: {
      application_name: 'weft',
      search_path: quoteIdentifier(schema),
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed' as const,
      statement_timeout: statementTimeoutMs,
      // Pages of active runs are in memory: one found by its key costs no more than the next one on the disk.
      random_page_cost: 1.1,
      // A client that fell asleep inside a transaction must not hold its locks for ever.
      idle_in_transaction_session_timeout: statementTimeoutMs,
    },
  };
  return postgres(url, settings);
}

function assertSafe(settings: Settings | undefined): Backend {
  if (!settings) throw new Error('PostgreSQL gave no answer when asked for its settings.');
  const { synchronous_commit, fsync, encoding, version, pid, began } = settings;
  if (version < OLDEST_SERVER)
    throw new Error(`The server's version is ${version / 10_000}; PostgreSQL 13 or newer is needed.`);
  if (synchronous_commit !== 'on' && synchronous_commit !== 'remote_apply') {
    throw new UnsafeDatabaseError(
      `synchronous_commit is ${synchronous_commit}`,
      'Take it out of the connection URL.',
    );
  }
  if (fsync !== 'on')
    throw new UnsafeDatabaseError('The server runs with fsync = off', 'Turn it on in postgresql.conf.');
  if (encoding !== 'UTF8') {
    throw new UnsafeDatabaseError(
      `The database's encoding is ${encoding}`,
      'Create one with ENCODING UTF8 and name it in the URL.',
    );
  }
  return { pid, began };
}

interface ConnectionParts {
  readonly backend: Backend;
  readonly end: ConnectionEnd;
  /** The connection was lost. */
  readonly lose: (reason: Error) => void;
}

function sessionOn(
  session: postgres.ReservedSql,
  client: Client,
  { backend, end, lose }: ConnectionParts,
): Connection {
  function send<Row extends object>(text: string, values: readonly Scalar[]) {
    const reason = end.reason();
    if (reason) return Promise.reject(reason);
    const answer = session.unsafe<Row[]>(text, [...values], { prepare: values.length > 0 }).execute();
    return end.before(answer).catch((error: unknown) => {
      if (error instanceof postgres.PostgresError && error.code === NOT_WRITABLE) {
        const reason = new ConnectionLostError(READ_ONLY);
        lose(reason);
        void client.end({ timeout: 0 });
        throw reason;
      }
      throw isSocketError(error) ? new ConnectionLostError(describe(error), error) : error;
    });
  }

  return {
    backend,
    isOpen: () => end.reason() === undefined,
    async query<Row>(text: string, values: readonly Scalar[] = []) {
      assertStorable(values);
      return (await send<Row & object>(text, values)) as readonly Row[];
    },
    async runAll(statements) {
      for (const { values } of statements) assertStorable(values);
      const answers = await together(statements.map(({ text, values }) => send(text, values)));
      return answers.map(({ command }) => command);
    },
    destroy(reason) {
      end.markLost(reason);
      void client.end({ timeout: 0 });
    },
  };
}

/** Sends statements together, waits for all, and throws the first error: those after it only say that it happened. */
export async function together<Result>(sent: readonly Promise<Result>[]): Promise<Result[]> {
  const answers = await Promise.allSettled(sent);
  return answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  });
}

/** What the operating system or the client says about a socket; the server's own errors have five-character codes. */
function isSocketError(error: unknown): boolean {
  if (error instanceof postgres.PostgresError)
    return error.severity === 'FATAL' || error.severity === 'PANIC';
  return /^(CONNECT|E[A-Z])/.test(codeOf(error));
}

/** Without the address: the code says what happened, and the person knows what the URL names. */
function describe(error: unknown): string {
  if (error instanceof postgres.PostgresError) return error.message;
  if (error instanceof Error && error.message.includes('before secure TLS connection'))
    return 'it broke off the TLS handshake, as a server without TLS does (sslmode=disable in the URL does without)';
  return codeOf(error) || String(error);
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
