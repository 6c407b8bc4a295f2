import { HostError } from '@weft/protocol';
import type { CommitResult } from './committer.ts';
import { writeFailure } from './write-failure.ts';

/** A record that something else changes all the time is met by few who write it. */
const MOST_ATTEMPTS = 20;

/** The write was decided from what is no longer there: read again, and decide again. */
export const CONTENDED = Symbol('contended');

/** Makes an attempt, and another one as long as someone else was faster. */
export async function untilWritten<Result>(
  attempt: () => Promise<Result | typeof CONTENDED>,
): Promise<Result> {
  for (let count = 0; count < MOST_ATTEMPTS; count += 1) {
    const result = await attempt();
    if (result !== CONTENDED) return result;
  }
  const retryAfter = 1;
  throw new HostError(
    'service_unavailable',
    'Other changes came in between, again and again. Try again.',
    { cause: 'contention', retryAfter },
    { retryAfter },
  );
}

/** True when it is written; false when a document was not as expected. Throws for every other reason. */
export function isWritten(result: CommitResult): boolean {
  if (result.state === 'committed') return true;
  const isContended =
    result.state === 'refused' &&
    (result.reason === 'document_changed' || result.reason === 'document_exists');
  if (isContended) return false;
  throw writeFailure(result);
}
