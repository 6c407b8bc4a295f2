import { describe, expect, it } from 'vitest';
import { booleanParam, integerParam, listParam, textParam, timeParam } from './query.ts';

const range = { min: 0, max: 5000 };

describe('query parameters', () => {
  it('reads an integer inside its range and nothing else', () => {
    expect(integerParam({ n: '0' }, 'n', range)).toBe(0);
    expect(integerParam({ n: '5000' }, 'n', range)).toBe(5000);
    expect(integerParam({}, 'n', range)).toBeUndefined();
    for (const wrong of ['5001', '-1', '', ' 1', '1.5', '1e3', '0x10', 'NaN', '99999999999999999999']) {
      expect(() => integerParam({ n: wrong }, 'n', range), wrong).toThrow(
        '"n" must be an integer from 0 to 5000',
      );
    }
  });

  it('refuses a parameter given twice where one is meant', () => {
    expect(() => textParam({ mode: ['a', 'b'] }, 'mode')).toThrow('may be given once');
  });

  it('takes lists repeated, with commas, or both', () => {
    expect(listParam({ s: ['a,b', 'c'] }, 's')).toEqual(['a', 'b', 'c']);
    expect(listParam({ s: 'a' }, 's')).toEqual(['a']);
    expect(listParam({}, 's')).toBeUndefined();
  });

  it('reads times of RFC 3339 and refuses what Date.parse merely guesses', () => {
    expect(timeParam({ t: '2026-01-31T12:00:00Z' }, 't')).toBe(Date.UTC(2026, 0, 31, 12));
    expect(timeParam({ t: '2026-01-31' }, 't')).toBe(Date.UTC(2026, 0, 31));
    for (const wrong of ['yesterday', '1', 'Jan 31 2026', '2026-13-01', '2026-01-31T12:00:00']) {
      expect(() => timeParam({ t: wrong }, 't'), wrong).toThrow('RFC 3339');
    }
  });

  it('reads a flag with or without a value', () => {
    expect(booleanParam({}, 'strict')).toBe(false);
    expect(booleanParam({ strict: '' }, 'strict')).toBe(true);
    expect(booleanParam({ strict: 'true' }, 'strict')).toBe(true);
    expect(booleanParam({ strict: 'false' }, 'strict')).toBe(false);
    expect(() => booleanParam({ strict: 'yes' }, 'strict')).toThrow('true or false');
  });
});
