import { nextTimer } from '../../core/decide/advance.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import { isLiveStatus, isTerminalStatus, type NodeError, type NodeKey } from '../../model/run-state.ts';
import type { ChildRequest, EffectRequest, Input, Step } from '../../core/decide/step.ts';
import type { NewTask, Signal, RunUnit, Store, StoredEvent, CommandResult } from '../../ports/store.ts';
import { LONGEST_TIMEOUT_MS, pause, yieldTurn } from '../../ports/clock.ts';
import type { Committer, CommitResult } from '../commits/committer.ts';
import type { Feed } from '../streams/feed.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { EffectHandle, Performer } from '../effects/performer.ts';
import type { SpawnChild } from './spawn-child.ts';
import { createTraceparents, startOf } from '../effects/trace-context.ts';
import { ActorPhase } from './actor-phase.ts';
import {
  abortsEffects,
  attemptOf,
  type DecidedCommand,
  decidedBy,
  unperformedInputs,
  unrecorded,
} from './actor-step.ts';
import type { Trial } from '../quarantine/quarantine.ts';
import type { InputSource } from './input-source.ts';
import { type TakenInput, type Told, WaitingInputs } from './waiting-inputs.ts';
import { createWaitingReaders } from './waiting-readers.ts';
import {
  batchUnit,
  type BatchTools,
  decideBatch,
  isSoon,
  mayPark,
  type RecordedMoment,
} from './decide-batch.ts';

/**
 * The holder of one claimed run. It takes one input at a time and turns it into a durable step (actor-phase.ts). Nothing is awaited
 * between `advance` and the submitted write.
 *
 * W-13. No effect starts, and no event is visible outside, before its write is durable.
 * W-14. Inputs are taken in this order: the opening ones (unless a cancel is waiting), commands, outcomes, what is due, what
 *       a budget cut off.
 * W-15. A command without a result (a drain) stays in the inbox and is tried again after every later decision.
 * W-16. A rejected write means that another process owns the run: everything is aborted and nothing more is written. A write
 *       of unknown outcome ends the actor too; the dispatcher rebuilds the run from the store.
 * W-17. An actor that ends in the same moment in which it is signalled reports the signal, so that the command is not left
 *       waiting.
 * W-18. An effect begins, and its bytes leave the process, only while the claim holds, checked in that turn of the event
 *       loop. An actor that finds its claim lost ends.
 */
export interface RunActor {
  readonly runId: string;
  readonly epoch: number;
  /** Begins to work; called once, when its owner is ready for its end. */
  start(): void;
  /** Something was put into the inbox. */
  poke(): void;
  /** Calls `render` while the state is exactly what is durable. Undefined when the store must be asked instead. */
  read<Result>(render: (run: LiveRun) => Result): Promise<{ readonly value: Result } | undefined>;
  /** No new effects; ends when those running have been recorded. */
  drain(): void;
  /** Leaves memory if it does nothing but wait for workers, its tasks being kept in the store. False when it stays. */
  park(): boolean;
  /** Aborts everything and writes nothing more. */
  drop(): void;
}

export interface ActorContext extends BatchTools {
  readonly store: Pick<Store, 'readInbox' | 'parkRun'>;
  readonly committer: Committer;
  readonly performer: Performer;
  readonly feed: Feed;
  readonly log: Log;
  /** False when this process may not write under this holder's name any more. */
  readonly mayWrite: (holder: string) => boolean;
  readonly onCommandResult: (commandId: string, commandResult: CommandResult) => void;
  /** Creates a child run that the log has announced; says why not, or undefined when it exists. */
  readonly spawnChild: SpawnChild;
  /** Commands that this run has put into other runs' inboxes are durable. */
  readonly onSignals: (signals: readonly Signal[]) => void;
  readonly onEnd: (actor: RunActor, ending: Ending) => void;
}

export type Ending =
  | { readonly type: 'finished' | 'stopped' | 'dropped' }
  /** Deciding or reading threw; what is in the store is whole. */
  | { readonly type: 'crashed' }
  /** The claim was given up with the last write. */
  | { readonly type: 'parked'; readonly poked: boolean; readonly wakeAt: number | null }
  /** Someone else owns the run. */
  | { readonly type: 'lost' }
  /** The store takes what others write, but not this. */
  | { readonly type: 'unwritable' }
  /** Whether this write is durable is not known, or it is known to be lost. Without one: whether the claim was given up. */
  | { readonly type: 'doubtful'; readonly unit?: RunUnit };

export interface HeldRun {
  readonly run: LiveRun;
  /** The name under which it was claimed. */
  readonly holder: string;
  readonly epoch: number;
  readonly checkpointSeq: number;
  /** Taken before anything else. */
  readonly opening: readonly Input[];
  /** A step that is durable already, whose effects are still to be started. */
  readonly committed?: Step;
  /** Length of the log on record, where the state begins before its end. */
  readonly durableSeq?: number;
  /** Gives inputs before the run looks for its own. */
  readonly source?: InputSource;
  /** Nothing is performed: what the source does not know of ends with this. */
  readonly unperformed?: NodeError;
  /** Length of the log before which no command is taken. */
  readonly commandsFrom?: number;
  /** Of a suspect, which decides elsewhere first. */
  readonly trial?: Trial;
}

/** An input of the core; a command keeps the id under which it stands in the inbox. */
type ActorInput = TakenInput & { readonly commandId?: string; readonly recorded?: RecordedMoment };

const FULL_STORE_RETRY_MS = 1_000;
const IDLE_TICK_MS = 50;

export function createRunActor(context: ActorContext, held: HeldRun): RunActor {
  const { committer, performer, feed, log, clock } = context;
  const { run, epoch } = held;
  const { record } = run;
  const phase = new ActorPhase();
  const inputs = new WaitingInputs(held.opening, held.committed);
  const effects = new Map<NodeKey, EffectHandle>();
  /** Where the nodes with child runs began: a node's later children belong to the same span as its first. */
  const childStarts = new Map<NodeKey, number>();
  const readers = createWaitingReaders();
  let checkpointSeq = held.checkpointSeq;
  let committedSeq = held.durableSeq ?? run.state.nextSeq;
  let timer: NodeJS.Timeout | undefined;
  let noTickBefore = 0;
  let { source } = held;
  let trial = held.trial;
  /** Of the input that is being taken. */
  let onTaken: Told | undefined;
  const { unperformed, commandsFrom = 0 } = held;
  const traceparentAt = createTraceparents(record);

  const actor: RunActor = {
    runId: record.runId,
    epoch,
    start() {
      if (held.committed !== undefined) act(held.committed);
      queueMicrotask(work);
    },
    poke() {
      inputs.isInboxUnread = true;
      work();
    },
    read,
    drain() {
      inputs.isDraining = true;
      run.isLeaving = true;
      for (const [key, handle] of effects) if (handle.withdraw?.() === true) effects.delete(key);
      work();
    },
    park() {
      const tasks = waitingTasks();
      const wakeAt = nextTimer(run) ?? null;
      if (tasks === undefined || isSoon(context, wakeAt)) return false;
      for (const handle of effects.values()) handle.withdraw?.();
      effects.clear();
      void leave(tasks, wakeAt);
      return true;
    },
    drop: () => end({ type: 'dropped' }),
  };

  /** Undefined when something else may move the run, or is to be done. */
  function waitingTasks(): NewTask[] | undefined {
    if (phase.now !== 'resting' || effects.size === 0 || effects.size !== run.inFlight.size) return undefined;
    if (hasInput() || inputs.isDraining || inputs.hasUndecided || trial !== undefined) return undefined;
    if (!isLiveStatus(run.state.status) || run.spawning.size > 0) return undefined;
    const tasks = [...effects.values()].flatMap((handle) => handle.parked?.() ?? []);
    return tasks.length === effects.size ? tasks : undefined;
  }

  /** Its effects are with this process no more: where the store does not take them the run is loaded again. */
  async function leave(tasks: readonly NewTask[], wakeAt: number | null): Promise<void> {
    phase.move('work');
    phase.move('write');
    clearTimeout(timer);
    let isParked = false;
    try {
      isParked =
        context.mayWrite(held.holder) &&
        (await context.store.parkRun({ runId: record.runId, epoch, wakeAt }, tasks));
    } catch (error) {
      log('warn', { runId: record.runId, ...errorFields(error) }, 'a run could not be parked');
    }
    if (!isParked) return end({ type: 'doubtful' });
    // By a command that came meanwhile it is due, and found as such: mostly there was none.
    end({ type: 'parked', poked: false, wakeAt: inputs.isInboxUnread ? 0 : wakeAt });
  }

  function work(): void {
    if (!phase.move('work')) return;
    clearTimeout(timer);
    void workOff();
  }

  async function workOff(): Promise<void> {
    try {
      await loop();
    } catch (error) {
      log('error', { runId: record.runId, ...errorFields(error) }, 'a run could not be advanced');
      end({ type: 'crashed' });
    }
    // What came in after the loop's last look found it at work, and was not heard.
    if (phase.move('rest') && isWanted()) work();
  }

  function isWanted(): boolean {
    return inputs.isDraining ? inputs.hasOutcomes || effects.size === 0 : hasInput();
  }

  async function loop(): Promise<void> {
    while (!phase.isOver) {
      if (inputs.isInboxUnread) await readInbox();
      if (source !== undefined && !inputs.isDraining) await source.readAhead(run.state.nextSeq);
      if (phase.isOver) return;
      const input = nextInput();
      if (input === undefined) return rest();
      if (trial !== undefined) await tryApart(trial, input);
      if (phase.isOver) return;
      for (const words of lastWords(input)) await take(words);
      if (phase.isOver) return;
      await take(input);
      if (trial?.isOver(run.state.nextSeq)) trial = undefined;
    }
  }

  /** A suspect decides elsewhere first. The actor ends where the run does not live through that, or that is not known. */
  async function tryApart(suspect: Trial, taken: ActorInput): Promise<void> {
    const { onRecorded: _told, recorded: _moment, ...input } = taken;
    try {
      if (!(await suspect.survives(input))) end({ type: 'lost' });
    } catch (error) {
      log('warn', { runId: record.runId, ...errorFields(error) }, 'a suspect run could not be tried');
      end({ type: 'doubtful' });
    }
  }

  async function readInbox(): Promise<void> {
    inputs.isInboxUnread = false;
    inputs.inboxRead(await context.store.readInbox(record.runId));
  }

  function nextInput(): ActorInput | undefined {
    if (inputs.isDraining) return inputs.takeOutcome();
    const isBehind = source !== undefined && run.state.nextSeq < commandsFrom;
    const first = inputs.takeOpening() ?? (isBehind ? undefined : inputs.takeCommand());
    const next = first ?? inputs.takeOutcome() ?? source?.next();
    if (next !== undefined) return next;
    source = undefined;
    return isTickDue() ? { type: 'tick' } : inputs.takeCutOff();
  }

  function isTickDue(): boolean {
    const due = nextTimer(run);
    const now = clock.now();
    return due !== undefined && due <= now && now >= noTickBefore;
  }

  /** What running effects have used is on record before the decision that aborts them. */
  function lastWords(input: ActorInput): ActorInput[] {
    if (effects.size === 0 || !abortsEffects(run, input, clock.now())) return [];
    return [...effects].flatMap(([key, handle]) => {
      const events = handle.lastWords?.() ?? [];
      const attempt = attemptOf(run, key);
      return events.length === 0 ? [] : [{ type: 'progress', key, attempt, chunks: [], events }];
    });
  }

  function take(input: ActorInput): Promise<void> {
    onTaken = input.onRecorded;
    const step = unrecorded(decideBatch(context, run, input, input.recorded), committedSeq);
    // A tick that finds nothing to do must not be repeated at once, nor after a drain that was tried again in vain.
    if (step.events.length > 0) noTickBefore = 0;
    else if (input.type === 'tick') noTickBefore = clock.now() + IDLE_TICK_MS;
    const decided = decidedBy(input, step);
    inputs.taken(input, step, decided);
    return makeDurable(step, decided);
  }

  /** Makes the step durable, if there is something to write, and acts on it. */
  async function makeDurable(step: Step, decided: DecidedCommand | undefined): Promise<void> {
    const release = isLast(step);
    if (step.events.length === 0 && decided === undefined && !release) {
      tell(false);
      act(step);
      return yieldTurn(); // always: a run that finds nothing to decide, however often it looks, holds up no one
    }
    const continues = source !== undefined;
    const write = { epoch, expectedSeq: committedSeq, step, release, checkpointSeq, decided, continues };
    const unit = batchUnit(context, run, write);
    if (!(await commit(unit))) return;
    tell(true);
    if (decided !== undefined) context.onCommandResult(decided.commandId, decided.commandResult);
    if (isTerminalStatus(run.state.status)) return end({ type: 'finished' });
    if (release) return end({ type: 'parked', poked: inputs.isInboxUnread, wakeAt: unit.head.wakeAt });
    act(step);
  }

  function tell(isDurable: boolean): void {
    const waiting = onTaken;
    onTaken = undefined;
    waiting?.(isDurable);
  }

  /** True when the run can leave memory with this step. */
  function isLast(step: Step): boolean {
    if (isTerminalStatus(run.state.status)) return true;
    if (step.more || step.effects.length > 0 || hasInput() || inputs.hasUndecided) return false;
    const aborted = step.aborts.filter((key) => effects.has(key)).length;
    return effects.size === aborted && mayPark(context, run);
  }

  function hasInput(): boolean {
    return source !== undefined || inputs.hasAny;
  }

  /** Makes the step durable. False when the actor has ended over it. */
  async function commit(unit: RunUnit): Promise<boolean> {
    phase.move('write');
    let result = context.mayWrite(held.holder) ? await committer.submit(unit) : undefined;
    if (result?.state === 'refused' && result.reason === 'store_full' && !phase.isOver)
      result = await writeLater(unit);
    if (!phase.move('written')) {
      if (result?.state === 'committed') feed.signal(record.runId);
      return false;
    }
    if (result?.state !== 'committed') {
      end(endingOf(result, unit));
      return false;
    }
    committedSeq = Math.max(committedSeq, run.state.nextSeq);
    if (unit.checkpoint !== undefined) checkpointSeq = unit.checkpoint.seq;
    feed.publish(record, unit.events);
    readers.serve(run);
    if (unit.notify !== undefined) context.onSignals(unit.notify);
    return true;
  }

  /** Nothing was written and nothing else can be done: the same write is tried until there is room. */
  async function writeLater(unit: RunUnit): Promise<CommitResult | undefined> {
    for (;;) {
      log('error', { runId: record.runId }, 'the store has no room');
      await pause(FULL_STORE_RETRY_MS);
      if (phase.isOver || !context.mayWrite(held.holder)) return undefined;
      const result = await committer.submit(unit);
      if (result.state !== 'refused' || result.reason !== 'store_full' || phase.isOver) return result;
    }
  }

  function endingOf(result: CommitResult | undefined, unit: RunUnit): Ending {
    if (result === undefined) return { type: 'dropped' };
    if (result.state === 'failed') return { type: 'unwritable' };
    if (result.state !== 'refused') return { type: 'doubtful', unit };
    log('warn', { runId: record.runId, reason: result.reason }, 'the run has another holder');
    return { type: 'lost' };
  }

  function act(step: Step): void {
    for (const key of step.aborts) abortEffect(key);
    if (unperformed !== undefined) {
      if (source === undefined) for (const input of unperformedInputs(step, unperformed)) inputs.push(input);
      return;
    }
    if (inputs.isDraining) return;
    for (const effect of step.effects) startEffect(effect, step.events);
    for (const child of step.children) void createChild(child, startOf(step.events, child.key));
  }

  async function createChild(request: ChildRequest, startedSeq: number | undefined): Promise<void> {
    const { key, childRunId } = request;
    if (startedSeq !== undefined) childStarts.set(key, startedSeq);
    const traceparent = traceparentAt(childStarts.get(key));
    const error = await context.spawnChild(record, { ...request, traceparent, epoch, isAwaited: holdsClaim });
    if (phase.isOver) return;
    inputs.push({ type: 'child-created', key, childRunId, ...(error !== undefined && { error }) });
    work();
  }

  function startEffect(effect: EffectRequest, events: readonly StoredEvent[]): void {
    abortEffect(effect.key);
    const handle = performer.perform({
      tenant: record.tenant,
      runId: record.runId,
      workflowId: record.workflowId,
      epoch,
      holdsClaim,
      principal: record.principal,
      configurable: record.configurable,
      limits: record.limits,
      effect,
      traceparent: () => traceparentAt(startOf(events, effect.key)),
      progress(chunk, onRecorded) {
        inputs.pushChunk(effect, chunk, onRecorded);
        work();
      },
      say(event) {
        inputs.pushEvent(effect, event);
        work();
      },
      done(outcome, onRecorded) {
        effects.delete(effect.key);
        inputs.push({ type: 'outcome', key: effect.key, attempt: effect.attempt, outcome, onRecorded });
        work();
      },
    });
    effects.set(effect.key, handle);
  }

  function holdsClaim(): boolean {
    if (!phase.isOver && !context.mayWrite(held.holder)) end({ type: 'dropped' });
    return !phase.isOver;
  }

  function abortEffect(key: NodeKey, isLost = false): void {
    effects.get(key)?.abort(isLost);
    effects.delete(key);
  }

  /** Nothing to do now: the run waits for a call, or has ended. */
  function rest(): Promise<void> | undefined {
    if (inputs.isDraining) {
      if (effects.size === 0) end({ type: 'stopped' });
    } else if (effects.size === 0 && !inputs.hasUndecided && mayPark(context, run)) return letGo();
    else armTimer();
    return undefined;
  }

  /** Gives up the claim. */
  async function letGo(): Promise<void> {
    const step = { events: [], signals: [] };
    const write = { epoch, expectedSeq: committedSeq, step, release: true, checkpointSeq };
    const unit = batchUnit(context, run, write);
    if (await commit(unit)) end({ type: 'parked', poked: inputs.isInboxUnread, wakeAt: unit.head.wakeAt });
  }

  function armTimer(): void {
    const due = nextTimer(run);
    if (due === undefined) return;
    const now = clock.now();
    const wait = Math.max(due - now, noTickBefore - now, 1);
    // Looked at again at least once per poll, so that a clock that was set forward is noticed.
    timer = setTimeout(work, Math.min(wait, context.limits.pollMs, LONGEST_TIMEOUT_MS));
    timer.unref();
  }

  function read<Result>(render: (run: LiveRun) => Result): Promise<{ readonly value: Result } | undefined> {
    if (phase.isOver) return Promise.resolve(undefined);
    if (phase.now !== 'committing') return Promise.resolve({ value: render(run) });
    return readers.wait(render);
  }

  function end(ending: Ending): void {
    if (!phase.move('end')) return;
    clearTimeout(timer);
    const isLost = ending.type !== 'finished' && ending.type !== 'parked';
    for (const key of [...effects.keys()]) abortEffect(key, isLost);
    readers.serve(undefined);
    tell(false);
    inputs.refuseAll();
    context.onEnd(actor, ending);
  }

  return actor;
}
