import { APICallError, InvalidResponseDataError } from '@ai-sdk/provider';
import { EgressError, NodeFailure, parseRetryAfter } from '@weft/engine';

const MOST_SHOWN = 200;

export interface FailedCall {
  readonly provider: string;
  readonly timeoutMs: number;
  /** The effect is not wanted any more. */
  readonly isAborted: boolean;
  readonly isTimedOut: boolean;
  readonly now: number;
}

/** Why a provider gave no answer, as a failure of the node: retryable where another attempt may help. */
export function modelFailure(error: unknown, call: FailedCall): NodeFailure {
  const { provider } = call;
  if (call.isAborted) return failure('provider_aborted', call, 'was stopped.', 'aborted', true);
  if (call.isTimedOut) {
    return failure('provider_timeout', call, `did not end within ${call.timeoutMs} ms.`, 'timeout', true);
  }
  if (error instanceof NodeFailure) return error;
  if (error instanceof EgressError) return fromEgress(error, call);
  if (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode >= 300) {
    return fromStatus(error.statusCode, error, call);
  }
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof EgressError) return fromEgress(cause, call);
  // Of an answer that ended too early there is nothing to show.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined) {
    return failure('provider_unavailable', call, 'broke off.', 'stream_broken', true);
  }
  return new NodeFailure(
    'provider_protocol_error',
    `The answer of "${provider}" is not in the form of its kind.`,
    { retryable: true, details: { provider, reason: 'malformed' }, cause: error },
  );
}

function fromEgress({ problem, reason, message }: EgressError, call: FailedCall): NodeFailure {
  const { provider } = call;
  if (problem === 'denied') {
    return new NodeFailure('egress_denied', message, { details: { provider, reason } });
  }
  if (problem === 'too_large') {
    return new NodeFailure('output_too_large', `The answer of "${provider}" does not end.`, {
      details: { provider, reason },
    });
  }
  return failure('provider_unavailable', call, 'broke off or could not be made.', reason, true);
}

function fromStatus(status: number, error: APICallError, call: FailedCall): NodeFailure {
  const { provider } = call;
  const isBusy = status === 429 || status === 529;
  const retryable = isBusy || status === 408 || status === 409 || status >= 500;
  const retryAfterMs = retryable
    ? parseRetryAfter(error.responseHeaders?.['retry-after'], call.now)
    : undefined;
  const code = isBusy ? 'provider_rate_limited' : retryable ? 'provider_unavailable' : 'provider_rejected';
  const hint = status === 401 || status === 403 ? ' It does not accept the credential.' : '';
  return new NodeFailure(code, `"${provider}" answered with status ${status}.${hint}${said(error.message)}`, {
    retryable,
    details: { provider, status },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** What the provider says of it, short; values of secrets are hidden in it as in everything that leaves an effect. */
function said(message: string): string {
  const text = message.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  if (text === '') return '';
  return ` It says: ${text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN).toWellFormed()}…` : text}`;
}

function failure(
  code: string,
  { provider }: FailedCall,
  what: string,
  reason: string,
  retryable: boolean,
): NodeFailure {
  return new NodeFailure(code, `The call of "${provider}" ${what}`, {
    retryable,
    details: { provider, reason },
  });
}
