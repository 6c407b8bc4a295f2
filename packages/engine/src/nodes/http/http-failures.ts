import type { EgressResponse } from '../../model/node-type.ts';
import { NodeFailure } from '../../model/node-type.ts';
import type { EgressError } from '../../runtime/egress/egress-error.ts';

/** Why there is no answer, in the node's words. `hidesHeaders`: they are sensitive, and their names may be. */
export function withoutAnswer(error: EgressError, limit: number, hidesHeaders = false): NodeFailure {
  const { problem, reason, destination } = error;
  const message =
    hidesHeaders && reason === 'header'
      ? 'A header cannot be sent; which one is hidden, because the headers hold sensitive values.'
      : error.message;
  switch (problem) {
    case 'denied':
      return new NodeFailure('egress_denied', message, { details: { reason, destination }, cause: error });
    case 'invalid_request':
      return new NodeFailure('validation_error', message, { details: { field: reason }, cause: error });
    case 'too_large':
      return new NodeFailure(
        'output_too_large',
        `${message} Raise config.maxResponseBytes or ask for less.`,
        {
          details: { limit, destination },
          cause: error,
        },
      );
    case 'too_many_redirects':
      return new NodeFailure('http_request_failed', message, {
        details: { reason, destination },
        cause: error,
      });
    case 'network':
    case 'aborted':
      return new NodeFailure('http_request_failed', message, {
        retryable: true,
        details: { reason, destination },
        cause: error,
      });
  }
}

/** An answer whose status the node does not expect. */
export function unexpectedStatus(
  { status, headers }: EgressResponse,
  destination: string,
  now: number,
): NodeFailure {
  const retryable = status === 408 || status === 429 || status >= 500;
  const retryAfterMs = retryable ? parseRetryAfter(headers['retry-after'], now) : undefined;
  return new NodeFailure(
    'http_status',
    `${destination} answered with status ${status}; list it in config.expectStatus if that is an answer you can use.`,
    { retryable, details: { status, destination }, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  );
}

/** A body that arrives compressed although we asked for identity cannot be read. */
export function unreadableEncoding(destination: string): NodeFailure {
  return new NodeFailure(
    'http_request_failed',
    `${destination} sent a compressed body, which was not asked for.`,
    {
      details: { reason: 'content_encoding', destination },
    },
  );
}

/** Seconds, or an HTTP date. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,10}$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
