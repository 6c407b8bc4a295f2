import { describe, expect, it } from 'vitest';
import { BudgetExceeded, WorkBudget } from './budget.ts';

describe('a budget of work', () => {
  it('counts steps and bytes, and memory as work too', () => {
    const budget = new WorkBudget({ steps: 100, bytes: 1000 });

    budget.spend(10);
    budget.allocate(640);

    expect([budget.steps, budget.bytes]).toEqual([20, 640]);
  });

  it('refuses what is over either limit, and names limit and observed', () => {
    const budget = new WorkBudget({ steps: 100, bytes: 1000 });

    expect(() => budget.spend(101)).toThrow(
      expect.objectContaining({ resource: 'steps', limit: 100, observed: 101 }),
    );
    expect(() => new WorkBudget({ steps: 100, bytes: 1000 }).allocate(1001)).toThrow(
      expect.objectContaining({ resource: 'bytes', limit: 1000, observed: 1001 }),
    );
  });

  it('stays exceeded, so that catching it does not help', () => {
    const budget = new WorkBudget({ steps: 100, bytes: 1000 });

    expect(() => budget.spend(1000)).toThrow(BudgetExceeded);
    expect(() => budget.spend(1)).toThrow(BudgetExceeded);
  });

  it('begins again for the next decision, and forgets what was made for the last', () => {
    const budget = new WorkBudget({ steps: 100, bytes: 1000 });
    budget.spend(90);
    budget.remember('a', {});

    budget.renew();

    budget.spend(90);
    expect(budget.recall('a')).toBeUndefined();
  });
});
