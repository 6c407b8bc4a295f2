import { HostError } from '@weft/protocol';
import type { Caller, DeadLetters as Surface } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer, CommitResult } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import type { PreparedRun } from '../runs/create-run.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { DeadLetters, FoundLetter } from './dead-letters.ts';
import { DEAD_RUNS } from './dead-runs.ts';

/** Makes the run that a letter is about, as its source would make it today. Throws why it cannot. */
export type Replayer = (caller: Caller, id: string, found: FoundLetter) => Promise<PreparedRun>;

export interface ManageDeadLetterDependencies {
  readonly deadLetters: DeadLetters;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly replayers: Readonly<Record<'schedule' | 'trigger', Replayer>>;
}

export function createManageDeadLetters(dependencies: ManageDeadLetterDependencies): Surface {
  const { deadLetters, committer, clock, random, replayers } = dependencies;

  /** False when the letter was replayed or removed by someone else. */
  function isDone(result: CommitResult): boolean {
    if (result.state === 'committed') return true;
    if (result.state === 'refused' && result.reason === 'document_changed') return false;
    throw writeFailure(result);
  }

  return {
    async list(caller, source, page) {
      sourceParts(source);
      return await deadLetters.list(caller.tenant, source, page);
    },
    async replay(caller, source, id) {
      const { kind, name } = sourceParts(source);
      const found = await deadLetters.find(caller.tenant, source, id);
      if (found === undefined) return undefined;
      if (kind === DEAD_RUNS) {
        const message =
          'A run that failed after its last retry is not started again as it was. Fork it from an event before the failure.';
        throw new HostError('conflict', message, { runId: id });
      }
      const run = await replayers[kind](caller, name, found);
      const result = await run.commit({
        documents: deadLetters.removal(caller.tenant, found),
        audit: [
          auditOf(caller, { at: clock.now(), action: 'dead-letter.replay', target: `${source} ${id}` }),
        ],
      });
      return isDone(result) ? { runId: run.runId } : undefined;
    },
    async remove(caller, source, id) {
      sourceParts(source);
      const found = await deadLetters.find(caller.tenant, source, id);
      if (found === undefined) return false;
      const result = await committer.submit({
        kind: 'audit',
        batchId: randomId(random),
        documents: deadLetters.removal(caller.tenant, found),
        audit: [
          auditOf(caller, { at: clock.now(), action: 'dead-letter.remove', target: `${source} ${id}` }),
        ],
      });
      return isDone(result);
    },
  };
}

type SourceParts =
  | { readonly kind: 'schedule' | 'trigger'; readonly name: string }
  | { readonly kind: typeof DEAD_RUNS; readonly name: '' };

function sourceParts(source: string): SourceParts {
  if (source === DEAD_RUNS) return { kind: DEAD_RUNS, name: '' };
  const [, kind, name] = /^(schedule|trigger):(.+)$/u.exec(source) ?? [];
  if (name !== undefined && (kind === 'schedule' || kind === 'trigger')) return { kind, name };
  throw new HostError('validation_error', 'source must be schedule:NAME, trigger:ID or runs.', {
    field: 'source',
  });
}
