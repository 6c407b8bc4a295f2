import { endpointOf, type JsonObject } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { PageRequest } from '../documents.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** What happens to a due time while a run of the schedule is open. */
export type OverlapPolicy = 'skip' | 'queue-one' | 'queue-all' | 'cancel-other' | 'allow';

export interface NewSchedule {
  readonly name: string;
  readonly workflowId: string;
  readonly inputs?: JsonObject;
  /** The interval. Either this or `cron`. */
  readonly everyMs?: number;
  /** Five fields. */
  readonly cron?: string;
  /** IANA name, for `cron`. Default: UTC. */
  readonly timeZone?: string;
  /** Default: `skip`. */
  readonly overlap?: OverlapPolicy;
  readonly jitterMs?: number;
  /** Due times missed by more are skipped. Default: an hour. */
  readonly catchUpMs?: number;
  readonly start?: string;
  readonly end?: string;
  readonly pauseOnFailure?: boolean;
}

export interface ScheduleSummary {
  readonly name: string;
  readonly workflowId: string;
  readonly state: 'active' | 'paused' | 'ended';
  readonly inputs: JsonObject;
  readonly everyMs?: number;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly overlap: OverlapPolicy;
  readonly jitterMs: number;
  readonly catchUpMs: number;
  readonly start?: string;
  readonly end?: string;
  readonly pauseOnFailure: boolean;
  readonly createdAt: string;
  readonly createdBy: string;
  /** The workflow that declares it. */
  readonly ownedBy?: { readonly workflowId: string; readonly triggerId: string };
  readonly paused?: { readonly at: string; readonly reason: string; readonly by?: string };
  readonly nextDueAt?: string;
  readonly openRuns: readonly string[];
  readonly queued: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface ScheduleFiring {
  readonly dueAt: string;
  /** Of several that were skipped together, the last one. */
  readonly until?: string;
  readonly at: string;
  readonly outcome: 'started' | 'queued' | 'skipped' | 'dead-lettered';
  readonly runId?: string;
  readonly reason?: string;
}

export interface ScheduleDetails extends ScheduleSummary {
  /** Newest first. */
  readonly firings: readonly ScheduleFiring[];
  /** The next ten due times. */
  readonly upcoming: readonly string[];
}

export interface ScheduleBackfill {
  readonly dueTimes: number;
  readonly from: string;
  readonly to: string;
}

export interface Schedules {
  create(schedule: NewSchedule): ApiPromise<ScheduleSummary>;
  list(page?: PageRequest): PagePromise<ScheduleSummary>;
  get(name: string): ApiPromise<ScheduleDetails>;
  pause(name: string): ApiPromise<ScheduleSummary>;
  /** What was due meanwhile is skipped. */
  resume(name: string): ApiPromise<ScheduleSummary>;
  /** Starts a run now. */
  trigger(name: string): ApiPromise<{ readonly runId: string }>;
  /** Starts a run for each due time of a range in the past that has none. */
  backfill(name: string, range: { readonly from: string; readonly to: string }): ApiPromise<ScheduleBackfill>;
  remove(name: string): ApiPromise<void>;
}

export function createSchedules(transport: Transport): Schedules {
  return {
    create: (schedule) => transport.json(endpointOf('createSchedule'), { body: schedule }),
    list: (page) => pagedList(transport, endpointOf('listSchedules'), 'schedules', { ...page }),
    get: (scheduleName) => transport.json(endpointOf('getSchedule', { scheduleName })),
    pause: (scheduleName) => transport.json(endpointOf('pauseSchedule', { scheduleName })),
    resume: (scheduleName) => transport.json(endpointOf('resumeSchedule', { scheduleName })),
    trigger: (scheduleName) => transport.json(endpointOf('triggerSchedule', { scheduleName })),
    backfill: (scheduleName, range) =>
      transport.json(endpointOf('backfillSchedule', { scheduleName }), { body: range }),
    remove: (scheduleName) => transport.json(endpointOf('removeSchedule', { scheduleName })),
  };
}
