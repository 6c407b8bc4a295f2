import { HostError } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { Caller, Host, IdempotencyClaim, ReplayedAnswer } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdempotencyRecord, Store } from '../../ports/store.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Committer } from './committer.ts';
import { AnsweredBefore, writeFailure } from './write-failure.ts';

/**
 * A client's key makes a request happen once, whatever it asks for:
 *
 * - the same key with the same request gets the first answer again;
 * - with another request it is a conflict;
 * - while the first is still being carried out in this process, a repeat waits for it, for a limited time.
 *
 * The truth is the record that commits with what was asked. Where another process was faster, the store refuses the write, and
 * the answer is the one in its record.
 */
export interface Idempotency {
  /** Carries a request out, unless its key was used before. `work` puts what `remember` returns into the unit that it commits. */
  once<Result, Outcome>(
    caller: Caller,
    claim: IdempotencyClaim<Outcome> | undefined,
    work: (remember: Remember<Outcome>) => Promise<Result>,
    again?: Again<Result, Outcome>,
  ): Promise<Result | ReplayedAnswer>;
  /** Whether the record of an earlier request with this key is still kept. Throws when that request was another one. */
  isKnown(caller: Caller, claim: ClaimedKey): Promise<boolean>;
}

/** Makes the part of a unit by which repeats are recognised. */
export interface Remember<Outcome> {
  /** They get what is answered now. */
  answer(outcome: Outcome): { readonly idempotency?: IdempotencyRecord };
  /** They get what becomes of a command. */
  command(command: { readonly runId: string; readonly commandId: string }): {
    readonly idempotency?: IdempotencyRecord;
  };
}

/** What a repeat gets instead of the answer in the record. */
type Again<Result, Outcome> = (
  response: IdempotencyRecord['response'],
  render: IdempotencyClaim<Outcome>['render'],
) => Promise<Result | ReplayedAnswer>;

type ClaimedKey = Omit<IdempotencyClaim<unknown>, 'render'>;

const NOTHING = {};

/** For a request without a key. */
export const REMEMBER_NOTHING: Remember<unknown> = { answer: () => NOTHING, command: () => NOTHING };

export interface IdempotencyDependencies {
  readonly store: Pick<Store, 'readIdempotency'>;
  readonly clock: Clock;
  readonly limits: Pick<HostLimits, 'idempotencyWaitMs' | 'idempotencyKeptMs'>;
}

export function createIdempotency({ store, clock, limits }: IdempotencyDependencies): Idempotency {
  const inFlight = new Map<string, Promise<unknown>>();

  /** While the same key is at work here, waits for that one. */
  async function alone<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + limits.idempotencyWaitMs;
    for (let first = inFlight.get(key); first !== undefined; first = inFlight.get(key)) {
      if (!(await settlesWithin(first, until - performance.now()))) throw inFlightError();
    }
    const mine = work();
    inFlight.set(key, mine);
    try {
      return await mine;
    } finally {
      inFlight.delete(key);
    }
  }

  async function find(caller: Caller, claim: ClaimedKey): Promise<IdempotencyRecord | undefined> {
    const record = await store.readIdempotency(caller.tenant, claim.operation, keyHashOf(caller, claim));
    if (record === undefined || record.expiresAt <= clock.now()) return undefined;
    return checkSameRequest(record, claim);
  }

  return {
    async once(caller, claim, work, again = storedAnswer) {
      if (claim === undefined) return await work(REMEMBER_NOTHING);
      const { operation, requestDigest, render } = claim;
      const { tenant } = caller;
      const keyHash = keyHashOf(caller, claim);
      const keep = (response: IdempotencyRecord['response']) => {
        const expiresAt = clock.now() + limits.idempotencyKeptMs;
        return { idempotency: { tenant, operation, keyHash, requestDigest, expiresAt, response } };
      };
      return await alone(`${tenant}\n${operation}\n${keyHash}`, async () => {
        const earlier = await find(caller, claim);
        if (earlier !== undefined) return await again(earlier.response, render);
        try {
          return await work({ answer: (outcome) => keep(render(outcome)), command: keep });
        } catch (error) {
          if (!(error instanceof AnsweredBefore)) throw error;
          return await again(checkSameRequest(error.record, claim).response, render);
        }
      });
    },
    isKnown: async (caller, claim) => (await find(caller, claim)) !== undefined,
  };
}

/** Keys are those of a tenant, or of one of its workspaces: what was answered to one workspace is not shown to another. */
function keyHashOf({ workspace }: Caller, { keyHash }: ClaimedKey): string {
  return workspace === undefined ? keyHash : sha256Hex(JSON.stringify([workspace, keyHash]));
}

/** Remembers the answers of acts that have no single write to commit their record with. */
export function createOnce(
  idempotency: Idempotency,
  { committer, random }: { readonly committer: Committer; readonly random: RandomBytes },
): Host['once'] {
  return (caller, claim, act) =>
    idempotency.once(caller, claim, async (remember) => {
      const outcome = await act();
      if (claim === undefined) return { replayed: false as const, outcome };
      const batchId = randomId(random);
      const result = await committer.submit({ kind: 'audit', batchId, ...remember.answer(outcome) });
      if (result.state !== 'committed') throw writeFailure(result);
      return { replayed: false as const, outcome };
    });
}

async function storedAnswer(response: IdempotencyRecord['response']): Promise<ReplayedAnswer> {
  if ('body' in response) return { replayed: true, ...response };
  throw new HostError(
    'internal_error',
    'The record of this Idempotency-Key belongs to another kind of request.',
  );
}

function checkSameRequest(record: IdempotencyRecord, claim: ClaimedKey): IdempotencyRecord {
  if (record.requestDigest === claim.requestDigest) return record;
  throw new HostError(
    'idempotency_key_mismatch',
    'This Idempotency-Key was used for a request with other content. Use a new key for a new request.',
  );
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

const RETRY_AFTER_SECONDS = 1;

function inFlightError(): HostError {
  return new HostError(
    'idempotency_in_flight',
    'The first request with this Idempotency-Key is still being carried out. Try again shortly.',
    { retryAfter: RETRY_AFTER_SECONDS },
    { retryAfter: RETRY_AFTER_SECONDS },
  );
}
