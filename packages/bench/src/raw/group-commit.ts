import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Workload } from '../load/workloads.ts';
import { openRawDatabase, type RawUnit } from './database.ts';
import { openRawPostgres, PARALLEL_GROUPS } from './postgres-database.ts';
import { eventsOf } from './rows.ts';

export interface GroupCommit {
  readonly workload: Workload;
  readonly groupSize: number;
  readonly ms: number;
}

/** Whole runs of a workload written to SQLite in groups, nothing else: runs per second. */
export function measureGroupCommit(folder: string, { workload, groupSize, ms }: GroupCommit): number {
  const db = openRawDatabase(
    join(folder, `group-${workload.name}-${groupSize}-${randomBytes(4).toString('hex')}.db`),
  );
  const started = performance.now();
  let runs = 0;
  while (performance.now() - started < ms) {
    db.commit(Array.from({ length: groupSize }, () => newRun(workload, (runs += 1))));
  }
  const elapsed = performance.now() - started;
  db.close();
  return (runs / elapsed) * 1000;
}

/** The same on PostgreSQL, a few groups at a time; one when groups are of one. */
export async function measurePostgresCommit(
  place: string,
  { workload, groupSize, ms }: GroupCommit,
): Promise<number> {
  const db = await openRawPostgres(place);
  const started = performance.now();
  let runs = 0;
  const write = async () => {
    while (performance.now() - started < ms) {
      await db.commit(Array.from({ length: groupSize }, () => newRun(workload, (runs += 1))));
    }
  };
  await Promise.all(Array.from({ length: groupSize === 1 ? 1 : PARALLEL_GROUPS }, write));
  const elapsed = performance.now() - started;
  await db.close();
  return (runs / elapsed) * 1000;
}

function newRun(workload: Workload, rid: number): RawUnit {
  const at = Date.now();
  const create = { runId: randomBytes(16), at };
  return { rid, create, isOver: true, events: eventsOf(workload, at) };
}
