import {
  A2AError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { Log } from '@weft/engine';
import { isHostError } from '@weft/protocol';
import { causeFields } from '../http/errors.ts';
import { OperationRefused } from '../protocols/perform-operation.ts';

/** By code of the host; all others say what is wrong with the request. */
const ERRORS: Readonly<Record<string, typeof TaskNotFoundError>> = {
  not_found: TaskNotFoundError,
  run_not_found: TaskNotFoundError,
  run_expired: TaskNotFoundError,
  unauthenticated: UnsupportedOperationError,
  forbidden: UnsupportedOperationError,
  run_forbidden: UnsupportedOperationError,
};

export const HOST_FAILED = 'The host has failed; its log says why.';

/** A failure in the protocol's terms. What is not foreseen says nothing of itself, except in the log. */
export function toA2aError(error: unknown, log: Log): A2AError {
  if (error instanceof A2AError) return error;
  if (!(error instanceof OperationRefused) && !isHostError(error)) {
    log('error', causeFields(error), 'a request of an agent failed');
    return new A2AError(HOST_FAILED);
  }
  const { code, message } = error;
  const Kind = ERRORS[code] ?? RequestMalformedError;
  return new Kind({ message, metadata: { code } });
}
