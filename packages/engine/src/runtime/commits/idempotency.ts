import { HostError } from '@weft/protocol';
import type { Caller, IdempotencyClaim } from '../../host/host.ts';
import type { IdempotencyRecord, Store } from '../../ports/store.ts';

/**
 * A client's key makes an operation happen once. The truth is the record that commits with the operation; this file
 * only keeps requests of one process from doing the same work side by side.
 */
export interface InFlight {
  /** Runs `work` unless the same key is already at work here; then waits for that one, and runs `work` after it. */
  once<Result>(caller: Caller, claim: IdempotencyClaim, work: () => Promise<Result>): Promise<Result>;
}

const RETRY_AFTER_SECONDS = 1;

export function createInFlight(waitMs: number): InFlight {
  const underWay = new Map<string, Promise<unknown>>();
  return {
    async once(caller, claim, work) {
      const key = `${caller.tenant}\n${claim.operation}\n${claim.keyHash}`;
      const until = performance.now() + waitMs;
      for (let first = underWay.get(key); first !== undefined; first = underWay.get(key)) {
        if (!(await settlesWithin(first, until - performance.now()))) throw inFlightError();
      }
      const mine = work();
      underWay.set(key, mine);
      try {
        return await mine;
      } finally {
        underWay.delete(key);
      }
    },
  };
}

function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.max(ms, 0));
    timer.unref();
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(settled, settled);
  });
}

function inFlightError(): HostError {
  return new HostError(
    'idempotency_in_flight',
    'The first request with this Idempotency-Key is still being carried out. Try again shortly.',
    { retryAfter: RETRY_AFTER_SECONDS },
    { retryAfter: RETRY_AFTER_SECONDS },
  );
}

/** The record of an earlier request with this key, if it is still kept. Throws when that request was another one. */
export async function findRecord(
  store: Pick<Store, 'readIdempotency'>,
  caller: Caller,
  claim: IdempotencyClaim,
  now: number,
): Promise<IdempotencyRecord | undefined> {
  const record = await store.readIdempotency(caller.tenant, claim.operation, claim.keyHash);
  if (record === undefined || record.expiresAt <= now) return undefined;
  return checkSameRequest(record, claim);
}

export function checkSameRequest(record: IdempotencyRecord, claim: IdempotencyClaim): IdempotencyRecord {
  if (record.requestDigest === claim.requestDigest) return record;
  throw new HostError(
    'idempotency_key_mismatch',
    'This Idempotency-Key was used for a request with other content. Use a new key for a new request.',
  );
}

export function newRecord(
  caller: Caller,
  claim: IdempotencyClaim,
  expiresAt: number,
  response: IdempotencyRecord['response'],
): IdempotencyRecord {
  return {
    tenant: caller.tenant,
    operation: claim.operation,
    keyHash: claim.keyHash,
    requestDigest: claim.requestDigest,
    expiresAt,
    response,
  };
}
