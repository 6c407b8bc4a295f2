import { openCostSums } from '../ports/cost-sums.ts';
import type { CostQuery, CostSums, UsageRow } from '../ports/store.ts';
import type { MemoryData } from './data.ts';

export interface MemoryCost extends UsageRow {
  readonly tenant: string;
  /** Undefined once the run was purged. */
  readonly runId: string | undefined;
}

export function applyUsage(data: MemoryData, tenant: string, runId: string, rows: readonly UsageRow[]): void {
  for (const row of rows) data.costs.push({ ...row, tenant, runId });
}

export function detachCosts(data: MemoryData, purgedRunId: string): void {
  data.costs.forEach((cost, index) => {
    if (cost.runId === purgedRunId) data.costs[index] = { ...cost, runId: undefined };
  });
}

/** One row for each run, day and model, as databases keep them, newest days first. */
export function readCosts(data: MemoryData, tenant: string, query: CostQuery): CostSums {
  const found = data.costs
    .filter(({ tenant: owner, day }) => owner === tenant && day >= query.fromDay && day < query.untilDay)
    .sort((a, b) => b.day - a.day);
  const sums = openCostSums(query);
  for (const cost of found.slice(0, query.most)) sums.add(cost);
  return sums.result(found.length > query.most ? found[query.most - 1]?.day : undefined);
}
