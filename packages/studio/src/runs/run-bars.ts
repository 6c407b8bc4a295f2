import type { RunCountFilter, RunCounts } from '@weft/sdk';
import { PERIODS, type RunFilters, STATUS_GROUPS } from './run-filters.ts';

/** How many runs were created when: one bar per stretch of time, those without runs too, split as the filter of statuses is. */
export interface RunBar {
  readonly from: number;
  readonly until: number;
  readonly total: number;
  /** By group of statuses, without those that would be 0. */
  readonly groups: Readonly<Record<string, number>>;
}

type Bucket = RunCountFilter['bucket'];

const BUCKET_MS: Readonly<Record<Bucket, number>> = {
  '1m': 60_000,
  '5m': 300_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '6h': 21_600_000,
  '1d': 86_400_000,
};

/** About thirty bars, whatever the period. */
const BUCKETS: Readonly<Record<string, Bucket>> = { '1h': '1m', '24h': '1h', '7d': '6h' };
const DEFAULT_PERIOD = '24h';

/** What the chart asks for: the period of the list, or of the last day where the list has none. */
export function chartSpan({ within }: RunFilters, now: number): { bucket: Bucket; since: string } {
  const name = within !== undefined && Object.hasOwn(BUCKETS, within) ? within : DEFAULT_PERIOD;
  const bucket = BUCKETS[name] ?? '1h';
  const ms = BUCKET_MS[bucket];
  // A whole number of bars, of which the last is the present one.
  const since = Math.floor((now - (PERIODS[name]?.ms ?? 86_400_000)) / ms) * ms + ms;
  return { bucket, since: new Date(since).toISOString() };
}

const MAX_BARS = 200;

export function barsOf({ bucket, since, until, buckets }: RunCounts): RunBar[] {
  const ms = BUCKET_MS[bucket as Bucket] ?? 3_600_000;
  const known = new Map(buckets.map(({ at, counts }) => [Math.floor(Date.parse(at) / ms), counts]));
  const first = Math.floor(Date.parse(since) / ms);
  const last = Math.max(first, Math.floor(Date.parse(until) / ms));
  return Array.from({ length: Math.min(MAX_BARS, last - first + 1) }, (_, index) => {
    const groups = grouped(known.get(first + index) ?? {});
    return {
      from: (first + index) * ms,
      until: (first + index + 1) * ms,
      total: Object.values(groups).reduce((sum, count) => sum + count, 0),
      groups,
    };
  });
}

export function totalsOf(bars: readonly RunBar[]): Readonly<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (const { groups } of bars)
    for (const [group, count] of Object.entries(groups)) totals[group] = (totals[group] ?? 0) + count;
  return totals;
}

function grouped(counts: Readonly<Record<string, number>>): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [group, statuses] of Object.entries(STATUS_GROUPS)) {
    const count = statuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
    if (count > 0) found[group] = count;
  }
  return found;
}
