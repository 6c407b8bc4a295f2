import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, limitsFrom } from './limits.ts';

describe('the limits of a host', () => {
  it('are the defaults where nothing is set', () => {
    expect(limitsFrom()).toEqual(DEFAULT_LIMITS);
  });

  it('leave places that one tenant cannot take, unless they are told otherwise', () => {
    expect(limitsFrom({ hostConcurrency: 100 }).tenantConcurrency).toBe(80);
    expect(limitsFrom({ hostConcurrency: 1 }).tenantConcurrency).toBe(1);
    expect(limitsFrom({ hostConcurrency: 100, tenantConcurrency: 100 }).tenantConcurrency).toBe(100);
  });
});
