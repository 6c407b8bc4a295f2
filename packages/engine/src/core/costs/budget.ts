import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { fromNanoUsd, toNanoUsd } from './money.ts';

/** What may be spent, as `configurable.budget` and the host's settings say it. */
export interface SpendingLimits {
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
}

/** `configurable.budget` of a run. */
export interface RunBudget extends SpendingLimits {
  readonly maxToolCalls?: number;
  /** `PROVIDER/MODEL` or `MODEL`. */
  readonly modelAllow?: readonly string[];
  readonly modelDeny?: readonly string[];
  readonly thresholdPercent?: number;
}

/** The budget with which a run was created. Its options were checked then, but not always: older ones could hold anything. */
export function budgetOf({ budget }: JsonObject): RunBudget | undefined {
  if (budget === undefined || !isJsonObject(budget)) return undefined;
  const { maxTokens, maxCostUsd, maxToolCalls, modelAllow, modelDeny, thresholdPercent } = budget;
  return {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof maxCostUsd === 'number' && { maxCostUsd }),
    ...(typeof maxToolCalls === 'number' && { maxToolCalls }),
    ...(isTexts(modelAllow) && { modelAllow }),
    ...(isTexts(modelDeny) && { modelDeny }),
    ...(typeof thresholdPercent === 'number' && { thresholdPercent }),
  };
}

function isTexts(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export type BudgetDimension = 'tokens' | 'cost' | 'toolCalls';

/** Whose budget: the run's own, or its tenant's of a UTC day or month. */
export type BudgetScope = 'run' | 'tenant-day' | 'tenant-month';

/** A budget that is used up. Costs are in dollars. */
export interface BudgetBreach {
  readonly dimension: BudgetDimension;
  readonly limit: number;
  readonly consumed: number;
  readonly scope: BudgetScope;
}

export interface Spent {
  readonly tokens: number;
  readonly nanoUsd: number;
}

/** The first limit that is reached; undefined while another call may be made. */
export function reachedLimit(
  { maxTokens, maxCostUsd }: SpendingLimits,
  { tokens, nanoUsd }: Spent,
  scope: BudgetScope,
): BudgetBreach | undefined {
  if (maxTokens !== undefined && tokens >= maxTokens)
    return { dimension: 'tokens', limit: maxTokens, consumed: tokens, scope };
  if (maxCostUsd !== undefined && nanoUsd >= toNanoUsd(maxCostUsd))
    return { dimension: 'cost', limit: maxCostUsd, consumed: fromNanoUsd(nanoUsd), scope };
  return undefined;
}

/** A name is that of a model, with or without its provider. What is denied is not allowed by any list. */
export function allowsModel(
  { modelAllow, modelDeny }: RunBudget,
  provider: string,
  model: string | undefined,
): boolean {
  const names = [model, `${provider}/${model ?? ''}`];
  const isIn = (list: readonly string[]) => list.some((name) => names.includes(name));
  if (modelDeny !== undefined && isIn(modelDeny)) return false;
  return modelAllow === undefined || isIn(modelAllow);
}
