import { HostError } from '@weft/protocol';
import type { IdempotencyRecord } from '../../ports/store.ts';
import type { CommitResult } from './committer.ts';

const RETRY_AFTER_SECONDS = 2;

/** A request with the same Idempotency-Key was faster; idempotency.ts answers as its record says. */
export class AnsweredBefore extends Error {
  readonly record: IdempotencyRecord;

  constructor(record: IdempotencyRecord) {
    super('A request with this Idempotency-Key was carried out before.');
    this.name = 'AnsweredBefore';
    this.record = record;
  }
}

/** The answer to a client whose write did not become durable, for reasons that have nothing to do with the request. */
export function writeFailure(
  result: Exclude<CommitResult, { state: 'committed' }>,
): HostError | AnsweredBefore {
  const retryAfter = { retryAfter: RETRY_AFTER_SECONDS };
  switch (result.state) {
    case 'unknown':
      return new HostError(
        'service_unavailable',
        'The store did not say whether the write is durable. Send the request again with the same Idempotency-Key.',
        { cause: 'store_unknown', ...retryAfter },
        { ...retryAfter, cause: result.cause },
      );
    case 'failed':
      return new HostError(
        'internal_error',
        'The store cannot take this write, although it takes others; the host log has the cause.',
        { cause: 'store_failed' },
        { cause: result.cause },
      );
    case 'lost':
      return new HostError(
        'service_unavailable',
        'The store lost the write. Send the request again.',
        { cause: 'store_lost', ...retryAfter },
        retryAfter,
      );
    case 'refused':
      if (result.reason === 'idempotency_exists') return new AnsweredBefore(result.record);
      if (result.reason === 'store_full') {
        return new HostError(
          'service_unavailable',
          'The store has no room for new data; reads still work. Try again later.',
          { cause: 'store_full', ...retryAfter },
          retryAfter,
        );
      }
      return new HostError('internal_error', `The store refused the write: ${result.reason}.`);
  }
}
