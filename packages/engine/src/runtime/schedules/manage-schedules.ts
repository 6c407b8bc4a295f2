import { HostError } from '@weft/protocol';
import { upcoming, type Zones } from '../../core/schedules/due-times.ts';
import { newSchedule, paused, resumed } from '../../core/schedules/lifecycle.ts';
import type { Schedule } from '../../core/schedules/schedule.ts';
import type { Caller, NewSchedule, ScheduleDetails, Schedules, ScheduleView } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Documents, WorkflowRegistry } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { CONTENDED, isWritten, untilWritten } from '../commits/contended-write.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { checkInputs } from '../runs/new-run-checks.ts';
import type { RunCreator } from '../runs/create-run.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { TenantCounter } from '../triggers/tenant-counter.ts';
import type { Plans } from '../workflows/plans.ts';
import { withBackfill } from './backfill.ts';
import { checkSchedule } from './new-schedule.ts';
import { DUE, SCHEDULE_SCOPE, schedulePlace } from './schedule-place.ts';
import { dueAtOf, readSchedule, type ReadSchedule, scheduleWrite, timesOf } from './schedule-records.ts';
import { createStartNow } from './start-now.ts';

/** Schedules of a tenant: what people do with them. When they fire is the scheduler's business. */
export interface ScheduleDependencies {
  readonly store: Documents & WorkflowRegistry;
  readonly committer: Committer;
  readonly creator: Pick<RunCreator, 'prepare'>;
  readonly plans: Plans;
  readonly idempotency: Idempotency;
  readonly counter: TenantCounter;
  readonly zones: Zones;
  readonly newRunId: () => string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  /** Something may be due now. */
  readonly wake: () => void;
}

const SHOWN_AHEAD = 10;

export function createManageSchedules(dependencies: ScheduleDependencies): Schedules {
  const { store, committer, clock, random, limits, zones, counter } = dependencies;
  const startNow = createStartNow({ ...dependencies, read });

  async function read({ tenant }: Caller, name: string): Promise<ReadSchedule | undefined> {
    const stored = await store.readDocument(schedulePlace(tenant, name));
    return stored && readSchedule(stored);
  }

  async function create(
    caller: Caller,
    request: NewSchedule,
    remember: Remember<ScheduleView>,
  ): Promise<ScheduleView> {
    const at = clock.now();
    const { name } = request;
    const { spec, times } = checkSchedule(request, at, { limits, zones });
    await checkStart(dependencies, caller, request);
    const identity = { name, uid: randomId(random), createdAt: at, createdBy: caller.principal };
    const schedule = newSchedule(spec, identity, times);
    const view = viewOf(schedule);
    return await counter.inTurn(caller.tenant, async () => {
      if ((await read(caller, name)) !== undefined) throw exists(name);
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...scheduleWrite(caller.tenant, schedule, { at, dueAt: dueAtOf(schedule) }),
        documents: [await counter.added(caller.tenant, at)],
        audit: [auditOf(caller, { at, action: 'schedule.create', target: name })],
        ...remember.answer(view),
      });
      if (!isWritten(result)) return CONTENDED;
      dependencies.wake();
      return view;
    });
  }

  /** Reads, changes and writes; again when the record was fired meanwhile. Undefined when there is none. */
  function change(
    caller: Caller,
    name: string,
    action: string,
    make: (schedule: Schedule, now: number) => Schedule,
  ): Promise<Schedule | undefined> {
    return untilWritten(async () => {
      const found = await read(caller, name);
      if (found === undefined) return undefined;
      const at = clock.now();
      const schedule = make(found.schedule, at);
      const dueAt = dueAtOf(schedule);
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...scheduleWrite(caller.tenant, schedule, { at, dueAt, replaces: found.version }),
        audit: [auditOf(caller, { at, action, target: name })],
      });
      if (!isWritten(result)) return CONTENDED;
      dependencies.wake();
      return schedule;
    });
  }

  function remove(caller: Caller, name: string): Promise<boolean> {
    return counter.inTurn(caller.tenant, async () => {
      const found = await read(caller, name);
      if (found === undefined) return false;
      const { ownedBy } = found.schedule;
      if (ownedBy !== undefined) throw owned(ownedBy.workflowId);
      const at = clock.now();
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...schedulePlace(caller.tenant, name),
        at,
        replaces: found.version,
        documents: [await counter.removed(caller.tenant, at)],
        audit: [auditOf(caller, { at, action: 'schedule.remove', target: name })],
      });
      return isWritten(result) ? true : CONTENDED;
    });
  }

  return {
    create: (caller, request, claim) =>
      dependencies.idempotency.once(caller, claim, async (remember) => ({
        replayed: false as const,
        schedule: await create(caller, request, remember),
      })),
    async list(caller, page) {
      const { rows, nextCursor } = await store.listDocuments(caller.tenant, DUE, SCHEDULE_SCOPE, page);
      const views = rows.map((row) => viewOf(readSchedule(row).schedule));
      return { rows: views, ...(nextCursor !== undefined && { nextCursor }) };
    },
    async get(caller, name) {
      const found = await read(caller, name);
      return found && detailsOf(found.schedule, zones);
    },
    async pause(caller, name) {
      const changed = await change(caller, name, 'schedule.pause', (schedule, now) =>
        paused(schedule, now, 'operator', caller.principal),
      );
      return changed && viewOf(changed);
    },
    async resume(caller, name) {
      const changed = await change(caller, name, 'schedule.resume', (schedule, now) =>
        resumed(schedule, timesOf(schedule, zones), now),
      );
      return changed && viewOf(changed);
    },
    trigger: (caller, name, claim) =>
      dependencies.idempotency.once(caller, claim, (remember) => startNow(caller, name, remember)),
    async backfill(caller, name, range) {
      let dueTimes = 0;
      const changed = await change(caller, name, 'schedule.backfill', (schedule, now) => {
        const filled = withBackfill(schedule, timesOf(schedule, zones), range, now);
        dueTimes = filled.dueTimes;
        return filled.schedule;
      });
      return changed && { dueTimes, from: changed.backfill?.next ?? range.from, to: range.to };
    },
    remove,
  };
}

/** Refuses a schedule whose first run would be refused: its creator should learn that now. */
async function checkStart(
  { store, plans }: Pick<ScheduleDependencies, 'store' | 'plans'>,
  caller: Caller,
  { workflowId, inputs }: NewSchedule,
): Promise<void> {
  const workflow = await store.readWorkflow(caller.tenant, workflowId, undefined);
  if (workflow === undefined) {
    const message = 'No workflow has this id. Register it first, or correct workflowId.';
    throw new HostError('not_found', message, { field: 'workflowId' });
  }
  checkInputs(inputs, await plans.get(workflow.digest, caller.tenant));
}

function viewOf(schedule: Schedule): ScheduleView {
  const { uid: _uid, last: _last, backfill, firings: _firings, ...shown } = schedule;
  const isOver = shown.next === undefined && shown.queue.length === 0 && backfill === undefined;
  const state = shown.paused !== undefined ? 'paused' : isOver ? 'ended' : 'active';
  return { ...shown, state };
}

function detailsOf(schedule: Schedule, zones: Zones): ScheduleDetails {
  const { next, firings } = schedule;
  const ahead = next === undefined ? [] : upcoming(timesOf(schedule, zones), next - 1, SHOWN_AHEAD);
  return { ...viewOf(schedule), firings: [...firings].reverse(), upcoming: ahead };
}

function exists(name: string): HostError {
  const message = `There is a schedule "${name}". Remove it first, or choose another name.`;
  return new HostError('schedule_exists', message, { field: 'name' });
}

function owned(workflowId: string): HostError {
  return new HostError(
    'conflict',
    `Workflow "${workflowId}" declares this schedule. Register a version without the trigger, or pause the schedule.`,
    { workflowId },
  );
}
