import type { JsonObject } from '@weft/protocol/plain';

/** The host answered, and the answer is an error envelope. Branch on `code`, never on `message`. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: JsonObject | undefined;
  /** What the host calls this request in its log; absent when it did not say. */
  readonly requestId: string | undefined;
  /** Seconds from the Retry-After header. */
  readonly retryAfter: number | undefined;

  constructor(answer: ErrorAnswer) {
    super(answer.message);
    this.name = 'ApiError';
    this.status = answer.status;
    this.code = answer.code;
    this.details = answer.details;
    this.requestId = answer.requestId;
    this.retryAfter = answer.retryAfter;
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
}

export interface ConnectionProblem {
  readonly cause?: unknown;
  readonly status?: number;
  readonly retryAfter?: number | undefined;
}

/** Nothing that speaks the protocol answered: refused, reset, timed out, or not a host at all. */
export class ConnectionError extends Error {
  readonly url: string;
  /** Of an answer that is not the protocol's, such as a proxy's. */
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(url: string, problem: string, { cause, status, retryAfter }: ConnectionProblem = {}) {
    super(`${problem} (${url}). Check that the host runs and that the base URL is right.`, { cause });
    this.name = 'ConnectionError';
    this.url = url;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}
