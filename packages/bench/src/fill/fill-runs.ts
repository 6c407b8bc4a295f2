import { setImmediate as turn } from 'node:timers/promises';
import type { RunUnit, Store } from '@weft/engine';
import { newBatchId, newRunId, type Seed } from './seed.ts';

const GROUP = 2_000;
/** Between the creation of two runs. */
const STEP_MS = 7;

/** Writes finished runs like the pattern, the newest one just before it. */
export async function fillRuns(store: Store, seed: Seed, count: number): Promise<void> {
  const first = seed.row.record.createdAt - count * STEP_MS;
  for (let done = 0; done < count; done += GROUP) {
    const size = Math.min(GROUP, count - done);
    const units = Array.from({ length: size }, (_, index) => copyOf(seed, first + (done + index) * STEP_MS));
    const results = await store.commit(units);
    const bad = results.find(({ state }) => state !== 'committed');
    if (bad !== undefined) throw new Error(`filling the store: ${JSON.stringify(bad)}`);
    await turn();
  }
}

function copyOf({ row, events }: Seed, createdAt: number): RunUnit {
  const runId = newRunId(createdAt);
  const later = createdAt - row.record.createdAt;
  const { startedAt, endedAt, ...head } = row.head;
  return {
    kind: 'run',
    batchId: newBatchId(),
    tenant: row.record.tenant,
    runId,
    create: { record: { ...row.record, runId, createdAt }, exclusiveScope: false },
    epoch: 0,
    expectedSeq: 0,
    events: events.map((event) => ({ ...event, at: event.at + later })),
    head: {
      ...head,
      ...(startedAt === undefined ? {} : { startedAt: startedAt + later }),
      ...(endedAt === undefined ? {} : { endedAt: endedAt + later }),
    },
  };
}
