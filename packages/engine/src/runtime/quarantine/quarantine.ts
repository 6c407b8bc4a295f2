import { HostError } from '@weft/protocol';
import { isTerminalStatus } from '../../model/run-state.ts';
import type { Caller } from '../../host/host.ts';
import type { Claimed, RunLog, RunRow, RunUnit, Suspicion, SuspicionUnit } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import { type Clock, pause, yieldTurn } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Log } from '../../ports/log.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * A run that harms the host is found out and set aside, so that it can harm only itself.
 *
 *     ordinary ──lost two holders in a row without getting further, or a write that only it is refused──► suspect
 *     suspect  ──gets further──► ordinary          suspect ──third strike──► quarantined ──released──► ordinary
 *
 * W-22. Every decision of a suspect is noted in the store before it is tried, and the note is removed once the decision is
 *       durable. A note that the next holder finds is a strike: the process that tried did not live to remove it.
 * W-23. Suspects of one process are tried one after the other, and ordinary runs decide nothing meanwhile, so that a note is
 *       about the run that caused it.
 * W-24. A run that was not being tried gets no strike, however often its holder dies. A decision that went well takes back
 *       the strikes that it was given before: a run that waits for years is not charged with every chance of those years.
 * W-25. A quarantined run is unchanged: same status, same log. No process works on it; a cancel ends it, a release gives it
 *       another chance. Damage to its log quarantines it at once.
 */
export interface Quarantine {
  /** How a claimed run may be taken up. */
  admit(row: RunRow, epoch: number): Promise<Admission>;
  /** The store takes the writes of others, but not of this run. True when it is set aside now. */
  strike(runId: string, reason: string): Promise<boolean>;
  /** At once, whatever came before. */
  setAside(runId: string, reason: string): Promise<void>;
  /** Notes that even a quarantined run is being worked on, to cancel it. */
  noteCancel(row: RunRow, epoch: number): Promise<void>;
  /** False when the caller may not see the run; throws `conflict` when it is not quarantined. */
  release(caller: Caller, runId: string): Promise<boolean>;
  /** While a suspect is tried: resolves when ordinary runs may decide again. */
  trialUnderWay(): Promise<void> | undefined;
}

export type Admission = 'ordinary' | 'aside' | Trial;

/** The decisions of one suspect. */
export interface Trial {
  /** Resolves when this decision is noted and may be made. The first is noted already, as a part of taking the run up. */
  begin(decision: string): Promise<void>;
  /** What the write that makes the decision durable says of the run: the note is taken back with it. */
  outcome(nextSeq: number): NonNullable<RunUnit['heldAgainst']>;
  /** The decision is over; `isTakenBack` when it was written, and the note with it. True when the run is no suspect any more. */
  end(nextSeq: number, isTakenBack: boolean): Promise<boolean>;
  /** No one here works on the run any more. */
  close(isTakenBack: boolean): void;
}

export interface QuarantineDependencies {
  readonly store: RunLog;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
}

/** Two deaths may be chance; and the runs of a process that was killed twice are many. */
const SUSPICIOUS_LOSSES = 2;
export const MOST_STRIKES = 3;
/** Taking up a suspect is a long read at worst; others do not wait longer for it than this. */
const LONGEST_WAIT_MS = 250;
const TAKING_UP = 'taking up';
const WRITING = 'writing';
const CANCELLING = 'cancelling';
const LOST_HOLDERS = 'Processes ended, or stood still, while they held this run, and it got no further.';
const ENDED_PROCESS = `A process ended or stood still ${MOST_STRIKES} times while it decided what this run does next.`;

export function createQuarantine(dependencies: QuarantineDependencies): Quarantine {
  const { store, committer, clock, random, log } = dependencies;
  const line = createLine();
  /** Runs whose note this very process could not remove: it lives, so that what it finds of its own is no strike. */
  const leftBehind = new Set<string>();

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

  /** A suspect's next decision, noted. `leave` lets the next suspect in. */
  async function note(
    { runId, epoch }: Claimed,
    suspicion: Suspicion,
    decision: string,
  ): Promise<() => void> {
    const leave = await line.enter();
    try {
      await write({ runId, whileHeld: { runId, epoch }, suspicion: { ...suspicion, tried: decision } });
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  function trialOf(claim: Claimed, taken: Suspicion, first: () => void): Trial {
    const { runId, epoch } = claim;
    let suspicion = taken;
    let decision = TAKING_UP;
    let leave: (() => void) | undefined = first;
    let isClosed = false;

    /** Taken back by a write of its own, where there was none to do it with. */
    async function over(nextSeq: number, isTakenBack: boolean): Promise<void> {
      const noted = leave;
      if (noted === undefined) return;
      leave = undefined;
      const after = heldAfter(suspicion, decision, nextSeq);
      suspicion = after.suspicion ?? suspicion;
      try {
        if (!isTakenBack) await write({ runId, whileHeld: { runId, epoch }, ...after });
      } catch (error) {
        leftBehind.add(runId);
        throw error;
      } finally {
        noted();
      }
    }

    function giveUp(isTakenBack: boolean): void {
      over(suspicion.seq, isTakenBack).catch(() =>
        log('warn', { runId }, 'the note on a suspect could not be taken back'),
      );
    }

    return {
      async begin(next) {
        if (leave !== undefined) return;
        decision = next;
        leave = await note(claim, suspicion, decision);
        if (isClosed) giveUp(false);
      },
      outcome: (nextSeq) => heldAfter(suspicion, decision, nextSeq),
      async end(nextSeq, isTakenBack) {
        await over(nextSeq, isTakenBack);
        return nextSeq > suspicion.seq;
      },
      close(isTakenBack) {
        isClosed = true;
        giveUp(isTakenBack);
      },
    };
  }

  return {
    async admit(row, epoch) {
      const { runId } = row.record;
      const { lostHolders = 0, nextSeq } = row;
      if (row.suspicion?.quarantinedAt !== undefined) return 'aside';
      // What was held against a run that has got further since counts no more.
      const known = row.suspicion !== undefined && nextSeq > row.suspicion.seq ? undefined : row.suspicion;
      if (known === undefined && lostHolders < SUSPICIOUS_LOSSES) return 'ordinary';
      const { tried, ...kept } = known ?? newSuspicion(row, LOST_HOLDERS);
      const isStrike = tried !== undefined && !leftBehind.delete(runId);
      const suspicion = isStrike ? struck(kept, tried) : kept;
      const strikes = strikesOf(suspicion);
      if (strikes >= MOST_STRIKES) {
        await quarantine(row, { ...suspicion, reason: ENDED_PROCESS });
        return 'aside';
      }
      log('warn', { runId, strikes, lostHolders }, 'a suspect run is tried alone');
      const claim = { runId, epoch };
      return trialOf(claim, suspicion, await note(claim, suspicion, TAKING_UP));
    },

    async strike(runId, reason) {
      const row = await store.readRun(runId, undefined);
      if (row === undefined || isTerminalStatus(row.head.status)) return true;
      const { tried: _tried, ...known } = row.suspicion ?? newSuspicion(row, reason);
      const suspicion = { ...struck(known, WRITING), reason };
      if (strikesOf(suspicion) < MOST_STRIKES) {
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

    async noteCancel(row, epoch) {
      const { suspicion } = row;
      if (suspicion === undefined) return;
      const { runId } = row.record;
      await write({ runId, whileHeld: { runId, epoch }, suspicion: { ...suspicion, tried: CANCELLING } });
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

    trialUnderWay: line.occupied,
  };
}

/** What is left after this decision went well. A run that got further than where it was is cleared. */
function heldAfter(
  { struckWhile = [], ...suspicion }: Suspicion,
  decision: string,
  nextSeq: number,
): { readonly suspicion?: Suspicion } {
  if (nextSeq > suspicion.seq) return {};
  const others = struckWhile.filter((each) => each !== decision);
  return { suspicion: { ...suspicion, ...(others.length > 0 && { struckWhile: others }) } };
}

function struck(suspicion: Suspicion, decision: string): Suspicion {
  return { ...suspicion, struckWhile: [...(suspicion.struckWhile ?? []), decision] };
}

function strikesOf({ struckWhile = [] }: Suspicion): number {
  return struckWhile.length;
}

interface Line {
  /** Resolves, one after the other, with the way to let the next one in. */
  enter(): Promise<() => void>;
  /** While someone is in: resolves when that is over, or has lasted long. */
  occupied(): Promise<void> | undefined;
}

function createLine(): Line {
  let last: Promise<void> = Promise.resolve();
  let inside: Promise<void> | undefined;

  return {
    async enter() {
      const before = last;
      let leave: () => void = () => undefined;
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      last = left;
      await before;
      // Those who waited for the one before have their turn in between.
      await yieldTurn();
      const present = Promise.race([left, pause(LONGEST_WAIT_MS)]);
      inside = present;
      return () => {
        if (inside === present) inside = undefined;
        leave();
      };
    },
    occupied: () => inside,
  };
}
