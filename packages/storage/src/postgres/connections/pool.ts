import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { ConnectionLostError } from './errors.ts';
import { createFreshPlans } from './fresh-plans.ts';

/** A bounded number of connections, each used by one caller at a time. */
export interface Pool {
  use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface PoolOptions extends ConnectionOptions {
  readonly maxConnections: number;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
/** A transaction is a few statements, each bounded by the server; past this many timeouts the network has swallowed the answer. */
const PATIENCE = 4;

interface Waiting {
  resolve(connection: Connection | undefined): void;
  reject(error: Error): void;
}

/**
 * A caller gets an idle connection, or a new one while there is room, or waits in line. A connection that died is dropped; after
 * one that could not be opened, callers are refused at once for a pause that doubles up to two seconds, so that a server that
 * comes back is not run over.
 */
export function createPool(options: PoolOptions): Pool {
  const { maxConnections, statementTimeoutMs } = options;
  const patienceMs = PATIENCE * statementTimeoutMs;
  const freshenPlans = createFreshPlans();
  let idle: Connection[] = [];
  const inUse = new Set<Connection>();
  const waiting: Waiting[] = [];
  let size = 0;
  let isClosed = false;
  let failures = 0;
  let failure: { readonly error: unknown; readonly until: number } | undefined;

  async function take(): Promise<Connection> {
    for (;;) {
      if (isClosed) throw new ConnectionLostError('the store is closed');
      const ready = idle.pop();
      if (ready?.isOpen()) return ready;
      if (ready) size -= 1;
      else if (size < maxConnections) return open();
      else {
        const handed = await inLine();
        if (handed) return handed;
      }
    }
  }

  /** Waits for a connection, or for room to open one. */
  function inLine(): Promise<Connection | undefined> {
    return new Promise((resolve, reject) => {
      const place: Waiting = {
        resolve: (connection) => {
          clearTimeout(timer);
          resolve(connection);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(place), 1);
        reject(new ConnectionLostError(`all ${maxConnections} connections to PostgreSQL are busy`));
      }, patienceMs);
      waiting.push(place);
    });
  }

  async function open(): Promise<Connection> {
    if (failure && performance.now() < failure.until) {
      // Waiting callers get the same error: no one else would reject them.
      waiting.shift()?.resolve(undefined);
      throw failure.error;
    }
    size += 1;
    try {
      const connection = await openConnection(options);
      failures = 0;
      failure = undefined;
      return connection;
    } catch (error) {
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      failures += 1;
      failure = { error, until: performance.now() + pause };
      drop();
      throw error;
    }
  }

  function drop(): void {
    size -= 1;
    waiting.shift()?.resolve(undefined);
  }

  function releaseClaim(connection: Connection): void {
    inUse.delete(connection);
    if (!connection.isOpen()) return drop();
    if (isClosed) return connection.destroy(new ConnectionLostError('the store is closed'));
    const next = waiting.shift();
    if (next) next.resolve(connection);
    else idle.push(connection);
  }

  return {
    async use(work) {
      const connection = await take();
      inUse.add(connection);
      const watchdog = setTimeout(() => {
        connection.destroy(new ConnectionLostError(`PostgreSQL gave no answer for ${patienceMs} ms`));
      }, patienceMs);
      try {
        await freshenPlans(connection);
        return await work(connection);
      } finally {
        clearTimeout(watchdog);
        releaseClaim(connection);
      }
    },
    async close() {
      isClosed = true;
      const reason = new ConnectionLostError('the store is closed');
      for (const place of waiting.splice(0)) place.reject(reason);
      for (const connection of [...idle, ...inUse]) connection.destroy(reason);
      idle = [];
    },
  };
}
