import { HostError } from '@weft/protocol';
import type { RateLimit } from '../options.ts';

/**
 * A token bucket per key. A refused request takes no token, so a client that waits for Retry-After is served. Buckets that are
 * full again say nothing and are dropped when there are many.
 */
export interface RateLimiter {
  /** Throws HostError `rate_limited`. */
  take(key: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

const MANY_BUCKETS = 10_000;

export function createRateLimiter(
  limit: RateLimit,
  now: () => number = () => performance.now(),
): RateLimiter {
  const buckets = new Map<string, Bucket>();

  function refilled(bucket: Bucket, time: number): number {
    return Math.min(limit.burst, bucket.tokens + ((time - bucket.at) / 1000) * limit.perSecond);
  }

  function dropFull(time: number): void {
    for (const [key, bucket] of buckets) {
      if (refilled(bucket, time) >= limit.burst) buckets.delete(key);
    }
  }

  return {
    take(key) {
      const time = now();
      const bucket = buckets.get(key) ?? { tokens: limit.burst, at: time };
      bucket.tokens = refilled(bucket, time);
      bucket.at = time;
      if (!buckets.has(key)) {
        if (buckets.size >= MANY_BUCKETS) dropFull(time);
        buckets.set(key, bucket);
      }
      if (bucket.tokens < 1) throw tooFast(limit, ((1 - bucket.tokens) / limit.perSecond) * 1000);
      bucket.tokens -= 1;
    },
  };
}

function tooFast(limit: RateLimit, waitMs: number): HostError {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000));
  return new HostError(
    'rate_limited',
    `This key sent more than ${limit.perSecond} requests per second; wait ${retryAfter} s.`,
    { retryAfterMs: retryAfter * 1000, retryAfterSeconds: retryAfter, scope: 'key', limit: limit.perSecond },
    { retryAfter },
  );
}
