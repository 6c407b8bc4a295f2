import { openRun } from '../core/advance.ts';
import type { LiveRun } from '../core/live-run.ts';
import { isTerminalStatus } from '../core/run-state.ts';
import { DamagedRunError } from '../damaged-run-error.ts';
import type { Claimed, RunRow, RunUnit, Store } from '../store.ts';
import type { CancelAside } from './cancel-aside.ts';
import { createChurningMap } from './churning-map.ts';
import { pause, wait, yieldTurn } from './clock.ts';
import { giveBack } from './give-back.ts';
import type { Lease } from './lease.ts';
import { createLoads, type Loads } from './loads.ts';
import { errorFields } from './log.ts';
import { type ActorContext, createRunActor, type Ending, type HeldRun, type RunActor } from './run-actor.ts';
import type { Plans } from './plans.ts';
import type { Quarantine, Trial } from './quarantine.ts';
import { beginningOf, openReplay } from './replay-source.ts';
import type { RunStates } from './states.ts';
import { createStrays } from './strays.ts';

/**
 * Keeps the runs this process holds. Runs come in three ways: created here, claimed because they are due, or claimed
 * because a command waits for them. They go when their actor ends.
 *
 * D1. A run has at most one actor here; the newest claim wins.
 * D2. Runs that are due are looked for all the time: at the time the store names, when something hints at one, and at
 *     least once per poll. So a run whose holder vanished is found without anybody asking.
 * D3. A claim that cannot be loaded is kept and tried again, later each time: giving it back would only make the next
 *     process fail as fast as this one.
 * D4. When the lease is lost every actor is dropped before a new name is used.
 * D5. A process that drains takes no runs. Those it holds are given back one by one, each as soon as what it has under way is
 *     recorded, so that no run waits for another one's effect.
 * D6. A claim whose answer was lost may have been made: whatever this process holds and does not know is then looked for, and
 *     taken up unless somebody here was about to.
 * D7. A run that keeps harming the host is set aside (quarantine.ts), and a cancel is all that still reaches it.
 */
export interface Dispatcher {
  start(): void;
  /** Ends every actor, waiting up to `graceMs` for effects under way. */
  stop(graceMs: number): Promise<void>;
  /** From now on takes no runs, and gives back those that are held. */
  drain(): void;
  /** Holds nothing, and gives nothing back at the moment. */
  isIdle(): boolean;
  hasRoom(): boolean;
  actor(runId: string): RunActor | undefined;
  /** Takes over a run that was created, claimed and begun in one write. */
  adopt(held: HeldRun): void;
  /** A run was created that nobody holds. */
  pending(runId: string, tenant: string): void;
  /** Runs created here that wait for room. */
  readonly pendingRuns: Pick<Loads, 'all' | 'of'>;
  /** A command was put into the run's inbox. */
  poke(runId: string): void;
  /** Some run may be due at this time, or now. */
  wake(at?: number): void;
  /** The fate of a write under our claim is unknown: finds out, and goes on from the store. */
  recover(unit: RunUnit): void;
  /** The lease was lost. */
  dropAll(): void;
  readonly counts: () => { readonly live: number; readonly loading: number; readonly pending: number };
}

/** A claimed run that may be taken up. */
interface Admitted {
  readonly row: RunRow;
  readonly epoch: number;
  readonly holder: string;
  readonly trial: Trial | undefined;
}

export interface DispatcherOptions {
  readonly actors: Omit<ActorContext, 'onEnd' | 'mayWrite'>;
  readonly store: Store;
  /** The store as it is: it tells of damage instead of throwing it. */
  readonly seen: Pick<Store, 'readRun'>;
  readonly lease: Lease;
  readonly states: RunStates;
  readonly plans: Plans;
  readonly capabilities: ReadonlySet<string>;
  readonly quarantine: Pick<Quarantine, 'admit' | 'strike' | 'setAside'>;
  readonly cancelAside: CancelAside;
}

const CLAIMED_AT_ONCE = 64;
/** In polls. */
const LOAD_RETRIES = [1, 2, 5, 10, 30];
/** Deciding what a run does next that throws so often in a row is not going to succeed. */
const MOST_CRASHES = 5;
const POKED_PER_POLL = 100;
const SHORTEST_SCAN_MS = 2;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, lease, states } = options;
  const { clock, log, limits, feed } = options.actors;
  const actors = createChurningMap<RunActor>();
  /** Epochs of the claims that have no actor yet. */
  const loading = new Map<string, number>();
  /** How often a run's actor has failed since it last ended well. */
  const crashes = new Map<string, number>();
  /** How often in a row the store alone refused what a run wrote. */
  const unwritten = new Map<string, number>();
  /** Tenants of the runs created here that nobody has taken yet. */
  const pending = new Map<string, string>();
  const pendingRuns = createLoads();
  /** Runs that are being given back. */
  let releasing = 0;
  let draining = false;
  let running = false;
  let scanning = false;
  let scanAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  /** Scans in a row that got nothing although something was due: by another clock it is not, or somebody is at it. */
  let fruitless = 0;
  let pokedFrom = 0;
  let pokedAt = 0;

  const context: ActorContext = {
    ...options.actors,
    mayWrite: (holder) => lease.holder() === holder,
    onEnd: ended,
  };

  const strays = createStrays({
    store,
    lease,
    clock,
    unknownForMs: limits.pollMs,
    isKnown: (runId) => actors.get(runId) !== undefined || loading.has(runId),
    takeUp: (claim, holder) => load(claim, holder),
  });

  function delayAfter(failures: number): number {
    return (LOAD_RETRIES[Math.min(failures, LOAD_RETRIES.length - 1)] ?? 1) * limits.pollMs;
  }

  function room(): number {
    return limits.maxLiveRuns - actors.size - loading.size;
  }

  function hold(held: HeldRun): void {
    const { runId } = held.run.record;
    const known = actors.get(runId);
    // The same claim: whoever took it up first may have written since.
    if (known?.epoch === held.epoch) return;
    known?.drop();
    const actor = createRunActor(context, held);
    actors.set(runId, actor);
    forgetPending(runId);
    actor.start();
    if (draining) actor.drain();
  }

  function forgetPending(runId: string): void {
    const tenant = pending.get(runId);
    if (tenant === undefined) return;
    pending.delete(runId);
    pendingRuns.add(tenant, -1, 0);
  }

  function ended(actor: RunActor, ending: Ending): void {
    if (actors.get(actor.runId) === actor) actors.delete(actor.runId);
    if (ending.type !== 'crashed') crashes.delete(actor.runId);
    if (ending.type !== 'unwritable') unwritten.delete(actor.runId);
    switch (ending.type) {
      case 'finished':
        break;
      case 'parked':
        if (ending.poked) poke(actor.runId);
        else if (ending.wakeAt !== null) wake(ending.wakeAt);
        break;
      case 'crashed':
        feed.signal(actor.runId);
        crashed(actor);
        break;
      case 'stopped':
        feed.signal(actor.runId);
        if (running) void release(actor);
        break;
      case 'lost':
      case 'dropped':
        // Whoever goes on with the run, its listeners must look into the store.
        feed.signal(actor.runId);
        break;
      case 'doubtful':
        feed.signal(actor.runId);
        void recoverLater(ending.unit);
        break;
      case 'unwritable':
        feed.signal(actor.runId);
        void unwritable(actor);
        break;
    }
    if (pending.size > 0) wake();
  }

  function crashed(actor: RunActor): void {
    const failures = crashes.get(actor.runId) ?? 0;
    crashes.set(actor.runId, failures + 1);
    if (failures + 1 >= MOST_CRASHES) {
      crashes.delete(actor.runId);
      return setAside(actor.runId, 'The host fails whenever it decides what this run does next.');
    }
    const holder = lease.holder();
    if (running && holder !== undefined)
      loadLater({ runId: actor.runId, epoch: actor.epoch }, holder, failures);
  }

  /** The store takes what others write, but not what this run does: tried again, later each time, until it is set aside. */
  async function unwritable({ runId, epoch }: RunActor): Promise<void> {
    const holder = lease.holder();
    if (!running || holder === undefined) return;
    const failures = unwritten.get(runId) ?? 0;
    unwritten.set(runId, failures + 1);
    loading.set(runId, epoch);
    const reason = 'The store cannot take what this run writes, although it takes what others do.';
    try {
      if (!(await options.quarantine.strike(runId, reason)))
        return loadLater({ runId, epoch }, holder, failures);
      unwritten.delete(runId);
      if (loading.get(runId) === epoch) loading.delete(runId);
    } catch (error) {
      log('warn', { runId, ...errorFields(error) }, 'a strike could not be recorded');
      loadLater({ runId, epoch }, holder, failures);
    }
  }

  function setAside(runId: string, reason: string): void {
    options.quarantine
      .setAside(runId, reason)
      .catch((error: unknown) =>
        log('warn', { runId, ...errorFields(error) }, 'a run could not be quarantined'),
      );
  }

  /** For a run whose actor has stopped in a drain. */
  async function release({ runId, epoch }: RunActor): Promise<void> {
    releasing += 1;
    for (let failures = 0; running; failures += 1) {
      try {
        if (await giveBack({ ...options.actors, store }, runId, epoch)) break;
      } catch (error) {
        log('warn', { runId, failures, ...errorFields(error) }, 'giving back a run failed');
      }
      await pause(delayAfter(failures));
    }
    releasing -= 1;
  }

  function wake(at = 0): void {
    if (!running) return;
    const now = clock.now();
    const wakeAt = Math.min(Math.max(at, now), now + limits.pollMs);
    if (timer !== undefined && timerAt <= wakeAt) return;
    clearTimeout(timer);
    timerAt = wakeAt;
    timer = setTimeout(() => {
      timer = undefined;
      timerAt = Number.POSITIVE_INFINITY;
      void scan();
    }, wakeAt - now);
    timer.unref();
  }

  async function scan(): Promise<void> {
    if (scanning) {
      scanAgain = true;
      return;
    }
    scanning = true;
    let nextAt: number | undefined;
    let claimed = 0;
    try {
      do {
        scanAgain = false;
        await strays.takeUp();
        claimed += await claimWhatIsDue();
      } while (scanAgain && running);
      nextAt = room() > 0 && !draining ? await store.nextDueAt() : undefined;
    } catch (error) {
      log('warn', errorFields(error), 'looking for due runs failed');
      strays.suspect();
    } finally {
      scanning = false;
    }
    pokeSome();
    const now = clock.now();
    fruitless = nextAt !== undefined && nextAt <= now && claimed === 0 ? fruitless + 1 : 0;
    const notBefore = now + Math.min(SHORTEST_SCAN_MS * 2 ** fruitless, limits.pollMs);
    wake(nextAt === undefined ? now + limits.pollMs : Math.max(nextAt, notBefore));
  }

  /** Answers how many it got. */
  async function claimWhatIsDue(): Promise<number> {
    let count = 0;
    while (running && !draining) {
      const holder = lease.holder();
      const limit = Math.min(room(), CLAIMED_AT_ONCE);
      if (holder === undefined || limit <= 0) return count;
      const claimed = await store.claimDue(holder, limit);
      count += claimed.length;
      await Promise.all(claimed.map((claim) => load(claim, holder)));
      if (claimed.length < limit) {
        for (const runId of pending.keys()) forgetPending(runId);
        return count;
      }
      await yieldTurn();
    }
    return count;
  }

  /** Commands accepted by another process reach a held run only if its holder looks; each poll looks at some. */
  function pokeSome(): void {
    const now = clock.monotonic();
    if (actors.size === 0 || now - pokedAt < limits.pollMs) return;
    pokedAt = now;
    const all = actors.values();
    const count = Math.min(POKED_PER_POLL, all.length);
    for (let index = 0; index < count; index += 1) all[(pokedFrom + index) % all.length]?.poke();
    pokedFrom = (pokedFrom + count) % all.length;
  }

  async function load(claim: Claimed, holder: string, failures = 0): Promise<void> {
    const { runId, epoch } = claim;
    const known = loading.get(runId);
    if (known !== undefined && known >= epoch) return;
    loading.set(runId, epoch);
    try {
      await open(claim, holder);
    } catch (error) {
      if (error instanceof DamagedRunError && (await isSetAside(runId, error))) {
        if (loading.get(runId) === epoch) loading.delete(runId);
        return wake();
      }
      log('error', { runId, failures, ...errorFields(error) }, 'a claimed run could not be loaded');
      return loadLater(claim, holder, failures);
    }
    if (loading.get(runId) === epoch) loading.delete(runId);
  }

  async function isSetAside(runId: string, error: DamagedRunError): Promise<boolean> {
    try {
      await options.quarantine.setAside(runId, error.message);
      return true;
    } catch {
      return false;
    }
  }

  function loadLater(claim: Claimed, holder: string, failures: number): void {
    loading.set(claim.runId, claim.epoch);
    void pause(delayAfter(failures)).then(() => {
      if (loading.get(claim.runId) !== claim.epoch) return;
      loading.delete(claim.runId);
      if (running && lease.holder() === holder) void load(claim, holder, failures + 1);
    });
  }

  async function open({ runId, epoch }: Claimed, holder: string): Promise<void> {
    const row = await options.seen.readRun(runId, undefined);
    if (row === undefined || row.epoch !== epoch || isTerminalStatus(row.head.status)) return;
    const admission = await options.quarantine.admit(row, epoch);
    if (admission === 'aside') return options.cancelAside({ runId, epoch });
    if (row.isDamaged === true) throw new DamagedRunError(runId, undefined);
    const trial = admission === 'ordinary' ? undefined : admission;
    try {
      await take({ row, epoch, holder, trial });
    } catch (error) {
      trial?.close(false);
      throw error;
    }
  }

  async function take({ row, epoch, holder, trial }: Admitted): Promise<void> {
    const { runId } = row.record;
    const begin = await beginOf(row);
    const { plan, state, checkpointSeq } = await states.upTo(row.record, begin);
    const run = openRun(plan, row.record, state, options.capabilities);
    const replay = row.record.fork?.mode === 'replay' ? await openReplay(store, run) : undefined;
    if (!running || lease.holder() !== holder || loading.get(runId) !== epoch) return trial?.close(false);
    hold({
      run,
      holder,
      epoch,
      checkpointSeq,
      opening: replay === undefined ? [{ type: openingOf(run) }] : [],
      ...(replay !== undefined && { replay, durableSeq: row.nextSeq }),
      ...(trial !== undefined && { trial }),
    });
  }

  /** Where to fold to: to the end of the log, but for a replay that has recorded nothing yet. */
  async function beginOf({ record, nextSeq }: RunRow): Promise<number> {
    const { fork, definitionDigest, tenant } = record;
    if (fork?.mode !== 'replay' || nextSeq !== fork.fromSeq || nextSeq === 0) return nextSeq;
    const plan = await options.plans.get(definitionDigest, tenant);
    return beginningOf(store, plan, fork.sourceRunId, nextSeq);
  }

  function poke(runId: string): void {
    const actor = actors.get(runId);
    if (actor !== undefined) return actor.poke();
    void claimOne(runId);
  }

  /** Also over the bound on live runs: a command is how people get rid of runs. */
  async function claimOne(runId: string): Promise<void> {
    const holder = lease.holder();
    // A run that nobody holds is due by its command; another process finds it.
    if (!running || draining || holder === undefined || loading.has(runId)) return;
    try {
      const result = await store.claim(runId, holder);
      if (result.state === 'claimed') await load({ runId, epoch: result.epoch }, holder);
      else actors.get(runId)?.poke();
    } catch (error) {
      log('warn', { runId, ...errorFields(error) }, 'claiming a run failed');
      strays.suspect();
      wake();
    }
  }

  async function recoverLater(unit: RunUnit): Promise<void> {
    const epoch = unit.create === undefined ? unit.epoch : 1;
    for (let failures = 0; running; failures += 1) {
      const holder = lease.holder();
      if (holder === undefined) return;
      try {
        await store.committed(unit);
        const row = await store.readRun(unit.runId, undefined);
        if (row !== undefined && row.epoch === epoch && row.holder === holder)
          await load({ runId: unit.runId, epoch }, holder);
        else wake();
        return;
      } catch (error) {
        log(
          'warn',
          { runId: unit.runId, failures, ...errorFields(error) },
          'the fate of a write is still unknown',
        );
        await pause(delayAfter(failures));
      }
    }
  }

  function dropAll(): void {
    loading.clear();
    for (const actor of actors.values()) actor.drop();
  }

  async function stop(graceMs: number): Promise<void> {
    running = false;
    clearTimeout(timer);
    timer = undefined;
    for (const actor of actors.values()) actor.drain();
    const until = clock.monotonic() + graceMs;
    while (actors.size > 0 && clock.monotonic() < until) await wait(5);
    dropAll();
    while (scanning) await wait(1);
  }

  return {
    start() {
      running = true;
      wake();
    },
    stop,
    drain() {
      draining = true;
      for (const runId of pending.keys()) forgetPending(runId);
      for (const actor of actors.values()) actor.drain();
    },
    isIdle: () => actors.size === 0 && loading.size === 0 && releasing === 0,
    hasRoom: () => running && !draining && room() > 0,
    actor: (runId) => actors.get(runId),
    adopt: hold,
    pending(runId, tenant) {
      if (draining || pending.has(runId)) return;
      pending.set(runId, tenant);
      pendingRuns.add(tenant, 1, 0);
      wake();
    },
    pendingRuns,
    poke,
    wake,
    recover: (unit) => void recoverLater(unit),
    dropAll,
    counts: () => ({ live: actors.size, loading: loading.size, pending: pending.size }),
  };
}

/** How a run that was loaded goes on. */
function openingOf({ state, record }: LiveRun): 'start' | 'forked' | 'recovered' {
  if (record.fork !== undefined && state.nextSeq === record.fork.fromSeq) return 'forked';
  return state.status === 'pending' ? 'start' : 'recovered';
}
