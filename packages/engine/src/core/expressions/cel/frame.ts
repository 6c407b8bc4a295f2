import type { WorkBudget } from '@weft/protocol';
import { EvaluationFailure, FAILURE_STEPS } from './failure.ts';
import type { Value } from './values.ts';

/** A part of an expression, ready to be evaluated. */
export type Evaluate = (frame: Frame) => Value;

/** What one evaluation works with. */
export interface Frame {
  readonly budget: WorkBudget;
  /** The value of a root such as `inputs`; undefined when the scope has none. */
  readonly root: (name: string) => Value | undefined;
  /** Variables of the comprehensions around, by depth. */
  readonly locals: Value[];
}

/** What a part gives, or why it gives nothing. */
export function attempt(part: Evaluate, frame: Frame): Value | EvaluationFailure {
  try {
    return part(frame);
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    frame.budget.spend(FAILURE_STEPS);
    return error;
  }
}
