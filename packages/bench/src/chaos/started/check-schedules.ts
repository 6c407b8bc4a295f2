import { CLOCKS_MS } from '../checking/check-retention.ts';
import type { Check, ReadRun } from '../checking/rules.ts';
import type { Overlap, SeenFiring, SeenHold, SeenSchedule } from './started-history.ts';

/** Schedules: their due times follow from what was asked for, and each is accounted for. */

/** Two requests that arrive at the same time are noted one after the other. */
const NOTED_LATE_MS = 250;
/** A run's end is written some time after the process has looked at its clock. */
const WRITTEN_LATE_MS = 1_000;

/** Why a policy may leave out a due time. A queue of all is full at a hundred, which a slow machine reaches. */
const REASONS: Readonly<Record<Overlap, readonly string[]>> = {
  skip: ['overlap'],
  'queue-one': ['queue_full'],
  'queue-all': ['queue_full'],
  'cancel-other': ['superseded'],
  allow: [],
};
const OUTSIDE_WINDOW = 'outside_catch_up_window';
/** What a backfill says of a due time that has its run. */
const ALREADY_STARTED = 'already_started';

function dueTimesOf({ start, end, everyMs }: SeenSchedule): number[] {
  return Array.from(
    { length: Math.floor((end - start) / everyMs) + 1 },
    (_, index) => start + index * everyMs,
  );
}

/** Runs that a schedule started when they were due, by due time. */
function runsByDueTime(check: Check, { name }: SeenSchedule): Map<number, ReadRun[]> {
  const found = new Map<number, ReadRun[]>();
  for (const run of check.runs.values()) {
    const { source } = run;
    if (source?.kind !== 'schedule' || source.id !== name || source.dueAt === undefined) continue;
    const dueAt = Date.parse(source.dueAt);
    found.set(dueAt, [...(found.get(dueAt) ?? []), run]);
  }
  return found;
}

/** By how much two clocks of the hosts may differ. */
function clocksOf({ history }: Check): number {
  return history.store === 'sqlite' ? 0 : CLOCKS_MS;
}

/** S1. */
export function dueTimesStartOnce(check: Check): void {
  const { history, fact, report } = check;
  for (const schedule of history.started.schedules) {
    const due = new Set(dueTimesOf(schedule));
    for (const [dueAt, runs] of runsByDueTime(check, schedule)) {
      fact('S1');
      const time = new Date(dueAt).toISOString();
      const ids = runs.map(({ runId }) => runId).join(', ');
      if (runs.length > 1) report('S1', `${schedule.name} started ${runs.length} runs for ${time}: ${ids}`);
      if (!due.has(dueAt)) report('S1', `${schedule.name} started ${ids} for ${time}, which is not due`);
      for (const { runId, events } of runs) {
        const startedAt = Date.parse(events[0]?.timestamp ?? time);
        if (startedAt < dueAt - clocksOf(check))
          report('S1', `${schedule.name} started ${dueAt - startedAt} ms before ${time}`, runId);
      }
    }
  }
}

/** S2. */
export function dueTimesAccountedFor(check: Check): void {
  for (const schedule of check.history.started.schedules) {
    const runs = runsByDueTime(check, schedule);
    const skips = schedule.firings.filter(
      ({ outcome, reason }) => outcome === 'skipped' && reason !== ALREADY_STARTED,
    );
    const unseen: number[] = [];
    for (const dueAt of dueTimesOf(schedule)) {
      check.fact('S2');
      const skip = skips.find((firing) => covers(firing, dueAt));
      if (skip === undefined && !runs.has(dueAt)) unseen.push(dueAt);
      const problem = skip && problemOf(check, schedule, skip, { dueAt, runs });
      if (problem !== undefined) report(check, schedule, dueAt, problem);
    }
    if (entriesFor(schedule, unseen) > uncountedSkips(schedule, skips.length))
      for (const dueAt of unseen) report(check, schedule, dueAt, 'started nothing, and there is no reason');
  }
}

/** What passed between two looks is in the count, where the schedule may skip at all. */
function uncountedSkips(schedule: SeenSchedule, seen: number): number {
  const maySkip = REASONS[schedule.overlap].length > 0 || mayMissWindow(schedule);
  return maySkip ? schedule.last.skipped - seen : 0;
}

/** What lies outside the catch-up window is one entry, however many due times follow each other; all others are one each. */
function entriesFor(schedule: SeenSchedule, unseen: readonly number[]): number {
  if (!mayMissWindow(schedule)) return unseen.length;
  const known = new Set(unseen);
  return unseen.filter((dueAt) => !known.has(dueAt - schedule.everyMs)).length;
}

function mayMissWindow({ catchUpMs, start, end }: SeenSchedule): boolean {
  return catchUpMs < end - start;
}

function report(check: Check, { name }: SeenSchedule, dueAt: number, problem: string): void {
  check.report('S2', `${name}: ${new Date(dueAt).toISOString()} ${problem}`);
}

function covers({ dueAt, until }: SeenFiring, time: number): boolean {
  return until === undefined ? dueAt === time : dueAt <= time && time < until;
}

/** What is wrong with the reason for which a due time was skipped. */
function problemOf(
  check: Check,
  { overlap, catchUpMs }: SeenSchedule,
  { at, reason = '' }: SeenFiring,
  { dueAt, runs }: { readonly dueAt: number; readonly runs: ReadonlyMap<number, readonly ReadRun[]> },
): string | undefined {
  if (runs.has(dueAt)) return `was started, and skipped for ${reason}`;
  if (reason === OUTSIDE_WINDOW)
    return dueAt < at - catchUpMs ? undefined : `was skipped within its window, ${at - dueAt} ms late`;
  if (!REASONS[overlap].includes(reason)) return `was skipped for ${reason}, which ${overlap} does not say`;
  const slackMs = clocksOf(check) + WRITTEN_LATE_MS;
  const isHeldUp = [...runs]
    .filter(([time]) => time < dueAt)
    .some(([, [run]]) => run?.endedAt === undefined || Date.parse(run.endedAt) + slackMs >= at);
  return isHeldUp ? undefined : `was skipped for ${reason} while no run was open`;
}

/** S3. */
export function overlapsOnlyWhereAllowed({ history, fact, report }: Check): void {
  for (const { name, overlap } of history.started.schedules) {
    if (overlap === 'allow') continue;
    const held = spansOf(history.started.holds.filter(({ schedule }) => schedule === name));
    for (const [index, span] of held.entries()) {
      fact('S3');
      const next = held[index + 1];
      if (next !== undefined && span.to > next.from + NOTED_LATE_MS)
        report('S3', `${name}: a run began ${span.to - next.from} ms before the one before it had ended`);
    }
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** From the first call of a run to its last, in the order in which they began. */
function spansOf(holds: readonly SeenHold[]): Span[] {
  const spans = new Map<string, Span>();
  for (const { token, at } of holds) {
    const { from, to } = spans.get(token) ?? { from: at, to: at };
    spans.set(token, { from: Math.min(from, at), to: Math.max(to, at) });
  }
  return [...spans.values()].sort((a, b) => a.from - b.from);
}

/** S4. */
export function schedulesEnd({ history, runs, fact, report }: Check): void {
  for (const { name, last } of history.started.schedules) {
    fact('S4');
    const { state, openRuns, queued, started, deadLettered } = last;
    if (state !== 'ended' || openRuns > 0 || queued > 0)
      report('S4', `${name} is ${state}, with ${openRuns} open runs and ${queued} due times that wait`);
    if (deadLettered > 0) report('S4', `${name} has ${deadLettered} dead letters`);
    const made = [...runs.values()].filter(({ source }) => isOf(source, name)).length;
    if (made !== started) report('S4', `${name} says that it started ${started} runs, and there are ${made}`);
  }
}

function isOf(source: ReadRun['source'], name: string): boolean {
  return source?.kind === 'schedule' && source.id === name;
}

/** S5. */
export function startedByHand({ history, runs, fact, report }: Check): void {
  const acknowledged = new Set<string>();
  // A start whose answers were all lost may have made a run.
  let untold = 0;
  for (const { schedule, key, runIds } of history.started.manual) {
    fact('S5');
    if (runIds.length === 0) untold += 1;
    if (new Set(runIds).size > 1) report('S5', `${schedule}: ${key} started ${runIds.join(', ')}`);
    for (const runId of runIds) {
      acknowledged.add(runId);
      if (!isOf(runs.get(runId)?.source, schedule))
        report('S5', `${key} was acknowledged, and ${schedule} has no such run`, runId);
    }
  }
  const unknown = [...runs.values()].filter(
    ({ runId, source }) =>
      source?.kind === 'schedule' && source.dueAt === undefined && !acknowledged.has(runId),
  );
  if (unknown.length <= untold) return;
  for (const { runId } of unknown)
    report('S5', 'a schedule was started by hand, and no client got an answer', runId);
}
