import { isHostError } from '@weft/protocol';
import type { Store } from '../ports/store.ts';
import type { Clock } from '../ports/clock.ts';
import type { Committer } from '../runtime/commits/committer.ts';
import { type RandomBytes, randomId } from '../runtime/runs/ids.ts';

/** Why this process should not be sent work: undefined when nothing speaks against it. */
export type Readiness = () => Promise<string | undefined>;

export interface ReadinessDependencies {
  readonly store: Pick<Store, 'ping'>;
  readonly committer: Pick<Committer, 'isRefused' | 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

/**
 * The store answers and takes writes. Whether it takes them is known from the last one; only after one that it did not take is it
 * tried again, because no one who asks every second should cost a write.
 */
export function createReadiness({ store, committer, clock, random }: ReadinessDependencies): Readiness {
  async function takesWrites(): Promise<boolean> {
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      // No tenant has an empty name.
      tenant: '',
      collection: 'readiness',
      scope: '',
      id: 'probe',
      body: '{}',
      at: clock.now(),
    });
    return result.state === 'committed';
  }

  return async () => {
    try {
      await store.ping();
    } catch (error) {
      const isDamaged = isHostError(error) && error.details?.['cause'] === 'store_damaged';
      return isDamaged ? 'the store is damaged' : 'the store does not answer';
    }
    if (!committer.isRefused()) return undefined;
    return (await takesWrites()) ? undefined : 'the store does not take writes';
  };
}
