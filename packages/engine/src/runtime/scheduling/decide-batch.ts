import { advance, headOf, nextWake } from '../../core/decide/advance.ts';
import { encodeState, FOLD_VERSION } from '../../core/fold/checkpoint.ts';
import { usageRows } from '../../core/costs/usage-rows.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import { type CreationRecord, isTerminalStatus } from '../../model/run-state.ts';
import { scheduleOf } from '../schedules/schedule-place.ts';
import { deadRunOf } from '../triggers/dead-runs.ts';
import type { Input, Moment, Step } from '../../core/decide/step.ts';
import type { NewOutboxRow, RunUnit, StoredEvent } from '../../ports/store.ts';
import type { DecidedCommand } from './actor-step.ts';
import type { Clock } from '../../ports/clock.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';

export interface BatchTools {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  /** The outbox rows for these events; committed with them. */
  readonly outbox?: (record: CreationRecord, events: readonly StoredEvent[]) => readonly NewOutboxRow[];
}

/** The moment of an input that comes with its time, and where the batch that it leads to ends at the latest. */
export interface RecordedMoment {
  readonly now: number;
  readonly canContinue: () => boolean;
}

/** One batch of pure decisions, within the budget that keeps other runs moving. */
export function decideBatch(tools: BatchTools, run: LiveRun, input: Input, recorded?: RecordedMoment): Step {
  const { clock, limits } = tools;
  const endsAt = clock.monotonic() + limits.batchMs;
  const firstSeq = run.state.nextSeq;
  const moment: Moment =
    recorded === undefined ? new PresentMoment(clock.now(), tools.random) : { now: recorded.now, random: 0 };
  return advance(run, input, moment, {
    canContinue: recorded?.canContinue,
    maxNodes: limits.batchNodes,
    maxBytes: limits.batchBytes,
    // Not before there is a fact: a replay takes a batch without one for the end of the recorded log.
    spent: () => run.state.nextSeq > firstSeq && clock.monotonic() >= endsAt,
  });
}

/** Draws when chance is asked for, once: nearly no batch has a retry to spread. */
class PresentMoment implements Moment {
  readonly now: number;
  readonly #source: RandomBytes;
  #drawn: number | undefined;

  constructor(now: number, source: RandomBytes) {
    this.now = now;
    this.#source = source;
  }

  get random(): number {
    this.#drawn ??= Buffer.from(this.#source(4)).readUInt32BE(0) / 2 ** 32;
    return this.#drawn;
  }
}

/** True when a run that has nothing queued or in flight may leave memory: it is over, or nothing is due soon. */
export function mayPark(tools: BatchTools, run: LiveRun): boolean {
  if (isTerminalStatus(run.state.status)) return true;
  return !isSoon(tools, nextWake(run));
}

/** A run that wakes then is not worth unloading. */
export function isSoon({ clock, limits }: BatchTools, wakeAt: number | null): boolean {
  return wakeAt !== null && (wakeAt === 0 || wakeAt - clock.now() <= limits.parkAfterMs);
}

export interface BatchWrite {
  readonly epoch: number;
  readonly expectedSeq: number;
  readonly step: Pick<Step, 'events' | 'signals'>;
  /** Gives up the claim with this write. */
  readonly release: boolean;
  /** Length of the log at the newest checkpoint. */
  readonly checkpointSeq: number;
  /** The run comes into being with this write. */
  readonly create?: RunUnit['create'];
  /** The command that the batch has decided. */
  readonly decided?: DecidedCommand | undefined;
  /** There are more inputs, whatever the run seems to wait for: without a holder it is due at once. */
  readonly continues?: boolean;
}

/** The write that makes a batch durable. A checkpoint goes with it when many events have passed, or the run leaves memory. */
export function batchUnit(tools: BatchTools, run: LiveRun, write: BatchWrite): RunUnit {
  const { state, record } = run;
  const passed = state.nextSeq - write.checkpointSeq;
  const over = isTerminalStatus(state.status);
  const { events, signals } = write.step;
  const outbox = tools.outbox?.(record, events);
  // A large state is written the more rarely, so that writing it costs in all no more than the events do.
  const isDue = passed >= Math.max(tools.limits.checkpointEvents, state.nodes.size);
  const checkpointed = !over && (isDue || (write.release && passed > 0));
  const unit: { -readonly [Field in keyof RunUnit]: RunUnit[Field] } = {
    kind: 'run',
    batchId: randomId(tools.random),
    tenant: record.tenant,
    runId: record.runId,
    epoch: write.epoch,
    expectedSeq: write.expectedSeq,
    events,
    head: write.continues === true && !write.release ? { ...headOf(run), wakeAt: 0 } : headOf(run),
  };
  if (write.create !== undefined) unit.create = write.create;
  if (checkpointed)
    unit.checkpoint = { seq: state.nextSeq, foldVersion: FOLD_VERSION, state: encodeState(state) };
  if (write.release) unit.release = true;
  if (outbox !== undefined && outbox.length > 0) unit.outbox = outbox;
  if (signals.length > 0) unit.notify = signals;
  if (write.decided !== undefined) unit.consume = [write.decided];
  return Object.assign(
    unit,
    usageOf(record, events),
    partsOfEnd(tools, run, events, write.create !== undefined),
  );
}

function usageOf(record: CreationRecord, events: readonly StoredEvent[]): Pick<RunUnit, 'usage'> | undefined {
  const usage = usageRows(record, events);
  return usage && { usage };
}

/** What the end of a run means to others: its schedule may start the next run, and a person may have to look at it. */
function partsOfEnd(
  { limits }: BatchTools,
  { record, state }: LiveRun,
  events: readonly StoredEvent[],
  isCreated: boolean,
): Pick<RunUnit, 'wakes' | 'documents'> | undefined {
  if (!isTerminalStatus(state.status)) return undefined;
  const schedule = isCreated ? undefined : scheduleOf(record);
  const letter = deadRunOf(record, events, limits.deadLettersKeptMs);
  return { ...(schedule && { wakes: [schedule] }), ...(letter && { documents: [letter] }) };
}
