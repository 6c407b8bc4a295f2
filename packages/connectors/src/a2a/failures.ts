import { EgressError, NodeFailure } from '@weft/engine';
import { shownName } from '@weft/protocol';
import { A2A_LIMITS } from './limits.ts';

/** Errors of sockets after which nothing of a request has reached the peer. */
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'connect_timeout',
  'resolve_timeout',
]);

/** What was asked: `isSafe` where asking twice is the same as once. */
export interface Asked {
  readonly peer: string;
  readonly isSafe: boolean;
}

/** An answer that is no success. */
export class PeerStatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`it answered with status ${status}`);
    this.name = 'PeerStatusError';
    this.status = status;
  }
}

export function protocolError(peer: string, problem: string, cause?: unknown): NodeFailure {
  return new NodeFailure('peer_protocol_error', `The answer of "${peer}" cannot be used: ${problem}`, {
    details: { peer },
    cause,
  });
}

/** Why a request to a peer has no usable answer. */
export function peerFailure({ peer, isSafe }: Asked, error: unknown): NodeFailure {
  if (error instanceof NodeFailure) return error;
  const cause = causeOf(error);
  const details = { peer };
  if (cause instanceof EgressError) {
    if (UNREACHED.has(cause.reason)) return unavailable(peer, cause.message, cause);
    if (cause.problem === 'denied' || cause.problem === 'invalid_request')
      return new NodeFailure('egress_denied', cause.message, { details });
    if (cause.problem === 'too_large') return protocolError(peer, cause.message, cause);
    return lost(peer, isSafe, cause);
  }
  if (cause instanceof PeerStatusError) return statusFailure({ peer, isSafe }, cause);
  if (isTimeout(cause)) return lost(peer, isSafe, cause);
  return protocolError(peer, `${messageOf(error)}.`.replace(/\.\.$/, '.'), error);
}

function statusFailure({ peer, isSafe }: Asked, error: PeerStatusError): NodeFailure {
  const { status } = error;
  const details = { peer, status };
  const message = `The peer "${peer}" answered with status ${status}.`;
  if (status === 401 || status === 403) {
    return new NodeFailure(
      'peer_auth_failed',
      `${message} Its key is "apiKey" of the peer in the config file of the host.`,
      { details },
    );
  }
  if (status === 429 || status === 503) return unavailable(peer, `it answered with status ${status}.`, error);
  if (status >= 300 && status < 400)
    return new NodeFailure('peer_protocol_error', `${message} Redirects of peers are not followed.`, {
      details,
    });
  if (status < 500) return new NodeFailure('peer_request_failed', message, { details });
  return lost(peer, isSafe, error);
}

export function unavailable(peer: string, problem: string, cause?: unknown): NodeFailure {
  return new NodeFailure('peer_unavailable', `The peer "${peer}" is not available: ${problem}`, {
    retryable: true,
    details: { peer },
    cause,
  });
}

function lost(peer: string, isSafe: boolean, error: Error): NodeFailure {
  return isSafe ? unavailable(peer, `it did not answer: ${messageOf(error)}`, error) : notKnown(peer, error);
}

/** A message has left, and there is no answer. */
export function notKnown(peer: string, error: Error): NodeFailure {
  const message = `The peer "${peer}" did not answer: ${messageOf(error)}.`.replace(/\.\.$/, '.');
  return new NodeFailure(
    'peer_connection_lost',
    `${message} Whether it has taken the message is not known; look there before you send it again.`,
    { details: { peer, outcome: 'unknown' }, cause: error },
  );
}

/** Libraries wrap what `fetch` throws. */
function causeOf(error: unknown): Error {
  let current = error instanceof Error ? error : new Error(String(error));
  for (let depth = 0; depth < 5; depth += 1) {
    if (current instanceof EgressError || current instanceof PeerStatusError || isTimeout(current)) break;
    if (!(current.cause instanceof Error)) break;
    current = current.cause;
  }
  return current;
}

function isTimeout({ name }: Error): boolean {
  return name === 'TimeoutError' || name === 'AbortError';
}

/** A peer's words are not to be trusted: bounded, and without what a terminal would obey. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return shownName(text).slice(0, A2A_LIMITS.messageLength);
}
