import type { StoredEvent } from '../../ports/store.ts';
import { isSameEvent } from '../diff/same-event.ts';
import { nextTrigger } from '../channels/channel-triggers.ts';
import type { LiveRun } from '../decide/live-run.ts';
import { causeOf } from '../fold/overlay.ts';
import { hasWork } from '../decide/advance.ts';
import { attemptOf } from '../steps/steps.ts';
import type { Draft, Payload } from '../../model/run-event.ts';
import { dueTime, isTerminalStatus, type NodeError } from '../../model/run-state.ts';
import type { Input } from '../decide/step.ts';
import type { RecordedInput } from './recorded-inputs.ts';

/**
 * A replay: the run decides everything again, and gets from its source what came from outside, when it came.
 *
 *   following ──a fact differs──► apart
 *
 * following  fact by fact as in the source: a recorded input is given when its place in the log is reached, and time is the source's
 * apart      from the first difference on, which is recorded: a recorded input is given as soon as something waits for it
 *
 * E-26. Nothing is performed. An input that the source does not have fails with `replay_source_missing`; a question that is
 *       unanswered in the source stays open here.
 * E-27. While following, every fact has the source's sequence and time.
 *
 * A cancel of the source is not repeated: its record ends there, and the replay continues (docs/adr/0041).
 */
export interface ReplaySource {
  readonly sourceRunId: string;
  /** Undefined past the end; the caller keeps enough of it at hand. */
  eventAt(seq: number): StoredEvent | undefined;
  /** Oldest first. */
  readonly recordedInputs: RecordedInput[];
  /** True when the source has ended, so that its log can be followed to the last fact. */
  readonly isOver: boolean;
}

type Diverged = Payload<'replay.diverged'>;

export interface Replay {
  /** What to give to the run next; undefined when it has ended, or waits for what the source does not know. */
  next(): { readonly input: Input; readonly now: number } | undefined;
  /** For the batch's budget: false where a unit of the source ends. */
  canContinue(): boolean;
  readonly isApart: boolean;
}

/** Of this very replay: what the log that it began with says of an earlier one is a fact like any other. */
export function hasDiverged({ state, record }: LiveRun): boolean {
  return state.divergedAt !== undefined && state.divergedAt >= (record.fork?.fromSeq ?? 0);
}

export function createReplay(run: LiveRun, source: ReplaySource): Replay {
  let isApart = hasDiverged(run);
  /** Where the run was when it was last continued, and when time last passed. */
  const idleAt = { continue: -1, tick: -1 };
  /** Where the run was when it got its last input. */
  let givenAt = -1;
  /** A difference in the unit that was cut by the fork: its beginning is not recorded again, so it is said at the first fact that is. */
  let unsaid: Draft<'replay.diverged'> | undefined;
  const fromSeq = run.record.fork?.fromSeq ?? 0;
  /** Where the source was cancelled. */
  let recordEnd = Number.POSITIVE_INFINITY;
  const originalAt = (seq: number): StoredEvent | undefined =>
    seq < recordEnd ? source.eventAt(seq) : undefined;

  run.watch = (event) => {
    const known = unsaid;
    if (known !== undefined && event.seq >= fromSeq) {
      unsaid = undefined;
      return known;
    }
    if (isApart) return undefined;
    const original = originalAt(event.seq);
    if (original === undefined && (!source.isOver || recordEnd < Number.POSITIVE_INFINITY)) return undefined;
    if (isRepeated(original, event)) return undefined;
    // The source is itself a replay that went apart here, and said so first.
    if (original?.type === 'replay.diverged' && isRepeated(source.eventAt(event.seq + 1), event))
      return { type: 'replay.diverged', payload: JSON.parse(original.payload) as Diverged };
    isApart = true;
    const said = divergence(source.sourceRunId, event, original);
    // Where the source says that it went apart, the place is taken, and on record.
    if (event.seq >= fromSeq || original?.type === 'replay.diverged') return said;
    unsaid = said;
    return undefined;
  };

  /** What an earlier recorded input has led to as well is no recorded input of its own. */
  function nextRecorded(): RecordedInput | undefined {
    while ((source.recordedInputs[0]?.seq ?? run.state.nextSeq) < run.state.nextSeq)
      source.recordedInputs.shift();
    const [first] = source.recordedInputs;
    // What the fork took over of its source's log stays as it is.
    if (first === undefined || !isCancel(first) || first.seq < fromSeq) return first;
    recordEnd = first.seq;
    return undefined;
  }

  function following(): { input: Input; now: number } | undefined {
    const { nextSeq } = run.state;
    const recorded = nextRecorded();
    if (recorded?.seq === nextSeq) {
      source.recordedInputs.shift();
      run.draining = isPause(recorded.input);
      return { input: recorded.input, now: recorded.at };
    }
    const original = originalAt(nextSeq);
    // The source knows no more, or had something to do where this run has not.
    if (original === undefined || !hasWork(run)) return undefined;
    // A budget has ended the batch inside a unit of the source.
    run.draining = false;
    return { input: { type: 'continue' }, now: original.at };
  }

  function apart(): { input: Input; now: number } | undefined {
    run.draining = false;
    // Which nodes stand ready in a paused run depends on where it was opened: they hold nothing up.
    if (hasWork(run) && idleAt.continue !== run.state.nextSeq)
      return { input: { type: 'continue' }, now: run.state.lastAt };
    const index = source.recordedInputs.findIndex((recorded) => isAwaited(run, recorded.input));
    const [recorded] = index === -1 ? [] : source.recordedInputs.splice(index, 1);
    if (recorded !== undefined)
      return { input: recorded.input, now: Math.max(recorded.at, run.state.lastAt) };
    return cancelled() ?? missing(run);
  }

  /** No node waits for a cancel, but where the fork was cut inside it nothing else is on record. */
  function cancelled(): { input: Input; now: number } | undefined {
    const recorded = source.recordedInputs.find((each) => isCancel(each) && each.seq < fromSeq);
    return recorded && { input: recorded.input, now: Math.max(recorded.at, run.state.lastAt) };
  }

  /** The source has a fact here to which nothing leads in this run, such as that it was itself a replay that went apart. */
  function leave(): void {
    const { nextSeq } = run.state;
    const original = originalAt(nextSeq);
    if (isApart || original === undefined) return;
    isApart = true;
    unsaid = divergence(source.sourceRunId, { seq: nextSeq, type: '' }, original);
  }

  return {
    get isApart() {
      return isApart;
    },
    canContinue() {
      const { nextSeq } = run.state;
      const original = isApart || nextSeq === givenAt ? undefined : originalAt(nextSeq);
      return original === undefined || causeOf(original) === undefined;
    },
    next() {
      if (isTerminalStatus(run.state.status)) return undefined;
      const followed = isApart ? undefined : following();
      const found = followed ?? apart();
      givenAt = run.state.nextSeq;
      // A recorded failure of this kind may be that of an earlier replay, long after the child was there.
      if (found?.input.type === 'child-created') run.spawning.add(found.input.key);
      if (found?.input.type !== 'continue' && found?.input.type !== 'tick') return found;
      if (followed === undefined) leave();
      // Continuing, or letting time pass, twice without a fact in between would be so for ever.
      if (idleAt[found.input.type] === givenAt) return undefined;
      idleAt[found.input.type] = givenAt;
      return found;
    },
  };
}

function isCancel({ input }: RecordedInput): boolean {
  return input.type === 'command' && input.command.type === 'cancel';
}

function isRepeated(original: StoredEvent | undefined, event: StoredEvent): boolean {
  return original !== undefined && original.nodeId === event.nodeId && isSameEvent(original, event);
}

/** That a drain has begun, or that a crash has ended it, is on no record; whatever led to a fact was not held back by one. */
function isPause(input: Input): boolean {
  return input.type === 'command' && input.command.type === 'pause';
}

/** Whether something in the run waits for exactly this. */
function isAwaited(run: LiveRun, input: Input): boolean {
  switch (input.type) {
    case 'outcome':
    case 'progress':
      return run.inFlight.has(input.key) && attemptOf(run, input.key) === input.attempt;
    case 'child-created':
      return run.state.nodes.get(input.key)?.child?.runId === input.childRunId;
    case 'command': {
      const { command } = input;
      if (command.type === 'child') {
        return run.state.nodes.get(command.nodeKey)?.child?.runId === command.childRunId;
      }
      if (command.type === 'channel')
        return run.state.children.some(({ runId }) => runId === command.sourceRunId);
      return (
        command.type === 'resolve' &&
        run.state.suspended.some((key) => run.state.nodes.get(key)?.nodeId === command.nodeId)
      );
    }
    default:
      return false;
  }
}

/** The source knows nothing of what the run waits for: it fails, but for time, which passes, and people, who may still answer. */
function missing(run: LiveRun): { input: Input; now: number } | undefined {
  const now = run.state.lastAt;
  const [effect] = [...run.inFlight].sort();
  if (effect !== undefined) {
    const attempt = attemptOf(run, effect) ?? 0;
    const outcome = { ok: false, error: SOURCE_MISSING } as const;
    return { input: { type: 'outcome', key: effect, attempt, outcome }, now };
  }
  for (const [key, { status, child }] of run.state.nodes) {
    if (status !== 'running' || child === undefined) continue;
    return { input: { type: 'child-created', key, childRunId: child.runId, error: SOURCE_MISSING }, now };
  }
  const due = nextDelay(run);
  return due === undefined ? undefined : { input: { type: 'tick' }, now: Math.max(due, now) };
}

/** The earliest delay, retry or trigger; how long someone may take to answer is not for a replay to decide. */
function nextDelay(run: LiveRun): number | undefined {
  const { state, timers } = run;
  let earliest = nextTrigger(run);
  for (const key of timers) {
    const node = state.nodes.get(key);
    const dueAt = node && dueTime(node);
    if (dueAt === undefined || node?.status === 'suspended') continue;
    if (earliest === undefined || dueAt < earliest) earliest = dueAt;
  }
  return earliest;
}

export const SOURCE_MISSING: NodeError = {
  code: 'replay_source_missing',
  message: 'The run that is replayed has no record of what came of this node, and a replay performs nothing.',
  retryable: false,
};

function divergence(
  sourceRunId: string,
  event: Pick<StoredEvent, 'seq' | 'type'>,
  original: StoredEvent | undefined,
): Draft<'replay.diverged'> {
  const isOtherType = original !== undefined && original.type !== event.type;
  const divergenceKind = original === undefined ? 'extra' : isOtherType ? 'type-mismatch' : 'output';
  const payload: Diverged = {
    sourceRunId,
    atSequence: event.seq,
    divergenceKind,
    divergencePoint: original?.type ?? event.type,
  };
  return { type: 'replay.diverged', payload };
}
