import { type CreationRecord, isTerminalStatus } from '../../model/run-state.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import type { Claimed, RunUnit, Store } from '../../ports/store.ts';
import type { CancelAside } from '../quarantine/cancel-aside.ts';
import { pause, wait, yieldTurn } from '../../ports/clock.ts';
import { createDueScan, type Look } from './due-scan.ts';
import { type Failures, HeldRuns } from './held-runs.ts';
import { releaseClaim } from './release-claim.ts';
import type { Lease } from './lease.ts';
import { createLiveMemory } from './live-memory.ts';
import { loadRun } from './load-run.ts';
import { errorFields } from '../../ports/log.ts';
import { type ActorContext, createRunActor, type Ending, type HeldRun, type RunActor } from './run-actor.ts';
import { createPendingRuns, type PendingRuns } from './pending-runs.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import type { RunStates } from '../runs/states.ts';
import { createOrphanedClaims } from './orphaned-claims.ts';

/**
 * Keeps the runs this process holds. Runs come in three ways: created here, claimed because they are due, or claimed
 * because a command waits for them. They go when their actor ends.
 *
 * W-1. A run has at most one actor here; the newest claim wins.
 * W-2. The dispatcher always searches for due runs: at the time the store names, on every hint, and at least once per poll.
 *      So a run whose holder vanished is found without a request.
 * W-3. A claim that cannot be loaded is kept and retried with growing waits: releasing it would only make the next process
 *      fail as fast as this one.
 * W-4. When the lease is lost every actor is dropped before a new name is used.
 * W-5. A draining process takes no runs. Those it holds are released one by one, each as soon as its running effects are
 *      recorded, so that no run waits for another run's effect.
 * W-6. A claim whose answer was lost may have been made: claims that this process holds and does not know are then searched
 *      for and adopted, unless this process is already adopting them.
 * W-7. A run that keeps harming the host is quarantined (quarantine.ts), and only a cancel still reaches it.
 * W-8. Runs are admitted to memory by the bytes they take (live-memory.ts). While some wait for room, new ones wait, too.
 * W-42. Where runs are at a mark, those that only wait for workers leave memory, the newest first, with their tasks in the store: a
 *       worker of any process takes those, and then the run is due. So runs without a worker keep no others from running.
 */
export interface Dispatcher {
  start(): void;
  /** Ends every actor, waiting up to `graceMs` for running effects. */
  stop(graceMs: number): Promise<void>;
  /** From now on takes no runs, and gives back those that are held. */
  drain(): void;
  /** Holds nothing, and gives nothing back at the moment. */
  isIdle(): boolean;
  /** The run may be begun with its creation. */
  hasRoomFor(record: CreationRecord): boolean;
  actor(runId: string): RunActor | undefined;
  /** Takes over a run that was created, claimed and begun in one write. */
  adopt(held: HeldRun): void;
  /** A run was created that no one holds. */
  pending(runId: string, tenant: string): void;
  /** Runs created here that wait for room. */
  readonly pendingRuns: PendingRuns['loads'];
  /** A command was put into the run's inbox. */
  poke(runId: string): void;
  /** Some run may be due at this time, or now. */
  wake(at?: number): void;
  /** The outcome of a write under our claim is unknown: finds out, and continues from the store. */
  recover(unit: RunUnit): void;
  /** The lease was lost. */
  dropAll(): void;
  readonly counts: () => Readonly<Record<'live' | 'loading' | 'pending' | 'liveBytes', number>>;
}

export interface DispatcherOptions {
  readonly actors: Omit<ActorContext, 'onEnd' | 'mayWrite'>;
  readonly store: Store;
  /** The store as it is: it tells of damage instead of throwing it. */
  readonly seen: Pick<Store, 'readRun'>;
  readonly lease: Lease;
  readonly states: RunStates;
  readonly capabilities: ReadonlySet<string>;
  readonly quarantine: Pick<Quarantine, 'admit' | 'strike' | 'setAside'>;
  readonly cancelAside: CancelAside;
}

/** In polls. */
const LOAD_RETRIES = [1, 2, 5, 10, 30];
/** Deciding what a run does next that throws so often in a row is not going to succeed. */
const MOST_CRASHES = 5;
const POKED_PER_POLL = 100;
/** Each is a write, and there are more looks. */
const PARKED_AT_ONCE = 32;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, lease } = options;
  const { clock, log, limits, feed } = options.actors;
  const runs = new HeldRuns();
  const pending = createPendingRuns();
  const memory = createLiveMemory(limits);
  /** Tenants with runs that found no room: as long as some of them wait, their new ones wait behind them. */
  let backlogged: ReadonlySet<string> = new Set();
  let lastTenant = '';
  let draining = false;
  let running = false;
  let pokedFrom = 0;
  let pokedAt = 0;
  let parksFrom = 0;

  const context: ActorContext = {
    ...options.actors,
    feed: {
      ...feed,
      publish(record, events) {
        feed.publish(record, events);
        memory.grew(record.runId, events);
        releaseSome();
      },
    },
    mayWrite: (holder) => lease.holder() === holder,
    onEnd: ended,
  };

  const orphanedClaims = createOrphanedClaims({
    store,
    lease,
    clock,
    unknownForMs: limits.pollMs,
    isKnown: (runId) => runs.has(runId),
    adopt: load,
  });

  function delayAfter(failures: number): number {
    return (LOAD_RETRIES[Math.min(failures, LOAD_RETRIES.length - 1)] ?? 1) * limits.pollMs;
  }

  const { wake, ...scan } = createDueScan({ clock, pollMs: limits.pollMs, look });

  function backlog(tenant: string): void {
    if (!backlogged.has(tenant)) backlogged = new Set(backlogged).add(tenant);
  }

  /** Runs that have grown too large together: some of them continue when there is room again. */
  function releaseSome(): void {
    for (const { runId, tenant } of memory.toGiveBack()) {
      backlog(tenant);
      runs.actor(runId)?.drain();
    }
  }

  function hold(held: HeldRun): void {
    const { runId } = held.run.record;
    const known = runs.actor(runId);
    // The same claim: the actor that has it may have written since.
    if (known?.epoch === held.epoch) return;
    known?.drop();
    const actor = createRunActor(context, held);
    runs.hold(actor);
    memory.hold(held.run);
    pending.delete(runId);
    actor.start();
    if (draining) actor.drain();
  }

  function ended(actor: RunActor, ending: Ending): void {
    const failures = runs.end(actor, ending.type);
    if (failures !== undefined) memory.release(actor.runId);
    switch (ending.type) {
      case 'finished':
        break;
      case 'parked':
        if (ending.poked) poke(actor.runId);
        else if (ending.wakeAt !== null) wake(ending.wakeAt);
        break;
      case 'crashed':
        feed.signal(actor.runId);
        if (failures !== undefined) crashed(actor, failures);
        break;
      case 'stopped':
        feed.signal(actor.runId);
        if (running) void release(actor);
        break;
      case 'lost':
      case 'dropped':
        // Another process may continue the run, so its readers must read the store.
        feed.signal(actor.runId);
        break;
      case 'doubtful':
        feed.signal(actor.runId);
        void recoverLater(actor, ending.unit);
        break;
      case 'unwritable':
        feed.signal(actor.runId);
        if (failures !== undefined) void unwritable(actor, failures);
        break;
    }
    if (backlogged.size > 0 || pending.loads.all().units > 0) wake();
  }

  function crashed({ runId, epoch }: RunActor, failures: Failures): void {
    if (failures.crashed >= MOST_CRASHES)
      return setAside(runId, 'The host fails whenever it decides what this run does next.');
    const holder = lease.holder();
    if (running && holder !== undefined && runs.claim({ runId, epoch }, failures))
      loadLater({ runId, epoch }, holder, failures.crashed - 1);
  }

  /** The store takes what others write, but not what this run does: tried again, later each time, until it is set aside. */
  async function unwritable({ runId, epoch }: RunActor, failures: Failures): Promise<void> {
    const holder = lease.holder();
    const claim = { runId, epoch };
    if (!running || holder === undefined || !runs.claim(claim, failures)) return;
    const reason = 'The store cannot take what this run writes, although it takes what others do.';
    try {
      if (await options.quarantine.strike(runId, reason)) return runs.loaded(claim);
    } catch (error) {
      log('warn', { runId, ...errorFields(error) }, 'a strike could not be recorded');
    }
    loadLater(claim, holder, failures.unwritable - 1);
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
    runs.releasing(runId);
    for (let failures = 0; running; failures += 1) {
      try {
        if (await releaseClaim({ ...options.actors, store }, runId, epoch)) break;
      } catch (error) {
        log('warn', { runId, failures, ...errorFields(error) }, 'giving back a run failed');
      }
      await pause(delayAfter(failures));
    }
    runs.released(runId);
    wake();
  }

  async function look(): Promise<Look> {
    let claimed = 0;
    let nextAt: number | undefined;
    try {
      await orphanedClaims.adopt();
      claimed = await claimWhatIsDue();
      nextAt = !draining && memory.claimBounds() !== undefined ? await store.nextDueAt() : undefined;
    } catch (error) {
      log('warn', errorFields(error), 'looking for due runs failed');
      orphanedClaims.suspect();
    }
    parkSome();
    pokeSome();
    return { claimed, nextAt };
  }

  /** Answers how many it got. */
  async function claimWhatIsDue(): Promise<number> {
    let count = 0;
    while (running && !draining) {
      const holder = lease.holder();
      const bounds = memory.claimBounds();
      if (holder === undefined || bounds === undefined) return count;
      const claimed = await store.claimDue(holder, bounds.limit, { ...bounds, after: lastTenant });
      if (claimed.length === 0) {
        backlogged = new Set(bounds.except);
        if (backlogged.size === 0) pending.clear();
        return count;
      }
      count += claimed.length;
      lastTenant = claimed.at(-1)?.tenant ?? lastTenant;
      for (const claim of claimed) memory.reserve(claim);
      await Promise.all(claimed.map((claim) => load(claim, holder)));
      await yieldTurn();
    }
    return count;
  }

  /** Commands accepted by another process reach a held run only if its holder looks; each poll looks at some. */
  function pokeSome(): void {
    const now = clock.monotonic();
    if (runs.isEmpty || now - pokedAt < limits.pollMs) return;
    pokedAt = now;
    const all = runs.actors();
    const count = Math.min(POKED_PER_POLL, all.length);
    for (let index = 0; index < count; index += 1) all[(pokedFrom + index) % all.length]?.poke();
    pokedFrom = (pokedFrom + count) % Math.max(all.length, 1);
  }

  /** Where it finds few, it costs more to look for them than they make room: not before the next poll then. */
  function parkSome(): void {
    const now = clock.monotonic();
    if (draining || now < parksFrom) return;
    const crowded = memory.crowded();
    let parked = 0;
    for (const runId of crowded) {
      if (parked === PARKED_AT_ONCE) break;
      if (runs.actor(runId)?.park() === true) parked += 1;
    }
    if (parked < Math.min(PARKED_AT_ONCE, crowded.length / 4)) parksFrom = now + limits.pollMs;
  }

  async function load(claim: Claimed, holder: string): Promise<void> {
    if (runs.claim(claim)) await tryLoad(claim, holder, 0);
  }

  async function tryLoad(claim: Claimed, holder: string, failures: number): Promise<void> {
    const { runId } = claim;
    try {
      await open(claim, holder);
    } catch (error) {
      if (!(error instanceof DamagedRunError) || !(await isSetAside(runId, error))) {
        log('error', { runId, failures, ...errorFields(error) }, 'a claimed run could not be loaded');
        return loadLater(claim, holder, failures);
      }
      wake();
    }
    runs.loaded(claim);
    if (!runs.has(runId)) memory.release(runId);
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
    void pause(delayAfter(failures)).then(() => {
      if (!runs.isLoading(claim.runId, claim.epoch)) return;
      if (running && lease.holder() === holder) void tryLoad(claim, holder, failures + 1);
      else runs.loaded(claim);
    });
  }

  async function open({ runId, epoch }: Claimed, holder: string): Promise<void> {
    const row = await options.seen.readRun(runId, undefined);
    if (row === undefined || row.epoch !== epoch || isTerminalStatus(row.head.status)) return;
    const admission = await options.quarantine.admit(row);
    if (admission === 'aside') return options.cancelAside({ runId, epoch });
    if (row.isDamaged === true) throw new DamagedRunError(runId, undefined);
    const loaded = await loadRun(options, row);
    const isOurs = running && lease.holder() === holder && runs.isLoading(runId, epoch);
    if (isOurs) hold({ ...loaded, holder, epoch, ...(admission !== 'ordinary' && { trial: admission }) });
  }

  function poke(runId: string): void {
    const actor = runs.actor(runId);
    if (actor !== undefined) return actor.poke();
    void claimOne(runId);
  }

  async function claimOne(runId: string): Promise<void> {
    const holder = lease.holder();
    // A run that no one holds is due by its command; another process finds it.
    if (!running || draining || holder === undefined || runs.isLoading(runId)) return;
    if (!memory.admitCommanded(runId)) return wake();
    try {
      const result = await store.claim(runId, holder);
      if (result.state === 'claimed') await load({ runId, epoch: result.epoch }, holder);
      else runs.actor(runId)?.poke();
    } catch (error) {
      log('warn', { runId, ...errorFields(error) }, 'claiming a run failed');
      orphanedClaims.suspect();
      wake();
    }
    if (!runs.has(runId)) memory.release(runId);
  }

  async function recoverLater({ runId, epoch }: Claimed, unit?: RunUnit): Promise<void> {
    for (let failures = 0; running; failures += 1) {
      const holder = lease.holder();
      if (holder === undefined) return;
      try {
        if (unit !== undefined) await store.committed(unit);
        const row = await store.readRun(runId, undefined);
        if (row !== undefined && row.epoch === epoch && row.holder === holder)
          await load({ runId, epoch }, holder);
        else wake();
        return;
      } catch (error) {
        log('warn', { runId, failures, ...errorFields(error) }, 'the fate of a write is still unknown');
        await pause(delayAfter(failures));
      }
    }
  }

  function dropAll(): void {
    for (const known of runs.all()) {
      if (known.state === 'loading') {
        memory.release(known.claim.runId);
        runs.loaded(known.claim);
      }
      known.actor?.drop();
    }
  }

  async function stop(graceMs: number): Promise<void> {
    running = false;
    const scanned = scan.stop();
    for (const actor of runs.actors()) actor.drain();
    const until = clock.monotonic() + graceMs;
    while (runs.actors().length > 0 && clock.monotonic() < until) await wait(5);
    dropAll();
    await scanned;
  }

  return {
    start() {
      running = true;
      scan.start();
    },
    stop,
    drain() {
      draining = true;
      pending.clear();
      for (const actor of runs.actors()) actor.drain();
    },
    isIdle: () => runs.isEmpty,
    hasRoomFor(record) {
      if (!running || draining || backlogged.has(record.tenant)) return false;
      const hasRoom = memory.hasRoomFor(record);
      if (!hasRoom) backlog(record.tenant);
      return hasRoom;
    },
    actor: (runId) => runs.actor(runId),
    adopt: hold,
    pending(runId, tenant) {
      if (draining) return;
      pending.add(runId, tenant);
      wake();
    },
    pendingRuns: pending.loads,
    poke,
    wake,
    recover: (unit) => void recoverLater({ runId: unit.runId, epoch: unit.create ? 1 : unit.epoch }, unit),
    dropAll,
    counts: () => ({
      live: runs.actors().length,
      loading: runs.all().filter(({ state }) => state === 'loading').length,
      pending: pending.loads.all().units,
      liveBytes: memory.loads.all().bytes,
    }),
  };
}
