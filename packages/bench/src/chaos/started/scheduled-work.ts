import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import type { HttpClient } from '../workload/http.ts';
import type { Receipts } from '../workload/receipts.ts';
import type { Random } from '../random.ts';
import type { ManualStart, ScheduleRequest, SeenFiring, SeenSchedule } from './started-history.ts';
import { heldWorkflowId } from './started-workflows.ts';

/** Schedules of every overlap policy, who watches them, and an operator who starts and backfills them. */

const SCHEDULES = '/v1/host/weft/schedules';
const HOUR_MS = 3_600_000;
/** So that a schedule is there before it is first due, by any clock. */
const FIRST_DUE_MS = 4_000;
const LOOK_EVERY_MS = 700;
const OPERATE_EVERY_MS = [500, 2_500] as const;
const REPEATS = 3;
/** Longer than the lease that a killed process left behind, and what it kept waiting. */
const END_WITHIN_MS = 180_000;
/** The one that is backfilled: every due time of it has a run already. */
const BACKFILLED = 'allow';

type Kind = Omit<ScheduleRequest, 'start' | 'end'>;

const usual = { catchUpMs: HOUR_MS, jitterMs: 0 };

const KINDS: readonly Kind[] = [
  { ...usual, name: 'skip', overlap: 'skip', everyMs: 1_000, holdMs: 1_500 },
  { ...usual, name: 'queue-one', overlap: 'queue-one', everyMs: 1_000, holdMs: 1_300 },
  { ...usual, name: 'queue-all', overlap: 'queue-all', everyMs: 3_000, holdMs: 200 },
  { ...usual, name: 'cancel-other', overlap: 'cancel-other', everyMs: 2_000, holdMs: 2_500 },
  { ...usual, name: BACKFILLED, overlap: 'allow', everyMs: 1_000, holdMs: 700 },
  { ...usual, name: 'jitter', overlap: 'skip', everyMs: 2_000, holdMs: 100, jitterMs: 1_500 },
  { ...usual, name: 'short-catch-up', overlap: 'allow', everyMs: 1_000, holdMs: 0, catchUpMs: 1_500 },
];

export function planSchedules(now: number, durationMs: number): ScheduleRequest[] {
  const start = Math.ceil(now / 1_000) * 1_000 + FIRST_DUE_MS;
  return KINDS.map((kind) => ({ ...kind, start, end: start + durationMs }));
}

export async function createSchedule(http: HttpClient, request: ScheduleRequest): Promise<void> {
  const { name, overlap, everyMs, catchUpMs, jitterMs, start, end } = request;
  const body = {
    ...{ name, overlap, everyMs, catchUpMs, jitterMs, workflowId: heldWorkflowId(name) },
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
  };
  const answer = await http.askUntilAnswered('POST', SCHEDULES, { body, key: `schedule-${name}` });
  if (answer?.status !== 201) throw new Error(`schedule ${name} was answered ${answer?.text}`);
}

export interface Watched {
  readonly request: ScheduleRequest;
  readonly firings: Map<string, SeenFiring>;
  last: SeenSchedule['last'] | undefined;
}

export function watchedOf(request: ScheduleRequest): Watched {
  return { request, firings: new Map(), last: undefined };
}

/** Notes firings before the host forgets them, until it is over. */
export async function watchSchedules(
  http: HttpClient,
  watched: readonly Watched[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await Promise.all(watched.map((each) => look(http, each)));
    await pause(LOOK_EVERY_MS);
  }
}

/** Resolves when no schedule has anything left to do, or after a while. */
export async function untilEnded(http: HttpClient, watched: readonly Watched[]): Promise<boolean> {
  const until = performance.now() + END_WITHIN_MS;
  while (performance.now() < until) {
    await Promise.all(watched.map((each) => look(http, each)));
    if (watched.every(({ last }) => last?.state === 'ended' && last.openRuns === 0)) return true;
    await pause(LOOK_EVERY_MS);
  }
  return false;
}

async function look(http: HttpClient, watched: Watched): Promise<void> {
  const answer = await http.ask('GET', `${SCHEDULES}/${watched.request.name}`);
  if (answer?.status !== 200) return;
  const { state, openRuns, queued, counts, firings } = answer.json as unknown as Shown;
  for (const { dueAt, until, at, outcome, reason } of firings)
    watched.firings.set(`${dueAt} ${outcome} ${reason ?? ''}`, {
      ...{ dueAt: Date.parse(dueAt), at: Date.parse(at), outcome },
      ...(until !== undefined && { until: Date.parse(until) }),
      ...(reason !== undefined && { reason }),
    });
  watched.last = {
    ...{ state, openRuns: openRuns.length, queued: queued.length },
    ...{ started: counts.started, skipped: counts.skipped },
    deadLettered: counts['dead-lettered'],
  };
}

interface Shown {
  readonly state: string;
  readonly openRuns: readonly string[];
  readonly queued: readonly string[];
  readonly counts: { readonly started: number; readonly skipped: number; readonly 'dead-lettered': number };
  readonly firings: readonly {
    readonly dueAt: string;
    readonly until?: string;
    readonly at: string;
    readonly outcome: string;
    readonly reason?: string;
  }[];
}

export interface OperateOptions {
  readonly http: HttpClient;
  readonly random: Random;
  readonly receipts: Receipts;
  readonly backfilled: ScheduleRequest;
  readonly manual: ManualStart[];
  readonly signal: AbortSignal;
}

/** Starts a schedule by hand, the same request to several processes at once, and asks for due times that have run already. */
export async function operateSchedules(options: OperateOptions): Promise<void> {
  const { http, random, backfilled, manual, signal } = options;
  for (let count = 0; !signal.aborted; count += 1) {
    const isBackfill = random.chance(0.3);
    const waitMs = random.int(...OPERATE_EVERY_MS);
    if (isBackfill) await backfill(options);
    else {
      const key = `by-hand-${count}`;
      const path = `${SCHEDULES}/${backfilled.name}:trigger`;
      const answers = await Promise.all(
        Array.from({ length: REPEATS }, () => http.askUntilAnswered('POST', path, { key })),
      );
      const runIds = answers.flatMap((answer) => {
        if (answer?.status === 201) return [String(answer.json['runId'])];
        expect(options.receipts, path, answer, [201]);
        return [];
      });
      manual.push({ schedule: backfilled.name, key, runIds });
    }
    await pause(waitMs);
  }
}

/** 409: one is running; 400: nothing was due yet. */
async function backfill({ http, random, backfilled, receipts }: OperateOptions): Promise<void> {
  const to = Date.now() - random.int(5_000, 9_000);
  const from = to - random.int(1_000, 20_000);
  const path = `${SCHEDULES}/${backfilled.name}:backfill`;
  const body: JsonObject = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  expect(receipts, path, await http.ask('POST', path, { body }), [202, 400, 409]);
}

/** Everything once more that the schedule has started: no due time may start a second run. */
export async function backfillAll(http: HttpClient, { name, start, end }: ScheduleRequest): Promise<void> {
  const body: JsonObject = { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
  const answer = await http.askUntilAnswered('POST', `${SCHEDULES}/${name}:backfill`, { body });
  if (answer?.status !== 202) throw new Error(`the last backfill was answered ${answer?.text}`);
}

function expect(
  receipts: Receipts,
  request: string,
  answer: { readonly status: number; readonly text: string } | undefined,
  fitting: readonly number[],
): void {
  if (answer !== undefined && !fitting.includes(answer.status))
    receipts.unexpectedResponses.push({ request, status: answer.status, body: answer.text });
}
