import type { BudgetBreach, BudgetDimension } from '../costs/budget.ts';
import type { NodeError } from '../../model/run-state.ts';
import type { Batch } from './live-run.ts';
import { type Breach, breachCap } from './run-end.ts';

type BudgetKind = Extract<Breach, { readonly scope: unknown }>['kind'];

const KINDS: Readonly<Record<BudgetDimension, BudgetKind>> = {
  tokens: 'budget-tokens',
  cost: 'budget-cost',
  toolCalls: 'budget-tool-calls',
};

/** Who was to make the call. */
interface Refused {
  readonly nodeId: string;
  readonly path: readonly number[];
  readonly step?: string;
}

/** The run ends before a call for which its budget, or that of its tenant, has nothing left. */
export function breachBudget(batch: Batch, breach: BudgetBreach, { nodeId, path, step }: Refused): void {
  const { dimension, limit, consumed, scope } = breach;
  batch.record({ type: 'budget.exhausted', nodeId, payload: { dimension, consumed, limit } });
  const observed = consumed > limit ? consumed : limit + LEAST[dimension];
  breachCap(
    batch,
    {
      kind: KINDS[dimension],
      limit,
      observed,
      nodeId,
      scope,
      ...(path.length > 0 && { iteration: [...path] }),
      ...(step !== undefined && { step }),
    },
    budgetError(breach, nodeId),
  );
}

/** What the call that is not made would have used at least. */
const LEAST: Readonly<Record<BudgetDimension, number>> = { tokens: 1, cost: 1e-9, toolCalls: 1 };

/** The breach as it stands in `cap.breached` and `budget.exhausted`; undefined for caps of another kind. */
export function budgetBreachOf(
  { kind, limit, scope }: { readonly kind: string; readonly limit: number; readonly scope?: string },
  consumed: number,
): BudgetBreach | undefined {
  const dimension = (Object.keys(KINDS) as BudgetDimension[]).find((name) => KINDS[name] === kind);
  if (dimension === undefined) return undefined;
  return {
    dimension,
    limit,
    consumed,
    scope: scope === 'tenant-day' || scope === 'tenant-month' ? scope : 'run',
  };
}

const WHOSE = { run: 'run', 'tenant-day': 'tenant for this day', 'tenant-month': 'tenant for this month' };
const FIELDS = { tokens: 'maxTokens', cost: 'maxCostUsd', toolCalls: 'maxToolCalls' };
const UNITS = { tokens: 'tokens', cost: 'US dollars', toolCalls: 'tool calls' };

function budgetError({ dimension, limit, consumed, scope }: BudgetBreach, nodeId: string): NodeError {
  const wayOut =
    scope === 'run'
      ? `Raise configurable.budget.${FIELDS[dimension]}, and start a new run or fork this one.`
      : 'Wait for the next period, or ask the operator to raise "budgets" in the config file; then start a new run or fork this one.';
  return {
    code: 'budget_exhausted',
    message: `The ${WHOSE[scope]} may spend ${limit} ${UNITS[dimension]} and has spent ${consumed}. Node "${nodeId}" made no further call. ${wayOut}`,
    details: { dimension, limit, consumed, scope },
  };
}
