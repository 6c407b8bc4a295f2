import { isHostError } from '@weft/protocol';
import { decideFiring, type EndOf } from '../../core/schedules/decide-firing.ts';
import type { Zones } from '../../core/schedules/due-times.ts';
import { paused, withStarted } from '../../core/schedules/lifecycle.ts';
import { type Firing, type Schedule, withFiring } from '../../core/schedules/schedule.ts';
import { derivedUuid, sha256Hex } from '../../crypto/hash.ts';
import type { Caller, DeadLetter, NewRun } from '../../host/host.ts';
import { isTerminalStatus, type RunSource } from '../../model/run-state.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentWrite, DueDocument, RunLog } from '../../ports/store.ts';
import type { Committer, CommitResult } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { PreparedRun, RunCreator } from '../runs/create-run.ts';
import type { DeadLetters } from '../triggers/dead-letters.ts';
import { readSchedule, type ReadSchedule, scheduleWrite, timesOf } from './schedule-records.ts';

/**
 * Carries out what a schedule decides. The run, or the reason for none, commits with the schedule's step to its next due time:
 *
 * D-7. One write does both, and names the version of the record that it was decided from. A process that is slower, frozen or cut off
 *      writes nothing, so that a due time starts one run, whatever happens to the processes.
 * D-8. The id of a run is made from its schedule and due time. A second one for the same due time is refused by the store, also
 *      when it is asked for by a backfill.
 */
export type Fire = (row: DueDocument, now: number) => Promise<void>;

export interface FireDependencies {
  readonly store: Pick<RunLog, 'readRun'>;
  readonly committer: Committer;
  readonly creator: Pick<RunCreator, 'prepare'>;
  readonly deadLetters: DeadLetters;
  readonly zones: Zones;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Puts a cancel into the inbox of a run; the same one again changes nothing. */
  readonly cancel: (tenant: string, runId: string, commandId: string) => Promise<void>;
  /** Called for each due time that was dealt with. */
  readonly onFired: (outcome: Firing['outcome'], lateMs: number | undefined) => void;
}

/** Due times that are dealt with before other schedules have their turn. */
const MOST_STEPS = 25;

export function createFire(dependencies: FireDependencies): Fire {
  const { store, committer, creator, deadLetters, clock, random } = dependencies;

  async function endsOf({ open }: Schedule): Promise<EndOf> {
    const ends = new Map<string, 'failed' | 'ended' | undefined>();
    for (const { runId } of open) {
      const row = await store.readRun(runId, undefined);
      ends.set(runId, row === undefined ? 'ended' : endOf(row.head.status));
    }
    return (runId) => ends.get(runId);
  }

  /** Undefined when someone else was faster, or the store did not take it. */
  async function write(
    tenant: string,
    { schedule, version }: ReadSchedule,
    dueAt: number | undefined,
    along: readonly DocumentWrite[] = [],
  ): Promise<ReadSchedule | undefined> {
    const batchId = randomId(random);
    const own = scheduleWrite(tenant, schedule, { at: clock.now(), dueAt, replaces: version });
    const result = await committer.submit({ kind: 'document', batchId, ...own, documents: along });
    return result.state === 'committed' ? { schedule, version: batchId } : undefined;
  }

  async function start(
    tenant: string,
    { schedule, version }: ReadSchedule,
    { dueAt, isBackfill }: { readonly dueAt: number; readonly isBackfill?: true },
    now: number,
  ): Promise<ReadSchedule | undefined> {
    let run: PreparedRun;
    try {
      const given = { runId: dueRunId(tenant, schedule, dueAt), source: sourceOf(tenant, schedule, dueAt) };
      run = await creator.prepare(callerFor(tenant, schedule), newRunOf(schedule), given);
    } catch (error) {
      if (!isHostError(error) || error.code === 'service_unavailable') throw error;
      return await giveUp(tenant, { schedule, version }, dueAt, {
        reason: error.code,
        message: error.message,
        now,
      });
    }
    const started = withStarted(schedule, dueAt, { runId: run.runId, end: endOf(run.status) }, { at: now });
    const own = scheduleWrite(tenant, started, { at: now, dueAt: now, replaces: version });
    const result = await run.commit({ documents: [own] });
    if (result.state === 'committed') {
      dependencies.onFired('started', isBackfill === true ? undefined : now - dueAt);
      return { schedule: started, version: run.batchId };
    }
    return await notStarted(tenant, { schedule, version }, dueAt, now, result);
  }

  async function notStarted(
    tenant: string,
    read: ReadSchedule,
    dueAt: number,
    now: number,
    result: Exclude<CommitResult, { state: 'committed' }>,
  ): Promise<ReadSchedule | undefined> {
    if (result.state === 'refused' && result.reason === 'run_exists') {
      const firing: Firing = { dueAt, at: now, outcome: 'skipped', reason: 'already_started' };
      return await write(tenant, { ...read, schedule: withFiring(read.schedule, firing) }, now);
    }
    if (result.state !== 'failed') return undefined;
    const message = 'The store cannot take this run, although it takes others; the host log has the cause.';
    return await giveUp(tenant, read, dueAt, { reason: 'store_failed', message, now });
  }

  /** The due time becomes a dead letter; where there is no room for one, the schedule pauses before it. */
  async function giveUp(
    tenant: string,
    { schedule, version }: ReadSchedule,
    dueAt: number,
    { reason, message, now }: { readonly reason: string; readonly message: string; readonly now: number },
  ): Promise<ReadSchedule | undefined> {
    const firing: Firing = { dueAt, at: now, outcome: 'dead-lettered', reason };
    const fired = withFiring(schedule, firing);
    const source = `schedule:${schedule.name}`;
    if (await deadLetters.isFull(tenant, source)) {
      return await write(tenant, { schedule: paused(fired, now, 'dead_letters_full'), version }, undefined);
    }
    const letter: DeadLetter = { id: String(dueAt), source, reason, message, at: now, attempts: 1, dueAt };
    const along = await deadLetters.write(tenant, letter);
    dependencies.onFired('dead-lettered', now - dueAt);
    return await write(tenant, { schedule: fired, version }, now, along);
  }

  return async (row, now) => {
    const { tenant } = row;
    let current: ReadSchedule | undefined = readSchedule(row);
    const times = timesOf(current.schedule, dependencies.zones);
    const endOfRun = await endsOf(current.schedule);
    for (let step = 0; step < MOST_STEPS && current !== undefined; step += 1) {
      const read: ReadSchedule = current;
      const decision = decideFiring(read.schedule, times, now, endOfRun);
      const { version } = read;
      if (decision.kind === 'wait') {
        await write(tenant, { schedule: decision.schedule, version }, decision.wakeAt);
        return;
      }
      if (decision.kind === 'start') {
        current = await start(tenant, { schedule: decision.schedule, version }, decision, now);
        continue;
      }
      const latest = decision.schedule.firings.at(-1);
      for (const runId of decision.cancel) {
        await dependencies.cancel(tenant, runId, `${decision.schedule.uid}.${latest?.dueAt ?? 0}`);
      }
      current = await write(tenant, { schedule: decision.schedule, version }, now);
      if (current !== undefined && latest !== undefined) {
        dependencies.onFired(latest.outcome, now - latest.dueAt);
      }
    }
  };
}

export function endOf(status: string): 'failed' | 'ended' | undefined {
  if (!isTerminalStatus(status)) return undefined;
  return status === 'failed' ? 'failed' : 'ended';
}

/** D-8. */
export function dueRunId(tenant: string, { uid }: Pick<Schedule, 'uid'>, dueAt: number): string {
  return derivedUuid(`weft-schedule\n${tenant}\n${uid}\n${dueAt}`, dueAt);
}

export function sourceOf(
  tenant: string,
  { uid, name }: Pick<Schedule, 'uid' | 'name'>,
  dueAt: number,
): RunSource {
  const dedupKey = sha256Hex(`weft-due\n${tenant}\n${uid}\n${dueAt}`).slice(0, 32);
  return { kind: 'schedule', id: name, deliveryId: `due_${dedupKey}`, dedupKey, attempt: 1, dueAt };
}

/** A schedule acts for its creator. */
export function callerFor(tenant: string, { createdBy, name }: Pick<Schedule, 'createdBy' | 'name'>): Caller {
  return {
    tenant,
    principal: createdBy,
    keyId: `schedule:${name}`,
    kind: 'service',
    test: false,
    scopes: new Set(),
  };
}

export function newRunOf({ workflowId, inputs }: Pick<Schedule, 'workflowId' | 'inputs'>): NewRun {
  return { workflowId, inputs, configurable: {}, tags: [], metadata: {}, exclusiveScope: false };
}
