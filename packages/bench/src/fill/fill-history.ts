import { setImmediate as turn } from 'node:timers/promises';
import type { Checkpoint, RunUnit, Store, StoredEvent } from '@weft/engine';
import { newBatchId, newRunId, type Seed } from './seed.ts';

const GROUP = 5_000;
const HOLDER = 'bench-filler';

/**
 * Writes a waiting run like the pattern whose log is filled with log lines up to a length, with the checkpoint that a host
 * would have left at its end. Returns its id.
 */
export async function fillHistory(store: Store, seed: Seed, length: number): Promise<string> {
  const runId = newRunId(seed.row.record.createdAt);
  const first = seed.events.length;
  if (first > length) throw new Error(`the pattern alone has ${first} events, more than ${length}`);
  await store.heartbeat(HOLDER, 3_600_000);
  await write(store, creation(seed, runId));
  for (let seq = first; seq < length; seq += GROUP) {
    const until = Math.min(length, seq + GROUP);
    await write(store, append(seed, runId, seq, logLines(seed, seq, until)));
    await turn();
  }
  await write(store, {
    ...append(seed, runId, length, []),
    checkpoint: checkpointAt(seed, length),
    release: true,
  });
  return runId;
}

function creation({ row, events }: Seed, runId: string): RunUnit {
  return {
    kind: 'run',
    batchId: newBatchId(),
    tenant: row.record.tenant,
    runId,
    create: { record: { ...row.record, runId }, holder: HOLDER, exclusiveScope: false },
    epoch: 1,
    expectedSeq: 0,
    events,
    head: row.head,
  };
}

function append({ row }: Seed, runId: string, expectedSeq: number, events: readonly StoredEvent[]): RunUnit {
  const { tenant } = row.record;
  return { kind: 'run', batchId: newBatchId(), tenant, runId, epoch: 1, expectedSeq, events, head: row.head };
}

/** They change nothing that is known about the run but the length of its log. */
function logLines({ events }: Seed, from: number, until: number): StoredEvent[] {
  const at = events.at(-1)?.at ?? 0;
  return Array.from({ length: until - from }, (_, index) => ({
    seq: from + index,
    type: 'log.appended',
    at,
    payload: JSON.stringify({ level: 'info', message: `line ${from + index} of a long log`, nodeId: 'n01' }),
  }));
}

function checkpointAt({ checkpoint }: Seed, length: number): Checkpoint {
  if (checkpoint === undefined) throw new Error('the host has left no checkpoint of the waiting pattern run');
  const state = JSON.parse(checkpoint.state) as { nextSeq: number };
  return {
    seq: length,
    foldVersion: checkpoint.foldVersion,
    state: JSON.stringify({ ...state, nextSeq: length }),
  };
}

async function write(store: Store, unit: RunUnit): Promise<void> {
  const [result] = await store.commit([unit]);
  if (result?.state !== 'committed') throw new Error(`filling the store: ${JSON.stringify(result)}`);
}
