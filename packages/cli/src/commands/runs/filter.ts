import type { ArgsDef } from 'citty';
import { RUN_STATUSES } from '@weft/protocol/plain';
import type { Client, RunFilter, RunSummary } from '@weft/sdk';
import { closestName } from '../../parsing/closest-name.ts';
import { usageError } from '../../exit-code.ts';
import { parseMoment } from '../../parsing/moment.ts';

/** Flags that choose runs, the same for every command that can. */
export const FILTER_ARGS = {
  status: { type: 'string', valueHint: 'STATUS[,…]', description: 'Only runs in one of these states' },
  workflow: { type: 'string', valueHint: 'ID', description: 'Only runs of this workflow' },
  tag: { type: 'string', valueHint: 'TAG', description: 'Only runs with this tag' },
  source: {
    type: 'string',
    valueHint: 'SOURCE',
    description: 'Only runs started by schedule:NAME or trigger:ID',
  },
  'error-code': { type: 'string', valueHint: 'CODE', description: 'Only runs that failed with this code' },
  'id-prefix': { type: 'string', valueHint: 'TEXT', description: 'Only runs whose id begins with this' },
  since: {
    type: 'string',
    valueHint: 'TIME',
    description: 'Created at or after: 10m, 2h, 3d or an ISO time',
  },
  until: { type: 'string', valueHint: 'TIME', description: 'Created before: 10m, 2h, 3d or an ISO time' },
  quarantined: {
    type: 'boolean',
    description: 'Only quarantined runs: stopped because they harmed the host',
  },
} as const satisfies ArgsDef;

export interface FilterArgs {
  readonly status?: string | undefined;
  readonly workflow?: string | undefined;
  readonly tag?: string | undefined;
  readonly source?: string | undefined;
  readonly 'error-code'?: string | undefined;
  readonly 'id-prefix'?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly quarantined?: boolean | undefined;
}

export function parseFilter(args: FilterArgs, now: number): RunFilter {
  return {
    ...(args.status === undefined ? {} : { status: parseStatuses(args.status) }),
    ...(args.workflow === undefined ? {} : { workflowId: args.workflow }),
    ...(args.tag === undefined ? {} : { tag: args.tag }),
    ...(args.source === undefined ? {} : { source: parseSource(args.source) }),
    ...(args['error-code'] === undefined ? {} : { errorCode: args['error-code'] }),
    ...(args['id-prefix'] === undefined ? {} : { q: args['id-prefix'] }),
    ...(args.since === undefined ? {} : { since: parseMoment('since', args.since, now) }),
    ...(args.until === undefined ? {} : { until: parseMoment('until', args.until, now) }),
    ...(args.quarantined === true && { quarantined: true as const }),
  };
}

function parseSource(text: string): string {
  if (/^(?:schedule|trigger):./u.test(text)) return text;
  throw usageError(`--source takes schedule:NAME or trigger:ID, not "${text}".`);
}

function parseStatuses(text: string): string[] {
  const statuses = text.split(',').map((status) => status.trim());
  // `cancelling` is how a run looks for a moment, not something a host can search by.
  const known: readonly string[] = RUN_STATUSES.filter((status) => status !== 'cancelling');
  for (const status of statuses) {
    if (known.includes(status)) continue;
    const near = closestName(status, known);
    throw usageError(
      `Unknown status "${status}". ${near === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean ${near}?`}`,
    );
  }
  return statuses;
}

const PAGE = 100;

/** Up to `limit` runs, however many pages that takes. */
export async function* listRuns(
  client: Client,
  filter: RunFilter,
  limit: number,
): AsyncGenerator<RunSummary> {
  let left = limit;
  let cursor: string | undefined;
  while (left > 0) {
    const page = await client.runs.list({
      ...filter,
      limit: Math.min(PAGE, left),
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.items;
    left -= page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined || page.items.length === 0) return;
  }
}

export function parseLimit(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw usageError(`--limit takes a whole number from 1, not "${text}".`);
  return Number(text);
}
