import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, limitsFrom } from './limits.ts';

describe('the limits of a host', () => {
  it('are the defaults where nothing is set, and parts of the heap where the default is 0', () => {
    expect(limitsFrom({}, 64_000)).toEqual({
      ...DEFAULT_LIMITS,
      maxLiveBytes: 25_600,
      maxBytesInFlight: 1_000,
      keptStateBytes: 1_000,
    });
    expect(limitsFrom({ maxBytesInFlight: 7 }, 64_000).maxBytesInFlight).toBe(7);
  });

  it('leave places that one tenant cannot take, unless set otherwise', () => {
    expect(limitsFrom({ hostConcurrency: 100 }).tenantConcurrency).toBe(80);
    expect(limitsFrom({ hostConcurrency: 1 }).tenantConcurrency).toBe(1);
    expect(limitsFrom({ hostConcurrency: 100, tenantConcurrency: 100 }).tenantConcurrency).toBe(100);
  });
});
