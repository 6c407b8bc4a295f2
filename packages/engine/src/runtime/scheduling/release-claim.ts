import type { RunLog, RunUnit } from '../../ports/store.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';

export interface ReleaseDependencies {
  readonly store: RunLog;
  readonly committer: Pick<Committer, 'submit'>;
  readonly random: RandomBytes;
}

/** Lets go of a run that is held and has no actor; what is on record stays as it is. False when it must be tried again. */
export async function releaseClaim(
  { store, committer, random }: ReleaseDependencies,
  runId: string,
  epoch: number,
): Promise<boolean> {
  const row = await store.readRun(runId, undefined);
  if (row === undefined || row.epoch !== epoch || row.holder === undefined) return true;
  const { head, nextSeq: expectedSeq } = row;
  const unit: RunUnit = {
    kind: 'run',
    batchId: randomId(random),
    tenant: row.record.tenant,
    runId,
    epoch,
    expectedSeq,
    events: [],
    head,
    release: true,
  };
  return (await committer.submit(unit)).state === 'committed';
}
