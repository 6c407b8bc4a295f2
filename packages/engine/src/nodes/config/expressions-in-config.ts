import { ConditionError } from '../../core/decide/conditions.ts';
import { expressionFailure } from '../../core/expressions/expression-failure.ts';
import { ExpressionError } from '../../core/compile/plan.ts';
import type { PrepareTools } from '../../model/node-type.ts';

/** Compiles at registration; an expression that does not compile refuses the definition at `path`. */
export function compileOrRefuse<T>(tools: PrepareTools, path: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, code, details } = error;
    const place = error instanceof ConditionError ? `${path}${error.path}` : path;
    return tools.refuse(place, message, code === undefined ? undefined : { code, details });
  }
}

/** Evaluates at run time; an expression that cannot be evaluated fails the node. */
export function evaluateOrFail<T>(evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    throw expressionFailure(error);
  }
}
