import { MASK } from '../../core/redaction/scan/marks.ts';

/**
 * - `denied`: the policy refuses the destination; the same request is refused every time.
 * - `invalid_request`: the URL or a header cannot be sent.
 * - `too_large`: the answer is larger than the request allows.
 * - `too_many_redirects`: the destination kept pointing elsewhere.
 * - `network`: no complete answer came; another try may succeed.
 * - `aborted`: the caller's signal ended it.
 */
export type EgressProblem =
  | 'denied'
  | 'invalid_request'
  | 'too_large'
  | 'too_many_redirects'
  | 'network'
  | 'aborted';

/** Why an outbound request has no answer. Holds the authority only: URL userinfo, path, query and headers may be secret. */
export class EgressError extends Error {
  readonly problem: EgressProblem;
  /** A short machine-readable word: the block reason, the socket's error code, the header's name. */
  readonly reason: string;
  /** `host:port`, or empty when the URL could not be read. */
  readonly destination: string;

  constructor(
    problem: EgressProblem,
    message: string,
    facts: { reason: string; destination: string; cause?: unknown },
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'EgressError';
    this.problem = problem;
    this.reason = facts.reason;
    this.destination = facts.destination;
  }
}

/** The same of a request whose receiver must not be named. */
export function withoutReceiver(error: EgressError): EgressError {
  const { problem, message, reason, destination, cause } = error;
  const shown = destination === '' ? message : message.replaceAll(destination, MASK);
  return new EgressError(problem, shown, { reason, destination: destination && MASK, cause });
}
