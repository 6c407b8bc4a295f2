import type { RunState } from '../../model/run-state.ts';
import type { Batch } from '../decide/live-run.ts';
import { type BudgetDimension, budgetOf, type RunBudget, type Spent } from './budget.ts';
import { fromNanoUsd } from './money.ts';

/** By the run itself: what a fork's source had spent is not counted. */
export function spentBy({ usage }: RunState): Spent {
  return { tokens: usage?.spentTokens ?? 0, nanoUsd: usage?.spentNanoUsd ?? 0 };
}

export type Spending = Readonly<Record<BudgetDimension, number>>;

export function spendingOf(state: RunState): Spending {
  const { tokens, nanoUsd } = spentBy(state);
  return { tokens, cost: fromNanoUsd(nanoUsd), toolCalls: state.toolCalls };
}

/** What has changed since `before`, for those who follow the budget of a run. */
export function tellSpending(batch: Batch, nodeId: string, before: Spending): void {
  const budget = budgetOf(batch.run.record.configurable);
  if (budget === undefined) return;
  const now = spendingOf(batch.run.state);
  for (const [dimension, limit] of limitsOf(budget)) {
    const consumed = now[dimension];
    if (consumed === before[dimension]) continue;
    const remaining = dimension === 'cost' ? rounded(limit - consumed) : limit - consumed;
    batch.record({
      type: 'budget.consumed',
      nodeId,
      payload: { dimension, consumed, limit, remaining: Math.max(0, remaining) },
    });
    const percent = budget.thresholdPercent;
    if (percent === undefined) continue;
    const threshold = (limit * percent) / 100;
    if (before[dimension] < threshold && consumed >= threshold) {
      batch.record({
        type: 'budget.threshold.crossed',
        nodeId,
        payload: { dimension, consumed, limit, percent },
      });
    }
  }
}

function limitsOf({ maxTokens, maxCostUsd, maxToolCalls }: RunBudget): [BudgetDimension, number][] {
  const limits: [BudgetDimension, number | undefined][] = [
    ['tokens', maxTokens],
    ['cost', maxCostUsd],
    ['toolCalls', maxToolCalls],
  ];
  return limits.filter((row): row is [BudgetDimension, number] => row[1] !== undefined);
}

/** The difference of two amounts of nanodollars is one. */
function rounded(usd: number): number {
  return fromNanoUsd(Math.round(usd * 1e9));
}
