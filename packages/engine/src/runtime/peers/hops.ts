import { NodeFailure } from '../../model/node-type.ts';
import type { RunLog, RunRow } from '../../ports/store.ts';

/** Where the run of a task says how many hosts its work has come through. */
const HOPS = 'a2aHops';
/** Two hosts that call each other would otherwise never end. */
export const MAX_HOPS = 8;

/**
 * G-6. What a run sends to a peer says how many hosts its work has come through, that of its parents included; past the limit nothing is sent.
 */
export async function nextHop(store: Pick<RunLog, 'readRun'>, runId: string): Promise<number> {
  const hops = (await hopsOf(store, runId)) + 1;
  if (hops <= MAX_HOPS) return hops;
  throw new NodeFailure(
    'peer_loop',
    `This work has come through ${MAX_HOPS} hosts already, which is the limit: do they call each other in a circle?`,
    { details: { limit: MAX_HOPS, observed: hops } },
  );
}

async function hopsOf(store: Pick<RunLog, 'readRun'>, runId: string): Promise<number> {
  let id: string | undefined = runId;
  while (id !== undefined) {
    const row: RunRow | undefined = await store.readRun(id, undefined);
    const hops = row?.record.metadata[HOPS];
    if (typeof hops === 'number') return hops;
    id = row?.record.parent?.runId;
  }
  return 0;
}
