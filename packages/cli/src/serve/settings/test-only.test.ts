import { SYSTEM_CLOCK } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import { testOnly } from './test-only.ts';

const ENV = { WEFT_TEST_CLOCK_OFFSET_MS: '-86400000', WEFT_TEST_SQLITE_MAX_PAGES: '100' };

describe('what only test hosts honour', () => {
  it('moves the clock by the offset, and leaves the monotonic one alone', () => {
    const { clock } = testOnly(ENV, true);

    expect(clock?.now()).toBeLessThan(Date.now() - 86_000_000);
    expect(clock?.monotonic).toBe(SYSTEM_CLOCK.monotonic);
  });

  it('bounds the file', () => {
    expect(testOnly(ENV, true).maxPageCount).toBe(100);
  });

  it('hastens deliveries', () => {
    expect(testOnly({ WEFT_TEST_DELIVERY_HASTE: '500' }, true).retryScaleForTests).toBe(500);
  });

  it('is not looked at by a live host', () => {
    expect(testOnly(ENV, false)).toEqual({});
  });

  it('says what is wrong with a value', () => {
    expect(() => testOnly({ WEFT_TEST_CLOCK_OFFSET_MS: 'soon' }, true)).toThrow('must be a whole number');
  });
});
