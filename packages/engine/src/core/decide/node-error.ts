import { NodeFailure } from '../../model/node-type.ts';
import type { LiveRun } from './live-run.ts';
import type { NodePlan } from '../compile/plan.ts';
import type { NodeError } from '../../model/run-state.ts';
import { redactText } from '../redaction/scan/credential-text.ts';
import { isComputedFromSensitive, type SensitiveReads } from '../redaction/sensitive-reads.ts';

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

/** The same of a node that has read something sensitive: its code stays, its words may tell of what it read. */
export function toHiddenError(error: unknown, node: NodePlan, reads: SensitiveReads | undefined): NodeError {
  const known = toNodeError(error);
  return reads === undefined || !isComputedFromSensitive(reads, node) ? known : withoutWords(known);
}

export function withoutWords({ code, retryable }: NodeError): NodeError {
  return {
    code,
    message: 'The node failed; why is hidden, because it reads sensitive values.',
    ...(retryable !== undefined && { retryable }),
  };
}

/**
 * Without what is known to be sensitive. Nothing is decided by the words of an error, so they are not kept anywhere: what hides
 * them here hides them wherever the error is repeated.
 */
export function hideKnown({ known, redactor }: LiveRun, error: NodeError): NodeError {
  if (known === undefined) return error;
  const { message, details } = error;
  return {
    ...error,
    message: redactor.redactText(message),
    ...(details !== undefined && {
      details: redactor.apply(details, JSON.stringify(details), true) ?? details,
    }),
  };
}
