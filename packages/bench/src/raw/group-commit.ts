import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Workload } from '../workloads.ts';
import { openRawDatabase, type RawUnit } from './database.ts';
import { eventsOf } from './rows.ts';

/** Whole runs of a workload written to SQLite in groups, nothing else: runs per second. */
export function measureGroupCommit(
  folder: string,
  workload: Workload,
  groupSize: number,
  ms: number,
): number {
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

function newRun(workload: Workload, rid: number): RawUnit {
  const at = Date.now();
  const create = { runId: randomBytes(16), at };
  return { rid, create, isOver: true, events: eventsOf(workload, at) };
}
