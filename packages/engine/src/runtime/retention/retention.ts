import { setImmediate as nextTurn } from 'node:timers/promises';
import { HostError } from '@weft/protocol';
import type { Caller, RetentionOperations } from '../../host/host.ts';
import type { ExpiredRun, PurgeUnit, Refusal, Store, Tombstone } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import type { CommitResult, Committer } from '../commits/committer.ts';
import type { FinishedRuns } from '../runs/finished-runs.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { RunStates } from '../runs/states.ts';
import { isKeptAsDead } from '../triggers/dead-runs.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { createBackup } from './backup.ts';
import { createRetentionSettings } from './retention-settings.ts';

/**
 * How long runs are kept, and how they go. A run that has ended is there, then only a tombstone of it is, then nothing:
 *
 *     ended ──(remove, or retention)──► tombstone (410) ──(its time has come)──► unknown (404)
 *
 * W-39. Only ended runs are deleted, and only while no unfinished run needs them; the store decides that with the write.
 * W-40. The sweep works in small waves and waits for each, so that other writes go between them.
 * W-41. What one tenant keeps or deletes, no other tenant learns.
 */
export interface RetentionService {
  readonly operations: RetentionOperations;
  /** Removes what is past its time, of every tenant; answers how many runs. */
  sweep(): Promise<number>;
  start(): void;
  stop(): void;
}

export interface RetentionDependencies {
  /** One that tells of removed runs. */
  readonly store: Pick<Store, 'readRun' | 'listExpired' | 'readDocument' | 'listDocuments' | 'openBackup'>;
  readonly committer: Committer;
  readonly finished: FinishedRuns;
  readonly states: Pick<RunStates, 'drop'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly log: Log;
}

const PAGE = 100;
/** One wave of removals: as many runs, or as many events of them, as may hold others up. */
const WAVE_RUNS = 20;
const WAVE_EVENTS = 5_000;
const SWEEP_EVERY_MS = 60 * 60 * 1_000;
/** Not at once: a host that has just started has more urgent things to do. */
const FIRST_SWEEP_MS = 30_000;
const BY_RETENTION = 'retention';

export function createRetention(dependencies: RetentionDependencies): RetentionService {
  const { store, committer, finished, states, clock, random, limits, log } = dependencies;
  let isStopped = false;
  let isSweeping = false;
  const timers: NodeJS.Timeout[] = [];
  const settings = createRetentionSettings(dependencies);

  /** `caller` undefined: because its time has come. */
  function purgeUnit(tenant: string, runId: string, caller?: Caller): PurgeUnit {
    const at = clock.now();
    const act = { at, action: 'run.remove', target: runId };
    return {
      kind: 'purge',
      batchId: randomId(random),
      tenant,
      runId,
      at,
      tombstoneUntil: at + limits.tombstoneKeptMs,
      audit: [caller === undefined ? { ...act, tenant, actor: BY_RETENTION } : auditOf(caller, act)],
    };
  }

  function drop(runId: string): void {
    finished.drop(runId);
    states.drop(runId);
  }

  async function purge(unit: PurgeUnit): Promise<CommitResult> {
    const result = await committer.submit(unit);
    if (result.state === 'committed') drop(unit.runId);
    return result;
  }

  async function purgeRun(caller: Caller, runId: string): Promise<boolean> {
    const result = await purge(purgeUnit(caller.tenant, runId, caller));
    return isDone(result, 'removed') || (await wasThere(caller, runId));
  }

  async function erase(caller: Caller, runId: string): Promise<boolean> {
    const at = clock.now();
    const result = await committer.submit({
      kind: 'erase',
      batchId: randomId(random),
      tenant: caller.tenant,
      runId,
      at,
      audit: [auditOf(caller, { at, action: 'run.erase', target: runId })],
    });
    if (result.state === 'committed') drop(runId);
    return isDone(result, 'erased') || (await wasThere(caller, runId));
  }

  /** Throws when the run was there once. */
  async function wasThere({ tenant }: Caller, runId: string): Promise<false> {
    await store.readRun(runId, tenant);
    return false;
  }

  async function sweepBefore(
    tenant: string | undefined,
    before: number,
    isMeant: (run: ExpiredRun) => boolean,
  ): Promise<number> {
    let removed = 0;
    let cursor: string | undefined;
    do {
      const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const listed = await store.listExpired(tenant, before, page);
      for (const wave of wavesOf(listed.rows.filter(isMeant))) {
        if (isStopped) return removed;
        removed += await removeWave(wave);
        await nextTurn();
      }
      cursor = listed.nextCursor;
    } while (cursor !== undefined && !isStopped);
    return removed;
  }

  /** A refusal is normal: someone needs the run, or was faster. It is looked at again in the next sweep. */
  async function removeWave(wave: readonly ExpiredRun[]): Promise<number> {
    const results = await Promise.all(
      wave.map(async ({ tenant, runId }) =>
        (await isKeptAsDead(store, tenant, runId)) ? KEPT : await purge(purgeUnit(tenant, runId)),
      ),
    );
    const failed = results.find(({ state }) => state === 'unknown' || state === 'lost');
    if (failed !== undefined && failed.state !== 'committed') throw writeFailure(failed);
    return results.filter(({ state }) => state === 'committed').length;
  }

  async function sweep(): Promise<number> {
    const own = await settings.ofTenants();
    const now = clock.now();
    let removed = 0;
    for (const [tenant, keepMs] of own) {
      if (keepMs !== null) removed += await sweepBefore(tenant, now - keepMs, () => true);
    }
    if (limits.retentionMs > 0) {
      removed += await sweepBefore(undefined, now - limits.retentionMs, ({ tenant }) => !own.has(tenant));
    }
    return removed;
  }

  function sweepAside(): void {
    if (isSweeping) return;
    isSweeping = true;
    sweep()
      .then((removed) => {
        if (removed > 0) log('info', { removed }, 'runs past their retention were removed');
      })
      .catch((error: unknown) => log('warn', errorFields(error), 'the retention sweep failed'))
      .finally(() => {
        isSweeping = false;
      });
  }

  return {
    operations: {
      purge: purgeRun,
      erase,
      ...settings.operations,
      backup: createBackup(dependencies),
    },
    sweep,
    start() {
      timers.push(setTimeout(sweepAside, FIRST_SWEEP_MS).unref());
      timers.push(setInterval(sweepAside, SWEEP_EVERY_MS).unref());
    },
    stop() {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Of a run that failed after its last retry: it stays as long as its dead letter. */
const KEPT: CommitResult = { state: 'refused', reason: 'run_pinned', byRunId: '' };

/** The same store, which tells a tenant that a run it asks for was removed. */
export function tellingRemoved(store: Store): Store {
  return decorateStore(store, {
    async readRun(runId, tenant) {
      const row = await store.readRun(runId, tenant);
      if (row !== undefined || tenant === undefined) return row;
      const tombstone = await store.readTombstone(runId, tenant);
      if (tombstone !== undefined) throw runExpired(runId, tombstone);
      return undefined;
    },
  });
}

function runExpired(runId: string, { purgedAt }: Tombstone): HostError {
  return new HostError('run_expired', 'The run was removed; only that it was there is still known.', {
    runId,
    removedAt: new Date(purgedAt).toISOString(),
  });
}

function isDone(result: CommitResult, what: 'removed' | 'erased'): boolean {
  if (result.state === 'committed') return true;
  if (result.state !== 'refused') throw writeFailure(result);
  if (result.reason === 'run_missing') return false;
  throw refusalToClient(result, what) ?? writeFailure(result);
}

function refusalToClient(refusal: Refusal, what: 'removed' | 'erased'): HostError | undefined {
  if (refusal.reason === 'run_open')
    return new HostError(
      'conflict',
      `The run is ${refusal.status}; only a run that has ended can be ${what}. Cancel it, or wait for its end.`,
      { status: refusal.status },
    );
  if (refusal.reason === 'run_pinned')
    return new HostError(
      'conflict',
      `An open run needs this one, so it cannot be ${what} yet. Cancel that one, or wait for its end.`,
      { neededBy: refusal.byRunId },
    );
  return undefined;
}

function* wavesOf(runs: readonly ExpiredRun[]): Generator<ExpiredRun[]> {
  let wave: ExpiredRun[] = [];
  let events = 0;
  for (const run of runs) {
    if (wave.length > 0 && (wave.length >= WAVE_RUNS || events + run.events > WAVE_EVENTS)) {
      yield wave;
      [wave, events] = [[], 0];
    }
    wave.push(run);
    events += run.events;
  }
  if (wave.length > 0) yield wave;
}
