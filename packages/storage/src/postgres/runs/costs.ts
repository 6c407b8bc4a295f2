import type { CostQuery, CostRow, Store } from '@weft/engine';
import type { Pool } from '../connections/pool.ts';
import { readRows } from './read-rows.ts';

interface SummedRow {
  readonly day: number | null;
  readonly workflow: string | null;
  readonly run: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly calls: string;
  readonly input: string;
  readonly output: string;
  readonly nano: string;
  readonly unpriced: string;
  readonly since: number | null;
}

const GROUPS: Readonly<Record<CostQuery['by'], readonly string[]>> = {
  day: ['day'],
  workflow: ['workflow'],
  model: ['provider', 'model'],
  run: ['run'],
  total: [],
};
const COLUMNS: readonly [name: string, type: string][] = [
  ['day', 'int'],
  ['workflow', 'text'],
  ['run', 'text'],
  ['provider', 'text'],
  ['model', 'text'],
];

/** Names in the order of their characters, as the other stores have them. */
function textOf(by: CostQuery['by']): string {
  const groups = GROUPS[by];
  const selected = COLUMNS.map(([name, type]) =>
    groups.includes(name) ? `${name}::${type} AS ${name}` : `NULL::${type} AS ${name}`,
  );
  const names = groups.map((name) => (name === 'run' ? 'run NULLS FIRST' : `${name} COLLATE "C"`));
  const dearest = ['sum(nano_usd) DESC', 'sum(input_tokens + output_tokens) DESC', ...names];
  const order = by === 'day' ? 'day DESC' : dearest.join(', ');
  return `
    WITH looked AS MATERIALIZED (SELECT * FROM costs WHERE tenant = $1::text AND day >= $2::int AND day < $3::int
      ORDER BY day DESC, id DESC LIMIT $4::int + 1),
    counted AS MATERIALIZED (SELECT * FROM looked ORDER BY day DESC, id DESC LIMIT $4::int)
    SELECT ${selected.join(', ')}, sum(calls)::text AS calls, sum(input_tokens)::text AS input,
      sum(output_tokens)::text AS output, sum(nano_usd)::text AS nano, sum(unpriced_calls)::text AS unpriced,
      (SELECT CASE WHEN count(*) > $4::int THEN (SELECT min(day) FROM counted) END FROM looked) AS since
    FROM counted ${groups.length === 0 ? 'HAVING count(*) > 0' : `GROUP BY ${groups.join(', ')}`}
    ORDER BY ${order} LIMIT $5::int + 1`;
}

const TEXTS = new Map(Object.keys(GROUPS).map((by) => [by, textOf(by as CostQuery['by'])]));

export function prepareReadCosts(pool: Pool): Store['readCosts'] {
  return async (tenant, { by, fromDay, untilDay, limit, most }) => {
    const values = [tenant, fromDay, untilDay, most, limit];
    const found = await readRows<SummedRow>(pool, TEXTS.get(by) ?? '', values);
    const since = found[0]?.since ?? undefined;
    return {
      rows: found.slice(0, limit).map(rowOf),
      hasMore: found.length > limit,
      ...(since !== undefined && { countedSince: since }),
    };
  };
}

function rowOf({ day, workflow, run, provider, model, ...sums }: SummedRow): CostRow {
  return {
    ...(day !== null && { day }),
    ...(workflow !== null && { workflowId: workflow }),
    ...(run !== null && { runId: run }),
    ...(provider !== null && { provider }),
    ...(model !== null && { model }),
    calls: Number(sums.calls),
    inputTokens: Number(sums.input),
    outputTokens: Number(sums.output),
    nanoUsd: BigInt(sums.nano),
    unpricedCalls: Number(sums.unpriced),
  };
}
