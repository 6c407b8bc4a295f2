import { describe, expect, it } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

function limiterAt(burst: number, perSecond: number) {
  const clock = { ms: 0 };
  return { clock, limiter: createRateLimiter({ burst, perSecond }, () => clock.ms) };
}

function refusal(take: () => void): unknown {
  try {
    take();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('a key with a rate limit', () => {
  it('is served its burst, then gets how long to wait', () => {
    const { limiter } = limiterAt(2, 1);
    limiter.take('k');
    limiter.take('k');

    const refused = refusal(() => limiter.take('k'));

    expect(refused).toMatchObject({
      code: 'rate_limited',
      retryAfter: 1,
      details: { retryAfterMs: 1000, retryAfterSeconds: 1, scope: 'key', limit: 1 },
    });
  });

  it('is served after that wait, however often it asked meanwhile', () => {
    const { limiter, clock } = limiterAt(1, 1);
    limiter.take('k');
    for (let i = 0; i < 50; i++) refusal(() => limiter.take('k'));

    clock.ms += 1000;

    expect(refusal(() => limiter.take('k'))).toBeUndefined();
  });

  it('does not pay for another key', () => {
    const { limiter } = limiterAt(1, 1);
    limiter.take('a');

    expect(refusal(() => limiter.take('b'))).toBeUndefined();
    expect(refusal(() => limiter.take('a'))).toBeDefined();
  });
});
