/**
 * An expression that cannot be evaluated with these values: a missing key, a division by zero. Inside it `||`, `&&`, `all` and
 * `exists` may find an answer all the same; what leaves it is an ExpressionError. That a budget is exceeded is no such failure:
 * it ends the whole evaluation.
 */
export class EvaluationFailure extends Error {}

/** Throwing and catching one takes as long as many visits, and a loop may do it for every item. */
export const FAILURE_STEPS = 400;
