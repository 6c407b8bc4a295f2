import { expect, it } from 'vitest';
import { barsOf, chartSpan, totalsOf } from './run-bars.ts';

const at = (hour: number, minute = 0) => new Date(Date.UTC(2026, 0, 1, hour, minute)).toISOString();

it('has a bar for every stretch of time, also where nothing ran', () => {
  const bars = barsOf({
    bucket: '1h',
    since: at(1),
    until: at(4, 30),
    buckets: [
      { at: at(1), counts: { completed: 2, 'waiting-approval': 1, 'waiting-input': 1 } },
      { at: at(4), counts: { failed: 1 } },
    ],
  });

  expect(bars.map(({ from, total }) => [new Date(from).toISOString(), total])).toEqual([
    [at(1), 4],
    [at(2), 0],
    [at(3), 0],
    [at(4), 1],
  ]);
  expect(bars[0]?.groups).toEqual({ waiting: 2, completed: 2 });
  expect(totalsOf(bars)).toEqual({ waiting: 2, completed: 2, failed: 1 });
});

it('asks for the period of the list in about thirty bars, or for a day', () => {
  const now = Date.UTC(2026, 0, 8, 10, 20);

  expect(chartSpan({ within: '1h' }, now)).toEqual({ bucket: '1m', since: '2026-01-08T09:21:00.000Z' });
  expect(chartSpan({}, now)).toEqual({ bucket: '1h', since: '2026-01-07T11:00:00.000Z' });
  expect(chartSpan({ within: '__proto__' }, now).bucket).toBe('1h');
});
