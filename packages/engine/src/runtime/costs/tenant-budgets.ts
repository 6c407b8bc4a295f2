import {
  type BudgetBreach,
  type BudgetScope,
  reachedLimit,
  type SpendingLimits,
  type Spent,
} from '../../core/costs/budget.ts';
import { dayOf } from '../../core/costs/days.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';

/** What a tenant may spend in a UTC day and in a UTC month. */
export interface TenantBudget {
  readonly day?: SpendingLimits | undefined;
  readonly month?: SpendingLimits | undefined;
}

/** By tenant; `*` for those that are not named. */
export type TenantBudgets = ReadonlyMap<string, TenantBudget>;

export interface TenantSpending {
  breach(tenant: string): Promise<BudgetBreach | undefined>;
  note(tenant: string, spent: Spent): void;
}

export interface TenantSpendingDependencies {
  readonly store: Pick<Store, 'readCosts'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly budgets: TenantBudgets;
}

/** What other processes spend is seen after this time at the latest; what this one spends, at once. */
const KNOWN_FOR_MS = 5_000;
const EVERY_ROW = 1_000_000_000;

interface Known {
  readonly fromDay: number;
  readonly untilMs: number;
  tokens: number;
  nanoUsd: number;
}

export function createTenantSpending({ store, clock, budgets }: TenantSpendingDependencies): TenantSpending {
  const known = new Map<string, Known>();

  async function spentSince(tenant: string, scope: BudgetScope, fromDay: number): Promise<Spent> {
    const key = JSON.stringify([tenant, scope]);
    const found = known.get(key);
    if (found?.fromDay === fromDay && clock.monotonic() < found.untilMs) return found;
    const { rows } = await store.readCosts(tenant, {
      by: 'total',
      fromDay,
      untilDay: dayOf(clock.now()) + 2,
      limit: 1,
      most: EVERY_ROW,
    });
    const [total] = rows;
    const read: Known = {
      fromDay,
      untilMs: clock.monotonic() + KNOWN_FOR_MS,
      tokens: (total?.inputTokens ?? 0) + (total?.outputTokens ?? 0),
      nanoUsd: Number(total?.nanoUsd ?? 0n),
    };
    known.set(key, read);
    return read;
  }

  return {
    async breach(tenant) {
      const budget = budgets.get(tenant) ?? budgets.get('*');
      if (budget === undefined) return undefined;
      const today = dayOf(clock.now());
      const periods: [SpendingLimits | undefined, BudgetScope, number][] = [
        [budget.day, 'tenant-day', today],
        [budget.month, 'tenant-month', firstOfMonth(clock.now())],
      ];
      for (const [limits, scope, fromDay] of periods) {
        if (limits === undefined) continue;
        const breach = reachedLimit(limits, await spentSince(tenant, scope, fromDay), scope);
        if (breach !== undefined) return breach;
      }
      return undefined;
    },
    note(tenant, { tokens, nanoUsd }) {
      for (const scope of ['tenant-day', 'tenant-month']) {
        const found = known.get(JSON.stringify([tenant, scope]));
        if (found === undefined) continue;
        found.tokens += tokens;
        found.nanoUsd += nanoUsd;
      }
    },
  };
}

function firstOfMonth(now: number): number {
  const date = new Date(now);
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1));
}
