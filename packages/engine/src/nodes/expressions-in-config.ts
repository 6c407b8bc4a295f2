import { ConditionError } from '../core/conditions.ts';
import { ExpressionError } from '../core/plan.ts';
import { NodeFailure, type PrepareTools } from '../node-type.ts';

/** Compiles at registration; an expression that does not compile refuses the definition at `path`. */
export function compileOrRefuse<T>(tools: PrepareTools, path: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof ConditionError) tools.refuse(`${path}${error.path}`, error.message);
    if (error instanceof ExpressionError) tools.refuse(path, error.message);
    throw error;
  }
}

/** Evaluates at run time; an expression that cannot be evaluated fails the node. */
export function evaluateOrFail<T>(evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new NodeFailure('expression_failed', error.message, { cause: error });
  }
}
