import { describe, expect, it } from 'vitest';
import { GOALS, evaluateCriterion, outcomeOf } from './goals.ts';
import type { Figure, Results } from './results.ts';
import { SCENARIOS } from '../scenarios.ts';

function resultsWith(...figures: Figure[]): Results {
  const scenario = { name: 's', title: 's', rawLimit: 'r', at: '', seconds: 1, figures, series: [] };
  const machine = { node: 'v20', platform: 'linux', cores: 2, cpu: 'x' };
  return { at: '', quick: false, machine, scenarios: [scenario] };
}

const lost: Figure = { key: 'lost', title: 'lost', unit: 'events', better: 'less', values: [0, 0, 3] };
const never = { figure: 'lost', of: 'value', bound: 'at most', limit: 0 } as const;

describe('the goals', () => {
  it('are thirteen, and each one without figures says why', () => {
    expect(GOALS.map(({ id }) => id)).toEqual(Array.from({ length: 13 }, (_, index) => `G${index + 1}`));
    for (const { criteria, remark } of GOALS) expect(criteria.length > 0 || remark !== undefined).toBe(true);
  });

  it('that have figures are named by a scenario, and no scenario names another', () => {
    const named = new Set(SCENARIOS.flatMap(({ goals }) => goals));

    expect(
      GOALS.filter(({ criteria }) => criteria.length > 0)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([...named].toSorted());
  });

  it('on evidence are limits of the reference script, brought to the plain one that stands for it', () => {
    const limits = GOALS.flatMap(({ criteria }) => criteria)
      .filter(({ figure }) => figure.startsWith('evidence/'))
      .map(({ figure, limit }) => `${figure} ${limit.toFixed(2)}`);

    expect(limits).toEqual([
      'evidence/sorted/time 0.28',
      'evidence/sorted/memory 0.27',
      'evidence/unsorted/time 0.56',
      'evidence/unsorted/memory 0.40',
      'evidence/escaped/time 0.56',
      'evidence/escaped/memory 0.40',
    ]);
  });

  it('are not excused by a median where something must never happen', () => {
    expect(evaluateCriterion(resultsWith(lost), never)).toMatchObject({ measured: 3, holds: false });
  });

  it('neither hold nor fail while a figure is missing, unless another one fails already', () => {
    const missing = evaluateCriterion(resultsWith(), never);

    expect(outcomeOf([missing])).toBe('not measured');
    expect(outcomeOf([missing, { ...missing, measured: 1, holds: true }])).toBe('not measured');
    expect(outcomeOf([missing, { ...missing, measured: 1, holds: false }])).toBe('does not hold');
  });
});
