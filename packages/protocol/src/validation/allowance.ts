import { HostError } from '../errors/errors.ts';

/**
 * What all the texts of one document may amount to together. Each of them is bounded by itself; a definition of a megabyte
 * holds many.
 */
const AMOUNTS = {
  subschemas: { limit: 5_000, code: 'schema_too_large', words: 'The schemas of this definition have' },
  patternInstructions: {
    limit: 100_000,
    code: 'pattern_too_costly',
    words: 'The patterns of this definition compile to',
  },
  expressionNodes: {
    limit: 200_000,
    code: 'expression_budget_exceeded',
    words: 'The expressions of this definition have',
  },
} as const;

const UNITS = {
  subschemas: 'subschemas',
  patternInstructions: 'instructions',
  expressionNodes: 'syntax nodes',
} as const;

type Amount = keyof typeof AMOUNTS;

export interface Allowance {
  /** Throws HostError with the code for that kind of text when it is used up. */
  take(amount: Amount, count: number): void;
  taken(amount: Amount): number;
}

export function createAllowance(): Allowance {
  const taken: Record<Amount, number> = { subschemas: 0, patternInstructions: 0, expressionNodes: 0 };
  return {
    taken: (amount) => taken[amount],
    take(amount, count) {
      taken[amount] += count;
      const { limit, code, words } = AMOUNTS[amount];
      const observed = taken[amount];
      if (observed <= limit) return;
      throw new HostError(
        code,
        `${words} ${observed} ${UNITS[amount]} in all; at most ${limit} are allowed. Divide the workflow.`,
        { limit, observed },
      );
    },
  };
}
