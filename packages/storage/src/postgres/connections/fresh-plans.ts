import type { Connection } from './connection.ts';

/** Twice as many uses each time: a plan is never much older than half of what its connection has seen. */
const FIRST_AT = 64;

/**
 * PostgreSQL keeps the plan of a prepared statement until statistics are gathered again, a minute or more. A plan that was made
 * for a table of a few pages reads all of it, and still does when there are a hundred thousand rows: the first minutes of
 * a busy schema would get slower and slower. So a connection forgets its plans now and then, and more and more rarely.
 */
export function createFreshPlans(): (connection: Pick<Connection, 'query'>) => Promise<void> {
  const uses = new WeakMap<Pick<Connection, 'query'>, { count: number; next: number }>();
  return async (connection) => {
    let use = uses.get(connection);
    if (use === undefined) {
      use = { count: 0, next: FIRST_AT };
      uses.set(connection, use);
    }
    use.count += 1;
    if (use.count < use.next) return;
    use.next *= 2;
    await connection.query('DISCARD PLANS');
  };
}
