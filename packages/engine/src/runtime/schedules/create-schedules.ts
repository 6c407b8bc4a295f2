import type { Schedules } from '../../host/host.ts';
import type { Zones } from '../../core/schedules/due-times.ts';
import type { Firing } from '../../core/schedules/schedule.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { DueDocument, Store } from '../../ports/store.ts';
import type { Committer } from '../commits/committer.ts';
import type { Idempotency } from '../commits/idempotency.ts';
import type { OverloadGauge } from '../fairness/overload.ts';
import type { RunCreator } from '../runs/create-run.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import type { DeadLetters } from '../triggers/dead-letters.ts';
import type { Replayer } from '../triggers/manage-dead-letters.ts';
import { createTenantCounter } from '../triggers/tenant-counter.ts';
import type { Plans } from '../workflows/plans.ts';
import { callerFor, createFire, dueRunId, newRunOf, sourceOf } from './fire.ts';
import { createManageSchedules } from './manage-schedules.ts';
import { readSchedule, scheduleMissing } from './schedule-records.ts';
import { schedulePlace } from './schedule-place.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

export interface ScheduleParts {
  readonly scheduler: Scheduler;
  readonly schedules: Schedules;
  /** Starts the run of a dead letter. */
  readonly replay: Replayer;
}

export interface CreateSchedulesDependencies {
  readonly store: Store;
  readonly committer: Committer;
  readonly creator: RunCreator;
  readonly plans: Plans;
  readonly idempotency: Idempotency;
  readonly dispatcher: Pick<Dispatcher, 'poke'>;
  readonly overload: Pick<OverloadGauge, 'check'>;
  readonly deadLetters: DeadLetters;
  readonly newRunId: () => string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly log: Log;
  readonly zones: Zones;
  readonly redeliver: (row: DueDocument) => Promise<void>;
  readonly onFired: (outcome: Firing['outcome'], lateMs: number | undefined) => void;
}

/** Everything that makes runs start by their time, put together. */
export function createSchedules(dependencies: CreateSchedulesDependencies): ScheduleParts {
  const { store, committer, creator, dispatcher, limits, random } = dependencies;
  const counter = createTenantCounter(store, {
    id: 'schedules',
    limit: limits.maxSchedules,
    limitName: 'max-schedules',
  });

  async function cancel(tenant: string, runId: string, commandId: string): Promise<void> {
    await committer.submit({
      kind: 'command',
      batchId: randomId(random),
      tenant,
      runId,
      commandId,
      command: { type: 'cancel', reason: 'schedule-overlap' },
      inboxLimit: limits.maxInbox,
    });
    dispatcher.poke(runId);
  }

  const fire = createFire({ ...dependencies, cancel });
  const scheduler = createScheduler({ ...dependencies, fire });
  const schedules = createManageSchedules({ ...dependencies, counter, wake: () => scheduler.wake() });

  return {
    scheduler,
    schedules,
    async replay(caller, name, { letter: { dueAt = 0 } }) {
      const stored = await store.readDocument(schedulePlace(caller.tenant, name));
      if (stored === undefined) throw scheduleMissing();
      const { schedule } = readSchedule(stored);
      const given = {
        runId: dueRunId(caller.tenant, schedule, dueAt),
        source: sourceOf(caller.tenant, schedule, dueAt),
      };
      return await creator.prepare(callerFor(caller.tenant, schedule), newRunOf(schedule), given);
    },
  };
}
