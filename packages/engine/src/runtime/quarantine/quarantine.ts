import { HostError } from '@weft/protocol';
import { isTerminalStatus } from '../../model/run-state.ts';
import type { Caller } from '../../host/host.ts';
import type { Input } from '../../core/decide/step.ts';
import type { RunLog, RunRow, Suspicion, SuspicionUnit } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Log } from '../../ports/log.ts';
import type { Trials } from '../../ports/trials.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * A run that harms the host is found out and set aside, so that it can harm only itself.
 *
 *     ordinary ──lost two holders in a row without getting further──► suspect ──gets further──► ordinary
 *     suspect  ──three processes apart from the host ended over its next decision──► quarantined
 *     ordinary ──third write that only this run is refused, or damage to its log──► quarantined ──released──► ordinary
 *
 * W-22. What a suspect does next is decided in a process apart from the host before the host decides it (Trials). Three such
 *       processes that end over the same decision quarantine the run.
 * W-23. A process apart tries one run at a time, so that its end is about that run. No ordinary run waits for it.
 * W-24. How processes of the host end, and how often, is held against no run: it only makes suspects of those they held.
 * W-25. A quarantined run is unchanged: same status, same log. No process works on it; a cancel ends it, a release gives it
 *       another chance. Damage to its log quarantines it at once.
 */
export interface Quarantine {
  /** How a claimed run may be taken up. */
  admit(row: RunRow): Promise<Admission>;
  /** Whether a run can be loaded and given these inputs without ending the process that does it. */
  survives(runId: string, inputs: readonly Input[]): Promise<boolean>;
  /** The store takes the writes of others, but not of this run. True when it is set aside now. */
  strike(runId: string, reason: string): Promise<boolean>;
  /** At once, whatever came before. */
  setAside(runId: string, reason: string): Promise<void>;
  /** False when the caller may not see the run; throws `conflict` when it is not quarantined. */
  release(caller: Caller, runId: string): Promise<boolean>;
}

export type Admission = 'ordinary' | 'aside' | Trial;

/** The decisions of one suspect, from the moment it was loaded. */
export interface Trial {
  /** Asked before the host decides about this input. False when the run is set aside now. */
  survives(input: Input): Promise<boolean>;
  /** True when the run is no suspect any more. */
  isOver(nextSeq: number): boolean;
}

export interface QuarantineDependencies {
  readonly store: RunLog;
  readonly committer: Pick<Committer, 'submit'>;
  readonly trials?: Trials | undefined;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
}

/** Two deaths may be chance; and the runs of a process that was killed twice are many. */
const SUSPICIOUS_LOSSES = 2;
const MOST_STRIKES = 3;
/** A suspect that was given so much without coming to harm is none, although it got no further. */
const MOST_INPUTS = 64;
const ENDED_PROCESS = `A process ended or stood still ${MOST_STRIKES} times while it decided what this run does next.`;

export function createQuarantine(dependencies: QuarantineDependencies): Quarantine {
  const { store, committer, trials, clock, random, log } = dependencies;

  async function write(unit: Omit<SuspicionUnit, 'kind' | 'batchId'>): Promise<'written' | 'refused'> {
    const result = await committer.submit({ ...unit, kind: 'suspicion', batchId: randomId(random) });
    if (result.state === 'committed') return 'written';
    if (result.state === 'refused' && result.reason !== 'store_full') return 'refused';
    throw writeFailure(result);
  }

  async function quarantine(row: RunRow, suspicion: Suspicion): Promise<void> {
    const { runId, tenant } = row.record;
    const { reason } = suspicion;
    const entry = {
      at: clock.now(),
      tenant,
      actor: 'host',
      action: 'run.quarantine',
      target: runId,
      details: { reason },
    };
    if (
      (await write({ runId, suspicion: { ...suspicion, quarantinedAt: clock.now() }, audit: [entry] })) ===
      'refused'
    )
      return;
    log('error', { runId, reason }, 'run quarantined');
  }

  function newSuspicion(row: RunRow, reason: string): Suspicion {
    return { reason, since: clock.now(), seq: row.nextSeq };
  }

  async function survives(runId: string, inputs: readonly Input[]): Promise<boolean> {
    if (trials === undefined) return true;
    for (let deaths = 1; deaths <= MOST_STRIKES; deaths += 1) {
      if ((await trials.attempt({ runId, inputs, now: clock.now() })) === 'lived') return true;
      log('warn', { runId, deaths }, 'a process apart from the host ended over a suspect run');
    }
    return false;
  }

  function trialOf(row: RunRow): Trial {
    const taken: Input[] = [];
    return {
      async survives(input) {
        taken.push(input);
        if (await survives(row.record.runId, taken)) return true;
        await quarantine(row, newSuspicion(row, ENDED_PROCESS));
        return false;
      },
      isOver: (nextSeq) => nextSeq > row.nextSeq || taken.length >= MOST_INPUTS,
    };
  }

  return {
    async admit(row) {
      const { runId } = row.record;
      const { lostHolders = 0 } = row;
      if (row.suspicion?.quarantinedAt !== undefined) return 'aside';
      if (trials === undefined || lostHolders < SUSPICIOUS_LOSSES) return 'ordinary';
      log('info', { runId, lostHolders }, 'a run that lost its holders is tried apart from the host first');
      if (await survives(runId, [])) return trialOf(row);
      await quarantine(row, newSuspicion(row, ENDED_PROCESS));
      return 'aside';
    },
    survives,

    async strike(runId, reason) {
      const row = await store.readRun(runId, undefined);
      if (row === undefined || isTerminalStatus(row.head.status)) return true;
      const known = row.suspicion?.seq === row.nextSeq ? row.suspicion : newSuspicion(row, reason);
      const strikes = (known.strikes ?? 0) + 1;
      const suspicion = { ...known, reason, strikes };
      if (strikes < MOST_STRIKES) {
        await write({ runId, suspicion });
        return false;
      }
      await quarantine(row, suspicion);
      return true;
    },

    async setAside(runId, reason) {
      const row = await store.readRun(runId, undefined);
      if (row === undefined || isTerminalStatus(row.head.status)) return;
      if (row.suspicion?.quarantinedAt !== undefined || row.record.imported !== undefined) return;
      await quarantine(row, newSuspicion(row, reason));
    },

    async release(caller, runId) {
      const row = await store.readRun(runId, caller.tenant);
      if (row === undefined) return false;
      if (row.suspicion?.quarantinedAt === undefined || isTerminalStatus(row.head.status))
        throw new HostError('conflict', 'The run is not quarantined; there is nothing to release.', {
          status: row.head.status,
        });
      const entry = auditOf(caller, { at: clock.now(), action: 'run.release', target: runId });
      await write({ runId, audit: [entry] });
      return true;
    },
  };
}
