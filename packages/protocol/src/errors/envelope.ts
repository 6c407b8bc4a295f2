import { type Static, Type } from 'typebox';
import { HostError, isHostError } from './errors.ts';
import { closed, jsonObject, nonEmpty } from '../documents/schema-parts.ts';

export const ErrorEnvelopeSchema = closed({
  error: nonEmpty,
  message: nonEmpty,
  details: Type.Optional(jsonObject),
});

export type ErrorEnvelope = Static<typeof ErrorEnvelopeSchema>;

export interface EnvelopedError {
  readonly status: number;
  readonly body: ErrorEnvelope;
  /** Seconds for the Retry-After header. */
  readonly retryAfter?: number;
}

/** The single form in which a failure leaves the host. What is not a HostError shows neither its message nor its type. */
export function toEnvelope(error: unknown, correlationId?: string): EnvelopedError {
  const known = isHostError(error)
    ? error
    : new HostError('internal_error', 'The host failed. Its log has the cause.', undefined, { cause: error });
  const traced = correlationId !== undefined && known.status >= 500;
  const details = traced ? { ...known.details, correlationId } : known.details;
  return {
    status: known.status,
    body: {
      error: known.code,
      message: known.message === '' ? known.code : known.message,
      ...(details === undefined || details === null ? {} : { details }),
    },
    ...(known.retryAfter === undefined ? {} : { retryAfter: known.retryAfter }),
  };
}
