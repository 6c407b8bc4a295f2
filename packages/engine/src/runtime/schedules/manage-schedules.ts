import { HostError, type JsonObject } from '@weft/protocol';
import { startTime } from '../../core/schedules/decide-firing.ts';
import { upcoming, type Zones } from '../../core/schedules/due-times.ts';
import { newSchedule, paused, resumed, withStarted } from '../../core/schedules/lifecycle.ts';
import { MOST_OPEN, type Schedule } from '../../core/schedules/schedule.ts';
import { isTerminalStatus } from '../../model/run-state.ts';
import type {
  BackfillRange,
  Caller,
  NewSchedule,
  ScheduleDetails,
  Schedules,
  ScheduleView,
} from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Documents, DocumentWrite, WorkflowRegistry } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { checkInputs } from '../runs/new-run-checks.ts';
import type { RunCreator } from '../runs/create-run.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { TenantCounter } from '../triggers/tenant-counter.ts';
import type { Plans } from '../workflows/plans.ts';
import { callerFor, newRunOf, sourceOf } from './fire.ts';
import { checkSchedule } from './new-schedule.ts';
import { DUE, SCHEDULE_SCOPE, schedulePlace } from './schedule-place.ts';
import { readSchedule, type ReadSchedule, scheduleWrite, timesOf } from './schedule-records.ts';

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

/** Due times of one backfill. */
const MOST_BACKFILLED = 1_000;
const SHOWN_AHEAD = 10;
/** A record that is fired every moment is met by few who change it. */
const MOST_ATTEMPTS = 20;

export function createManageSchedules(dependencies: ScheduleDependencies): Schedules {
  const { store, committer, clock, random, limits, zones, counter } = dependencies;

  async function read({ tenant }: Caller, name: string): Promise<ReadSchedule | undefined> {
    const stored = await store.readDocument(schedulePlace(tenant, name));
    return stored && readSchedule(stored);
  }

  async function create(caller: Caller, request: NewSchedule, remember: Remember): Promise<ScheduleView> {
    const now = clock.now();
    const { spec, times } = checkSchedule(request, now, { limits, zones });
    await checkStart(caller, request);
    const identity = {
      name: request.name,
      uid: randomId(random),
      createdAt: now,
      createdBy: caller.principal,
    };
    const schedule = newSchedule(spec, identity, times);
    const view = viewOf(schedule);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...scheduleWrite(caller.tenant, schedule, { at: now, dueAt: dueAtOf(schedule) }),
        documents: [await counter.added(caller.tenant, now)],
        audit: [auditOf(caller, { at: now, action: 'schedule.create', target: request.name })],
        ...remember.answer(asJson(view)),
      });
      if (result.state === 'committed') {
        dependencies.wake();
        return view;
      }
      if (result.state !== 'refused') throw writeFailure(result);
      if ((await read(caller, request.name)) !== undefined) throw exists(request.name);
      if (result.reason !== 'document_changed' && result.reason !== 'document_exists')
        throw writeFailure(result);
    }
    throw busy();
  }

  /** A schedule whose first run is refused is a mistake that is best told to whoever makes it. */
  async function checkStart(caller: Caller, { workflowId, inputs }: NewSchedule): Promise<void> {
    const workflow = await store.readWorkflow(caller.tenant, workflowId, undefined);
    if (workflow === undefined) {
      const message = 'No workflow has this id. Register it first, or correct workflowId.';
      throw new HostError('not_found', message, { field: 'workflowId' });
    }
    checkInputs(inputs, await dependencies.plans.get(workflow.digest, caller.tenant));
  }

  /** Reads, changes and writes; again when the record was fired meanwhile. Undefined when there is none. */
  async function change(
    caller: Caller,
    name: string,
    action: string,
    make: (schedule: Schedule, now: number) => Schedule,
  ): Promise<Schedule | undefined> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const found = await read(caller, name);
      if (found === undefined) return undefined;
      const now = clock.now();
      const schedule = make(found.schedule, now);
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...scheduleWrite(caller.tenant, schedule, {
          at: now,
          dueAt: dueAtOf(schedule),
          replaces: found.version,
        }),
        audit: [auditOf(caller, { at: now, action, target: name })],
      });
      if (result.state === 'committed') {
        dependencies.wake();
        return schedule;
      }
      if (result.state !== 'refused' || result.reason !== 'document_changed') throw writeFailure(result);
    }
    throw busy();
  }

  async function startNow(
    caller: Caller,
    name: string,
    remember: Remember,
  ): Promise<{ replayed: false; runId: string } | undefined> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const found = await read(caller, name);
      if (found === undefined) return undefined;
      const { schedule, version } = found;
      if (schedule.open.length >= MOST_OPEN) {
        throw new HostError('conflict', `${MOST_OPEN} runs of this schedule are open; let one end first.`);
      }
      const now = clock.now();
      const delivery = randomId(random);
      const source = {
        ...sourceOf(caller.tenant, schedule, now),
        deliveryId: `manual_${delivery}`,
        dedupKey: delivery,
      };
      const { dueAt: _dueAt, ...manual } = source;
      const runId = dependencies.newRunId();
      const run = await dependencies.creator.prepare(
        callerFor(caller.tenant, { ...schedule, createdBy: caller.principal }),
        newRunOf(schedule),
        { runId, source: manual },
      );
      const end = isTerminalStatus(run.status) ? (run.status === 'failed' ? 'failed' : 'ended') : undefined;
      const fired = withStarted(schedule, now, { runId, end }, { at: now, reason: 'manual' });
      const result = await run.commit({
        documents: [
          scheduleWrite(caller.tenant, fired, { at: now, dueAt: dueAtOf(fired), replaces: version }),
        ],
        audit: [auditOf(caller, { at: now, action: 'schedule.trigger', target: name })],
        ...remember.answer({ runId }),
      });
      if (result.state === 'committed') return { replayed: false, runId };
      if (result.state !== 'refused' || result.reason !== 'document_changed') throw writeFailure(result);
    }
    throw busy();
  }

  async function remove(caller: Caller, name: string): Promise<boolean> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const found = await read(caller, name);
      if (found === undefined) return false;
      const { ownedBy } = found.schedule;
      if (ownedBy !== undefined) throw owned(ownedBy.workflowId);
      const at = clock.now();
      const removal: DocumentWrite = { ...schedulePlace(caller.tenant, name), at, replaces: found.version };
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...removal,
        documents: [await counter.removed(caller.tenant, at)],
        audit: [auditOf(caller, { at, action: 'schedule.remove', target: name })],
      });
      if (result.state === 'committed') return true;
      if (result.state !== 'refused' || result.reason !== 'document_changed') throw writeFailure(result);
    }
    throw busy();
  }

  function backfilled(
    schedule: Schedule,
    { from, to }: BackfillRange,
    now: number,
  ): { schedule: Schedule; count: number } {
    if (to < from) throw new HostError('validation_error', 'to is before from.', { field: 'to' });
    if (to > now) {
      throw new HostError(
        'validation_error',
        'to is in the future; a backfill is about due times of the past.',
        { field: 'to' },
      );
    }
    if (schedule.backfill !== undefined) {
      throw new HostError('conflict', 'A backfill of this schedule is going on. Wait until it has ended.');
    }
    const due = upcoming(timesOf(schedule, zones), from - 1, MOST_BACKFILLED + 1).filter(
      (time) => time <= to,
    );
    const [first] = due;
    const details = { field: 'from', limit: MOST_BACKFILLED, observed: due.length };
    if (first === undefined)
      throw new HostError('validation_error', 'The schedule has no due time in this range.', details);
    if (due.length > MOST_BACKFILLED) {
      const message = `The range holds more than ${MOST_BACKFILLED} due times. Fill it in parts.`;
      throw new HostError('validation_error', message, details);
    }
    return { schedule: { ...schedule, backfill: { next: first, until: to } }, count: due.length };
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
      if (found === undefined) return undefined;
      const { schedule } = found;
      const details: ScheduleDetails = {
        ...viewOf(schedule),
        firings: [...schedule.firings].reverse(),
        upcoming:
          schedule.next === undefined
            ? []
            : upcoming(timesOf(schedule, zones), schedule.next - 1, SHOWN_AHEAD),
      };
      return details;
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
      let count = 0;
      const changed = await change(caller, name, 'schedule.backfill', (schedule, now) => {
        const filled = backfilled(schedule, range, now);
        count = filled.count;
        return filled.schedule;
      });
      return changed && { dueTimes: count, from: changed.backfill?.next ?? range.from, to: range.to };
    },
    remove,
  };
}

/** When the record must be looked at: at once for what waits, or for its next due time. */
export function dueAtOf(schedule: Schedule): number | undefined {
  const { next, queue, backfill, paused: pause } = schedule;
  if (pause !== undefined) return undefined;
  if (queue.length > 0 || backfill !== undefined) return 0;
  return next === undefined ? undefined : startTime(schedule, next);
}

function viewOf(schedule: Schedule): ScheduleView {
  const { uid: _uid, last: _last, backfill, firings: _firings, ...shown } = schedule;
  const isOver = shown.next === undefined && shown.queue.length === 0 && backfill === undefined;
  const state = shown.paused !== undefined ? 'paused' : isOver ? 'ended' : 'active';
  return { ...shown, state };
}

function asJson(view: ScheduleView): JsonObject {
  return JSON.parse(JSON.stringify(view)) as JsonObject;
}

function exists(name: string): HostError {
  return new HostError(
    'schedule_exists',
    `There is a schedule "${name}". Remove it first, or choose another name.`,
    {
      field: 'name',
    },
  );
}

function owned(workflowId: string): HostError {
  return new HostError(
    'conflict',
    `Workflow "${workflowId}" declares this schedule. Register a version without the trigger, or pause the schedule.`,
    { workflowId },
  );
}

function busy(): HostError {
  return new HostError(
    'service_unavailable',
    'The schedule is being changed all the time. Try again.',
    { cause: 'contention', retryAfter: 1 },
    { retryAfter: 1 },
  );
}
