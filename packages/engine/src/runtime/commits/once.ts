import type { Host, RememberedAnswer } from '../../host/host.ts';
import type { Store } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from './committer.ts';
import { checkSameRequest, findRecord, type InFlight, newRecord } from './idempotency.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';
import { writeFailure } from './write-failure.ts';

export interface OnceDependencies {
  readonly store: Pick<Store, 'readIdempotency'>;
  readonly committer: Committer;
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
}

/** Remembers the answers of acts that have no single write to commit their record with. */
export function createOnce(dependencies: OnceDependencies): Host['once'] {
  const { store, committer, inFlight, clock, limits } = dependencies;
  return async (caller, claim, act) => {
    if (claim === undefined) return { replayed: false, outcome: await act() };
    return await inFlight.once(caller, claim, async (): Promise<RememberedAnswer> => {
      const earlier = await findRecord(store, caller, claim, clock.now());
      if (earlier !== undefined && 'body' in earlier.response) return { replayed: true, ...earlier.response };
      const outcome = await act();
      const result = await committer.submit({
        kind: 'audit',
        batchId: randomId(dependencies.random),
        idempotency: newRecord(caller, claim, clock.now() + limits.idempotencyKeptMs, claim.render(outcome)),
      });
      if (result.state === 'committed') return { replayed: false, outcome };
      if (result.state !== 'refused' || result.reason !== 'idempotency_exists') throw writeFailure(result);
      const { response } = checkSameRequest(result.record, claim);
      return 'body' in response ? { replayed: true, ...response } : { replayed: false, outcome };
    });
  };
}
