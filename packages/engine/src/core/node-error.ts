import { NodeFailure } from '../node-type.ts';
import { redactText } from './scan/credential-text.ts';
import type { NodeError } from './run-state.ts';

/** Whatever a node threw, as a fact: a failure it foresaw keeps its code; anything else is `node_failed`. */
export function toNodeError(error: unknown): NodeError {
  if (error instanceof NodeFailure) {
    return {
      code: error.code,
      message: redactText(error.message),
      retryable: error.retryable,
      ...(error.details !== undefined && { details: error.details }),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'node_failed', message: redactText(message) || 'The node failed.', retryable: false };
}
