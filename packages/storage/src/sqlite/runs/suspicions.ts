import type { Refusal, Suspicion, SuspicionUnit } from '@weft/engine';
import { suspicionRejection, takesClaim } from '@weft/engine/store-rules';
import { runIdBytes } from './codec.ts';
import { statusOf } from '../../status-number.ts';
import type { Connection } from '../file/connection.ts';

export interface Suspicions {
  /** Inside the group's transaction. */
  write(unit: SuspicionUnit): Refusal | undefined;
  wasCommitted(unit: SuspicionUnit): boolean;
  count(): number;
}

const CANCEL = '{"type":"cancel"';

/**
 * Of claimable runs, those that may be claimed: a quarantined one only for the sake of a cancel. The look into its inbox costs
 * nothing where none is quarantined. Commands are written with their type first; one that is damaged must not fail the search
 * for all others, as parsing it would.
 */
export const CLAIMABLE = `(quarantined IS NULL OR EXISTS (
  SELECT 1 FROM commands WHERE commands.rid = runs.rid AND verdict IS NULL
    AND substr(body, 1, ${CANCEL.length}) = '${CANCEL}'))`;

interface Target {
  readonly rid: number;
  readonly status: number;
  readonly suspicion: string | null;
}

export function prepareSuspicions({ db, knownRuns }: Connection): Suspicions {
  const find = db.prepare<Target>('SELECT rid, status, suspicion FROM runs WHERE id = ?');
  const put = db.prepare('UPDATE runs SET suspicion = ?, quarantined = ? WHERE rid = ?');
  const takeAway = db.prepare('UPDATE runs SET holder = NULL WHERE rid = ?');
  const count = db.prepare<{ runs: number }>(
    'SELECT count(*) AS runs FROM runs WHERE quarantined IS NOT NULL AND status < 6',
  );

  function targetOf(runId: string): Target | undefined {
    const id = runIdBytes(runId);
    return id && find.get(id);
  }

  return {
    write({ runId, suspicion }) {
      const run = targetOf(runId);
      const refusal = suspicionRejection(run && { status: statusOf(run.status) });
      if (refusal || !run) return refusal;
      put.get(textOf(suspicion), suspicion?.quarantinedAt ?? null, run.rid);
      if (takesClaim(suspicion)) takeAway.get(run.rid);
      knownRuns.forget(runId);
      return undefined;
    },
    wasCommitted: ({ runId, suspicion }) => targetOf(runId)?.suspicion === textOf(suspicion),
    count: () => count.get()?.runs ?? 0,
  };
}

function textOf(suspicion: Suspicion | undefined): string | null {
  return suspicion === undefined ? null : JSON.stringify(suspicion);
}
