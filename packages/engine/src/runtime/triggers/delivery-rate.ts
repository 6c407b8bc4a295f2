import { HostError } from '@weft/protocol';
import type { Clock } from '../../ports/clock.ts';

/** How fast one trigger may be delivered to. Only what was verified is counted, so that no stranger uses it up. */
export interface DeliveryRate {
  /** Throws `rate_limited`. */
  take(triggerId: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

const MINUTE_MS = 60_000;
const MOST_BUCKETS = 10_000;

export function createDeliveryRate(perMinute: number, clock: Pick<Clock, 'monotonic'>): DeliveryRate {
  const buckets = new Map<string, Bucket>();
  /** A tenth of a minute's may come at once. */
  const burst = Math.max(Math.ceil(perMinute / 10), 1);
  const perMs = perMinute / MINUTE_MS;

  return {
    take(triggerId) {
      const at = clock.monotonic();
      const known = buckets.get(triggerId);
      const tokens = known === undefined ? burst : Math.min(burst, known.tokens + (at - known.at) * perMs);
      if (tokens < 1) {
        const retryAfter = Math.max(Math.ceil((1 - tokens) / perMs / 1_000), 1);
        throw new HostError(
          'rate_limited',
          `This trigger takes ${perMinute} deliveries a minute; wait ${retryAfter} s.`,
          { retryAfterSeconds: retryAfter, scope: 'trigger', limit: perMinute },
          { retryAfter },
        );
      }
      // One that is forgotten begins full, and so does one that was idle.
      if (known === undefined && buckets.size >= MOST_BUCKETS) buckets.clear();
      buckets.set(triggerId, { tokens: tokens - 1, at });
    },
  };
}
