import type { Lab } from '../measuring/scenario.ts';
import { chainOf } from '../load/workloads.ts';
import { fillHistory } from './fill-history.ts';
import { makeSeed, withStore } from './seed.ts';

/** A folder with two equal waiting runs of each length. */
export interface LongRuns {
  readonly folder: string;
  readonly runs: ReadonlyMap<number, readonly [string, string]>;
}

/** Made once for all scenarios that need it; the lengths are those of the first who asks. */
export function longRuns(lab: Lab, lengths: readonly number[]): Promise<LongRuns> {
  return lab.once(`long runs ${lengths.join(' ')}`, async () => {
    const started = performance.now();
    const folder = lab.newFolder('long-runs');
    const definition = chainOf('bench-wait', 'a no-op, then a question', [
      { typeId: 'core.noop', config: {} },
      { typeId: 'core.approvalGate', config: { title: 'May it continue?' } },
    ]);
    const seed = await makeSeed(lab, folder, {
      definition,
      workflowId: 'bench-wait',
      status: 'waiting-approval',
    });
    const runs = await withStore(folder, async (store) => {
      const made = new Map<number, readonly [string, string]>();
      for (const length of lengths) {
        const pair = [
          await fillHistory(store, seed, length),
          await fillHistory(store, seed, length),
        ] as const;
        made.set(length, pair);
      }
      return made;
    });
    lab.note(`filled runs of ${lengths.join(', ')} events in ${seconds(started)} s`);
    return { folder, runs };
  });
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000);
}
