import { NodeFailure } from '../../model/node-type.ts';
import { ExpressionError } from '../compile/plan.ts';

/** An expression that could not be evaluated, as the failure of its node; whatever else was thrown stays what it is. */
export function expressionFailure(error: unknown, what = ''): unknown {
  if (!(error instanceof ExpressionError)) return error;
  const { code = 'expression_failed', details } = error;
  return new NodeFailure(code, `${what}${error.message}`, {
    cause: error,
    ...(details !== undefined && { details }),
  });
}

/** The same without the words and numbers, which may tell of what was read. */
export function hiddenExpressionFailure(error: unknown, what: string): unknown {
  if (!(error instanceof ExpressionError)) return error;
  const { code = 'expression_failed' } = error;
  return new NodeFailure(
    code,
    `${what} could not be evaluated; why is hidden, because it reads sensitive values.`,
  );
}
