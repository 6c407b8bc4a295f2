import { describe, expect, it } from 'vitest';
import { agoText, clockText, durationText, timeText } from './time-text.ts';

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [840.4, '840 ms'],
    [1_234, '1.2 s'],
    [9_999, '9.9 s'],
    [12_900, '12 s'],
    [180_000, '3 min'],
    [184_000, '3 min 4 s'],
    [7_500_000, '2 h 5 min'],
    [273_600_000, '3 d 4 h'],
    [-5, '0 ms'],
    [Number.NaN, '–'],
  ])('of %d ms reads %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe('a time', () => {
  const at = Date.UTC(2026, 10, 18, 7, 55, 27, 120);

  it('says its zone', () => {
    expect(timeText(at, 'UTC')).toBe('18 Nov 2026, 07:55:27 UTC');
    expect(timeText(at, 'Europe/Berlin')).toContain('08:55:27 CET');
    expect(timeText(Number.NaN)).toBe('–');
  });

  it('of an event is exact to the millisecond', () => {
    expect(clockText(at, 'UTC')).toBe('07:55:27.120');
  });

  it('is written by its distance', () => {
    expect(agoText(at, at + 500)).toBe('just now');
    expect(agoText(at, at + 12_400)).toBe('12 s ago');
    expect(agoText(at, at + 200_000)).toBe('3 min ago');
    expect(agoText(at + 7_200_000, at)).toBe('in 2 h');
  });
});
