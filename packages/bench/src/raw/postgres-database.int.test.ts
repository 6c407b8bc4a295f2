import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../hosts/postgres-server.ts';
import { workloadOf } from '../load/workloads.ts';
import { openRawPostgres } from './postgres-database.ts';
import { eventsOf, batchesOf } from './rows.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server.remove());

describe('the bare sketch on PostgreSQL', () => {
  it('keeps every event of runs that are written together and in batches', async () => {
    const schema = server.newSchema();
    const db = await openRawPostgres(`${server.url}#${schema}`);
    const at = Date.now();
    const events = eventsOf(workloadOf('E'), at);
    const [first = [], ...rest] = batchesOf(workloadOf('E'), events);
    const runIds = [randomBytes(16), randomBytes(16)];

    await db.commit(
      runIds.map((runId, rid) => ({ rid, create: { runId, at }, isOver: false, events: first })),
    );
    for (const [index, batch] of rest.entries())
      await db.commit(runIds.map((_, rid) => ({ rid, isOver: index === rest.length - 1, events: batch })));

    for (const runId of runIds) expect(await db.read(runId)).toEqual(events);
    expect(await server.schemaBytes(schema)).toBeGreaterThan(0);
    await db.close();
  });
});
