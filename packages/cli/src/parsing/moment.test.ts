import { describe, expect, it } from 'vitest';
import { parseExpiry, parseMoment } from './moment.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

describe('times on the command line', () => {
  it('reads spans as time before now', () => {
    expect(parseMoment('since', '10m', NOW)).toBe('2026-03-01T11:50:00.000Z');
    expect(parseMoment('since', '2h', NOW)).toBe('2026-03-01T10:00:00.000Z');
  });

  it('reads ISO times and days as they are', () => {
    expect(parseMoment('since', '2026-02-28T08:00:00+01:00', NOW)).toBe('2026-02-28T07:00:00.000Z');
    expect(parseMoment('until', '2026-02-28', NOW)).toBe('2026-02-28T00:00:00.000Z');
  });

  it('reads spans as time from now where something is to end', () => {
    expect(parseExpiry('expires', '30d', NOW)).toBe('2026-03-31T12:00:00.000Z');
  });

  it('refuses anything else, naming the flag and the forms', () => {
    expect(() => parseMoment('since', 'yesterday', NOW)).toThrow(/--since takes a time such as 10m/);
    expect(() => parseMoment('since', '5', NOW)).toThrow(/--since/);
  });
});
