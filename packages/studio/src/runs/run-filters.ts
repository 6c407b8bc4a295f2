import { RUN_STATUSES } from '@weft/protocol/plain';
import type { RunFilter } from '@weft/sdk';

/** The filters of the list, as they stand in the address. */
export interface RunFilters {
  readonly status?: string;
  readonly workflow?: string;
  readonly tag?: string;
  readonly error?: string;
  /** The first characters of a run's id. */
  readonly q?: string;
  /** `1h`, `24h`, `7d`. */
  readonly within?: string;
  /** Created from then on, in milliseconds; in place of `within`. */
  readonly from?: string;
  /** Created before. */
  readonly until?: string;
}

export const FILTER_NAMES = [
  'status',
  'workflow',
  'tag',
  'error',
  'q',
  'within',
  'from',
  'until',
] as const satisfies (keyof RunFilters)[];

/** Statuses as people ask for them, and those of the protocol that each stands for. */
export const STATUS_GROUPS: Readonly<Record<string, readonly string[]>> = {
  active: ['pending', 'running', 'paused', 'cancelling'],
  waiting: ['waiting-approval', 'waiting-input', 'waiting-external'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
};

export const PERIODS: Readonly<Record<string, { readonly text: string; readonly ms: number }>> = {
  '1h': { text: 'Last hour', ms: 3_600_000 },
  '24h': { text: 'Last 24 hours', ms: 86_400_000 },
  '7d': { text: 'Last 7 days', ms: 604_800_000 },
};

type AskedFilter = RunFilter & { readonly errorCode?: string; readonly q?: string };

/** What the host is asked. Values that it would refuse are left out: an address can be typed by hand. */
export function hostFilter(filters: RunFilters, now: number): AskedFilter {
  const statuses =
    filters.status === undefined ? undefined : (STATUS_GROUPS[filters.status] ?? known(filters.status));
  const period = filters.within === undefined ? undefined : PERIODS[filters.within];
  return {
    ...(statuses !== undefined && { status: statuses.filter((status) => status !== 'cancelling') }),
    ...(filters.workflow !== undefined && { workflowId: filters.workflow }),
    ...(filters.tag !== undefined && { tag: filters.tag }),
    ...(filters.error !== undefined && { errorCode: filters.error }),
    ...(filters.q !== undefined && { q: filters.q.trim() }),
    ...(period !== undefined && { since: new Date(now - period.ms).toISOString() }),
    ...timeAt('since', filters.from),
    ...timeAt('until', filters.until),
  };
}

function timeAt(name: 'since' | 'until', ms: string | undefined): AskedFilter {
  return ms !== undefined && /^\d{1,14}$/.test(ms) ? { [name]: new Date(Number(ms)).toISOString() } : {};
}

function known(status: string): readonly string[] | undefined {
  const found = RUN_STATUSES.find((each) => each === status);
  return found === undefined ? undefined : [found];
}

export function filtersOf(query: Readonly<Record<string, string>>): RunFilters {
  return Object.fromEntries(
    FILTER_NAMES.flatMap((name) => {
      const value = query[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
