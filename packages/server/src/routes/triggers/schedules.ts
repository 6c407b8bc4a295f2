import type { Firing, NewSchedule, ScheduleDetails, ScheduleView } from '@weft/engine';
import {
  BackfillScheduleSchema,
  CreateScheduleSchema,
  HostError,
  type Json,
  operationOf,
  route,
  toIso,
} from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { idempotencyOf, REPLAY_HEADER, sendReplay } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { pageOf } from '../page.ts';

const CREATE = operationOf(route('createSchedule'));
const TRIGGER = operationOf(route('triggerSchedule'));
const REMOVE = operationOf(route('removeSchedule'));
const parseSchedule = bodyParser(CreateScheduleSchema);
const parseBackfill = bodyParser(BackfillScheduleSchema);

const HOUR_MS = 60 * 60 * 1_000;

/** Schedules of the caller's tenant. */
export const scheduleRoutes: Routes = (serve, { host }) => {
  serve('createSchedule', async (request, reply) => {
    const body = request.body as Json | undefined;
    const { start, end, ...given } = parseSchedule(body);
    const wanted: NewSchedule = {
      ...given,
      inputs: given.inputs ?? {},
      overlap: given.overlap ?? 'skip',
      jitterMs: given.jitterMs ?? 0,
      catchUpMs: given.catchUpMs ?? HOUR_MS,
      pauseOnFailure: given.pauseOnFailure ?? false,
      ...(start !== undefined && { start: Date.parse(start) }),
      ...(end !== undefined && { end: Date.parse(end) }),
    };
    const claim = idempotencyOf(request, {
      operation: CREATE,
      target: [],
      body: body ?? null,
      render: (outcome: ScheduleView) => ({ status: 201, body: JSON.stringify(shown(outcome)) }),
    });
    const answer = await host.schedules.create(callerOf(request), wanted, claim);
    if (answer.replayed) return sendReplay(reply, answer);
    return sendJson(reply, 201, JSON.stringify(shown(answer.schedule)));
  });

  serve('listSchedules', async (request, reply) => {
    const { rows, nextCursor } = await host.schedules.list(callerOf(request), pageOf(request));
    return sendJson(reply, 200, JSON.stringify({ schedules: rows.map(shown), nextCursor }));
  });

  serve('getSchedule', async (request, reply) => {
    const found = await host.schedules.get(callerOf(request), pathParam(request, 'scheduleName'));
    return sendJson(reply, 200, JSON.stringify(shownDetails(present(found))));
  });

  serve('pauseSchedule', async (request, reply) => {
    const changed = await host.schedules.pause(callerOf(request), pathParam(request, 'scheduleName'));
    return sendJson(reply, 200, JSON.stringify(shown(present(changed))));
  });

  serve('resumeSchedule', async (request, reply) => {
    const changed = await host.schedules.resume(callerOf(request), pathParam(request, 'scheduleName'));
    return sendJson(reply, 200, JSON.stringify(shown(present(changed))));
  });

  serve('triggerSchedule', { isNewWork: true }, async (request, reply) => {
    const name = pathParam(request, 'scheduleName');
    const claim = idempotencyOf(request, {
      operation: TRIGGER,
      target: [name],
      body: null,
      render: (outcome: { readonly runId: string }) => ({ status: 201, body: JSON.stringify(outcome) }),
    });
    const answer = present(await host.schedules.trigger(callerOf(request), name, claim));
    if (answer.replayed) return sendReplay(reply, answer);
    return sendJson(reply, 201, JSON.stringify({ runId: answer.runId }));
  });

  serve('backfillSchedule', { isNewWork: true }, async (request, reply) => {
    const name = pathParam(request, 'scheduleName');
    const { from, to } = parseBackfill(request.body);
    const range = { from: Date.parse(from), to: Date.parse(to) };
    const filled = present(await host.schedules.backfill(callerOf(request), name, range));
    const answer = { dueTimes: filled.dueTimes, from: toIso(filled.from), to: toIso(filled.to) };
    return sendJson(reply, 202, JSON.stringify(answer));
  });

  serve('removeSchedule', async (request, reply) => {
    const caller = callerOf(request);
    const name = pathParam(request, 'scheduleName');
    const claim = idempotencyOf(request, {
      operation: REMOVE,
      target: [name],
      body: null,
      render: () => ({ status: 204, body: '' }),
    });
    const answer = await host.once(caller, claim, async () => {
      if (await host.schedules.remove(caller, name)) return null;
      throw missing();
    });
    if (answer.replayed) reply.header(REPLAY_HEADER, 'true');
    return reply.code(204).send();
  });
};

function present<Found>(found: Found | undefined): Found {
  if (found === undefined) throw missing();
  return found;
}

function missing(): HostError {
  return new HostError('not_found', 'No schedule of this name belongs to this tenant.');
}

/** Times as text, and the timing as the fields that it was given by. */
function shown(schedule: ScheduleView): object {
  const { timing, start, end, createdAt, paused, next, open, queue, ...rest } = schedule;
  return {
    ...rest,
    ...('cron' in timing ? timing : { everyMs: timing.everyMs }),
    ...(start !== undefined && { start: toIso(start) }),
    ...(end !== undefined && { end: toIso(end) }),
    createdAt: toIso(createdAt),
    ...(paused !== undefined && { paused: { ...paused, at: toIso(paused.at) } }),
    ...(next !== undefined && { nextDueAt: toIso(next) }),
    openRuns: open.map(({ runId }) => runId),
    queued: queue.map(toIso),
  };
}

function shownDetails({ firings, upcoming, ...schedule }: ScheduleDetails): object {
  return { ...shown(schedule), firings: firings.map(shownFiring), upcoming: upcoming.map(toIso) };
}

function shownFiring({ dueAt, until, at, ...firing }: Firing): object {
  return {
    dueAt: toIso(dueAt),
    ...(until !== undefined && { until: toIso(until) }),
    at: toIso(at),
    ...firing,
  };
}
