import type { CostQuery, CostRow, CostSums, UsageRow } from './store.ts';

/** Sums of rows of usage, for stores that group them here. */
export interface OpenCostSums {
  add(row: UsageRow & { readonly runId: string | undefined }): void;
  result(countedSince: number | undefined): CostSums;
}

type Building<Row> = { -readonly [Field in keyof Row]: Row[Field] };

export function openCostSums({ by, limit }: CostQuery): OpenCostSums {
  const sums = new Map<string, Building<CostRow>>();
  return {
    add(row) {
      const group = groupOf(by, row);
      const key = JSON.stringify(Object.values(group));
      let sum = sums.get(key);
      if (sum === undefined) {
        sum = { ...group, calls: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0n, unpricedCalls: 0 };
        sums.set(key, sum);
      }
      sum.calls += row.calls;
      sum.inputTokens += row.inputTokens;
      sum.outputTokens += row.outputTokens;
      sum.nanoUsd += BigInt(row.nanoUsd);
      sum.unpricedCalls += row.unpricedCalls;
    },
    result: (countedSince) => ({
      rows: [...sums.values()].sort(by === 'day' ? byDay : byCost).slice(0, limit),
      hasMore: sums.size > limit,
      ...(countedSince !== undefined && { countedSince }),
    }),
  };
}

function groupOf(
  by: CostQuery['by'],
  { day, workflowId, runId, provider, model }: UsageRow & { readonly runId: string | undefined },
): Partial<CostRow> {
  switch (by) {
    case 'day':
      return { day };
    case 'workflow':
      return { workflowId };
    case 'model':
      return { provider, model };
    case 'run':
      return runId === undefined ? {} : { runId };
    case 'total':
      return {};
  }
}

function byDay(a: CostRow, b: CostRow): number {
  return (b.day ?? 0) - (a.day ?? 0);
}

/** The dearest first; of equal cost, what used the most tokens; then by name, so that the order is one. */
function byCost(a: CostRow, b: CostRow): number {
  if (a.nanoUsd !== b.nanoUsd) return a.nanoUsd < b.nanoUsd ? 1 : -1;
  return tokensOf(b) - tokensOf(a) || (nameOf(a) < nameOf(b) ? -1 : 1);
}

function tokensOf({ inputTokens, outputTokens }: CostRow): number {
  return inputTokens + outputTokens;
}

function nameOf({ workflowId, runId, provider = '', model = '' }: CostRow): string {
  return workflowId ?? runId ?? `${provider}/${model}`;
}

export function addUsage(known: UsageRow, row: UsageRow): UsageRow {
  return {
    ...row,
    calls: known.calls + row.calls,
    inputTokens: known.inputTokens + row.inputTokens,
    outputTokens: known.outputTokens + row.outputTokens,
    nanoUsd: known.nanoUsd + row.nanoUsd,
    unpricedCalls: known.unpricedCalls + row.unpricedCalls,
  };
}
