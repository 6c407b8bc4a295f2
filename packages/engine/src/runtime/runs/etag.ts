import { FOLD_VERSION } from '../../core/fold/checkpoint.ts';

/** A snapshot is a function of the record, the log and the waiting commands; so is its validator. */
export function etagOf(runId: string, nextSeq: number, pending: readonly string[]): string {
  const waiting = pending.length === 0 ? '' : `.${pending.join('-')}`;
  return `"${runId}.${nextSeq}.${FOLD_VERSION}${waiting}"`;
}
