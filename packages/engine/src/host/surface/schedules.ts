import type { JsonObject } from '@weft/protocol';
import type { Firing, OverlapPolicy, Schedule } from '../../core/schedules/schedule.ts';
import type { Listed, Page } from '../../ports/store.ts';
import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';

export type { Firing, FiringOutcome, OverlapPolicy, PauseReason } from '../../core/schedules/schedule.ts';

/** Runs that start when their time has come. */
export interface Schedules {
  /** Throws `schedule_exists`, and `validation_error` for one that would never be due. */
  create(
    caller: Caller,
    request: NewSchedule,
    idempotency?: IdempotencyClaim<ScheduleView>,
  ): Promise<CreatedSchedule>;
  list(caller: Caller, page: Page): Promise<Listed<ScheduleView>>;
  get(caller: Caller, name: string): Promise<ScheduleDetails | undefined>;
  pause(caller: Caller, name: string): Promise<ScheduleView | undefined>;
  /** What was due meanwhile is skipped. */
  resume(caller: Caller, name: string): Promise<ScheduleView | undefined>;
  /** Starts a run now, whatever the overlap policy says. */
  trigger(
    caller: Caller,
    name: string,
    idempotency?: IdempotencyClaim<{ readonly runId: string }>,
  ): Promise<{ readonly replayed: false; readonly runId: string } | ReplayedAnswer | undefined>;
  /** Starts a run for each due time of a range in the past; those that have one are left out. */
  backfill(caller: Caller, name: string, range: BackfillRange): Promise<Backfill | undefined>;
  /** False when it does not exist. Its runs continue. */
  remove(caller: Caller, name: string): Promise<boolean>;
}

export interface NewSchedule {
  readonly name: string;
  readonly workflowId: string;
  readonly inputs: JsonObject;
  /** One of the two. */
  readonly everyMs?: number;
  readonly cron?: string;
  /** Of `cron`; default UTC. */
  readonly timeZone?: string;
  readonly overlap: OverlapPolicy;
  readonly jitterMs: number;
  readonly catchUpMs: number;
  readonly start?: number;
  readonly end?: number;
  readonly pauseOnFailure: boolean;
}

export type CreatedSchedule = { readonly replayed: false; readonly schedule: ScheduleView } | ReplayedAnswer;

export interface ScheduleView
  extends Pick<
    Schedule,
    | 'name'
    | 'workflowId'
    | 'inputs'
    | 'timing'
    | 'overlap'
    | 'jitterMs'
    | 'catchUpMs'
    | 'start'
    | 'end'
    | 'pauseOnFailure'
    | 'createdAt'
    | 'createdBy'
    | 'ownedBy'
    | 'paused'
    | 'next'
    | 'open'
    | 'queue'
    | 'counts'
  > {
  readonly state: 'active' | 'paused' | 'ended';
}

export interface ScheduleDetails extends ScheduleView {
  /** Newest first. */
  readonly firings: readonly Firing[];
  /** The next ten due times. */
  readonly upcoming: readonly number[];
}

export interface BackfillRange {
  readonly from: number;
  readonly to: number;
}

export interface Backfill {
  /** Due times in the range. */
  readonly dueTimes: number;
  readonly from: number;
  readonly to: number;
}
