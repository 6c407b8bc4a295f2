import type { Payload } from '../../model/run-event.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { DeadLetter } from '../../host/host.ts';
import type { Documents, DocumentWrite, StoredEvent } from '../../ports/store.ts';
import { LETTERS } from './dead-letters.ts';

/** Runs that failed after their last retry. Their letters are written with their end, and keep them from being deleted as old. */
export const DEAD_RUNS = 'runs';

/** The letter of a run, when these events say that it is one. */
export function deadRunOf(
  { tenant, runId: id }: CreationRecord,
  events: readonly StoredEvent[],
  keptMs: number,
): DocumentWrite | undefined {
  const said = events.at(-2);
  if (said?.type !== 'run.dead_lettered') return undefined;
  const { at } = said;
  const { reason, attempts, nodeId } = JSON.parse(said.payload) as Payload<'run.dead_lettered'>;
  const letter: DeadLetter = {
    id,
    source: DEAD_RUNS,
    reason,
    message: `The run failed after ${attempts} attempts.`,
    at,
    attempts,
    runId: id,
    ...(nodeId !== undefined && { nodeId }),
  };
  const body = JSON.stringify(letter);
  return { tenant, collection: LETTERS, scope: DEAD_RUNS, id, body, at, expiresAt: at + keptMs };
}

/** It stays while its letter does: until then it can be looked at and forked. */
export async function isKeptAsDead(
  store: Pick<Documents, 'readDocument'>,
  tenant: string,
  runId: string,
): Promise<boolean> {
  const letter = await store.readDocument({ tenant, collection: LETTERS, scope: DEAD_RUNS, id: runId });
  return letter !== undefined;
}
