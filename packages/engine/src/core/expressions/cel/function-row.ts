import type { WorkBudget } from '@weft/protocol';
import type { Value } from './values.ts';

/**
 * A function that an expression may call, with what a call costs. The steps are charged first, and may be as many as the operands
 * are long; then the bytes of the result, for which the operands may be walked once; only then is the function called.
 */
export interface FunctionRow {
  /** As the type checker declares it. */
  readonly signature: string;
  readonly steps: (args: readonly Value[]) => number;
  /** Absent when the result takes no more room than a number. */
  readonly bytes?: (args: readonly Value[]) => number;
  readonly call: (args: readonly Value[], budget: WorkBudget) => Value;
}

export const once = (): number => 1;

/** Looking at every character of the first operand. */
export const perCharacter = ([text]: readonly Value[]): number => 4 + (text as string).length / 4;
