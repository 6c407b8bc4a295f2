import type { JsonObject } from '@weft/protocol';
import type { Bounds, Timing } from './due-times.ts';

export const OVERLAP_POLICIES = ['skip', 'queue-one', 'queue-all', 'cancel-other', 'allow'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

/** What a schedule is asked to do. */
export interface ScheduleSpec extends Bounds {
  readonly workflowId: string;
  readonly inputs: JsonObject;
  readonly timing: Timing;
  readonly overlap: OverlapPolicy;
  /** A start is put off by up to so much; by how much follows from the due time. */
  readonly jitterMs: number;
  /** Due times that were missed by more are skipped. */
  readonly catchUpMs: number;
  readonly pauseOnFailure: boolean;
}

/** A schedule with all that it must remember. Small and bounded: it is written with every firing. */
export interface Schedule extends ScheduleSpec {
  readonly name: string;
  /** Tells it from another one of the same name, before or after it: due times of the two are not the same. */
  readonly uid: string;
  readonly createdAt: number;
  readonly createdBy: string;
  /** The workflow that declares it as a trigger; absent when a client made it. */
  readonly ownedBy?: { readonly workflowId: string; readonly triggerId: string };
  readonly paused?: { readonly at: number; readonly reason: PauseReason; readonly by?: string };
  /** The due time that was dealt with last, and the next one; absent when there is none any more. */
  readonly last?: number;
  readonly next?: number;
  /** Runs that have not ended, as far as is known. */
  readonly open: readonly OpenRun[];
  /** Due times that wait for an open run to end, oldest first. */
  readonly queue: readonly number[];
  /** Due times of the past that were asked for: from `next` to `until`. */
  readonly backfill?: { readonly next: number; readonly until: number };
  /** What became of the newest due times, oldest first. */
  readonly firings: readonly Firing[];
  /** Counted since it was made. */
  readonly counts: Readonly<Record<FiringOutcome, number>>;
}

export type PauseReason = 'operator' | 'run_failed' | 'dead_letters_full';

export interface OpenRun {
  readonly runId: string;
  readonly dueAt: number;
}

export type FiringOutcome = 'started' | 'queued' | 'skipped' | 'dead-lettered';

export interface Firing {
  readonly dueAt: number;
  /** Of several that were skipped together, the last one. */
  readonly until?: number;
  readonly at: number;
  readonly outcome: FiringOutcome;
  readonly runId?: string;
  /** Why it was skipped or dead-lettered, or started although it was not due. */
  readonly reason?: string;
}

/** So many firings are remembered. */
export const KEPT_FIRINGS = 20;
/** So many runs of a schedule may be open, and so many due times may wait. */
export const MOST_OPEN = 100;
export const MOST_QUEUED = 100;

export function withFiring(schedule: Schedule, firing: Firing): Schedule {
  const { firings, counts } = schedule;
  // What was queued and is started now is one firing.
  const others = firings.filter(({ dueAt, outcome }) => dueAt !== firing.dueAt || outcome !== 'queued');
  return {
    ...schedule,
    firings: [...others, firing].slice(-KEPT_FIRINGS),
    counts: { ...counts, [firing.outcome]: counts[firing.outcome] + 1 },
  };
}
