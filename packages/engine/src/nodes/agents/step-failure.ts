import { NodeFailure, type StepRecord } from '../../model/node-type.ts';

/** A node that fails because one of its steps has: with the same words, and as final or not. */
export function stepFailure({ error }: StepRecord): NodeFailure {
  const { code = 'node_failed', message = '', retryable, details } = error ?? {};
  return new NodeFailure(code, message, {
    ...(retryable !== undefined && { retryable }),
    ...(details !== undefined && { details }),
  });
}
