import { fromStored } from '../../core/fold/from-stored.ts';
import type { Plan } from '../../core/compile/plan.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import { createRecordedInputs } from '../../core/replay/recorded-inputs.ts';
import { createReplay } from '../../core/replay/replay.ts';
import { isSameDecision } from '../../core/replay/same-decision.ts';
import { isTerminalEvent, type RunEvent } from '../../model/run-event.ts';
import type { Input } from '../../core/decide/step.ts';
import type { RunRow, Store, StoredEvent } from '../../ports/store.ts';
import { yieldTurn } from '../../ports/clock.ts';
import type { RecordedMoment } from './decide-batch.ts';

/** A replay as the holder of the run uses it: the source is read ahead in pages, so memory does not grow with its length. */
export interface RunReplay {
  /** Must be awaited before `next`. */
  readAhead(seq: number): Promise<void>;
  /** Undefined when the replay is over. */
  next(): (Input & { readonly recorded: RecordedMoment }) | undefined;
}

/** More than one batch can record. */
const AHEAD_EVENTS = 4_096;
const PAGE_EVENTS = 1_000;
const BACK_EVENTS = 200;
const PAGE_BYTES = 1024 * 1024;

/**
 * Where the newest branch among a run and those it repeats began; 0 when there is none. A branch may begin in the middle of what
 * was decided in one act, so whoever repeats it takes over what comes before, and begins as it did.
 */
export async function branchBeginning(
  store: Pick<Store, 'readRun'>,
  row: RunRow | undefined,
): Promise<number> {
  for (let at = row; at?.record.fork !== undefined; ) {
    const { mode, fromSeq, sourceRunId } = at.record.fork;
    if (mode === 'branch') return fromSeq;
    at = await store.readRun(sourceRunId, undefined);
  }
  return 0;
}

/**
 * Where to begin a replay of a log that was cut at `cut`: before the act that the cut went through. Its facts up to the cut are
 * decided again but not recorded again.
 */
export async function beginningOf(
  store: Pick<Store, 'readRun' | 'readEvents'>,
  plan: Plan,
  runId: string,
  cut: number,
): Promise<number> {
  const floor = await branchBeginning(store, await store.readRun(runId, undefined));
  let begin = cut;
  let after: RunEvent | undefined;
  for (let end = cut + 1; begin > floor; end = begin) {
    const from = Math.max(floor, end - BACK_EVENTS);
    const page = await store.readEvents(runId, from, end - from, PAGE_BYTES);
    for (const stored of [...page].reverse()) {
      const event = fromStored(stored, runId);
      // Said in the middle of whatever act went another way.
      if (event.type === 'replay.diverged') {
        begin = Math.min(cut, event.seq);
        continue;
      }
      if (after !== undefined && !isSameDecision(plan, event, after)) return begin;
      begin = Math.min(cut, event.seq);
      after = event;
    }
    if (page.length === 0) return begin;
  }
  return begin;
}

export async function openReplay(
  store: Pick<Store, 'readRun' | 'readEvents'>,
  run: LiveRun,
): Promise<RunReplay | undefined> {
  const { fork } = run.record;
  if (fork === undefined) return undefined;
  const source = await store.readRun(fork.sourceRunId, run.record.tenant);
  if (source === undefined) return undefined;
  const length = Math.min(fork.sourceLength ?? source.nextSeq, source.nextSeq);
  const reader = createRecordedInputs(run.plan, run.state);
  // Once apart from its source, a run may still wait for something that stands anywhere after the fork.
  let readTo = run.state.diverged === true ? fork.fromSeq : run.state.nextSeq;
  let firstKept = readTo;
  let kept: StoredEvent[] = [];
  let isOver = false;

  const cut = await branchBeginning(store, source);
  if (cut > 0 && run.state.nextSeq === cut && run.state.diverged !== true) {
    const [first] = await store.readEvents(fork.sourceRunId, cut, 1, 1);
    // A branch that has not begun yet will begin like this.
    reader.recordedInputs.push({ seq: cut, at: first?.at ?? run.state.lastAt, input: { type: 'forked' } });
  }

  const replay = createReplay(run, {
    sourceRunId: fork.sourceRunId,
    eventAt: (seq) => kept[seq - firstKept],
    recordedInputs: reader.recordedInputs,
    get isOver() {
      return isOver;
    },
  });

  async function readPage(): Promise<void> {
    const limit = Math.min(PAGE_EVENTS, length - readTo);
    const page = await store.readEvents(fork?.sourceRunId ?? '', readTo, limit, PAGE_BYTES);
    for (const event of page) {
      reader.push(fromStored(event, fork?.sourceRunId));
      // Once apart, what came from outside still matters, but not what was made of it.
      if (!replay.isApart) kept.push(event);
      if (isTerminalEvent(event.type)) isOver = true;
    }
    readTo = page.length === 0 ? length : readTo + page.length;
    if (readTo >= length) reader.end();
  }

  return {
    async readAhead(seq) {
      if (seq - firstKept > AHEAD_EVENTS) {
        kept = kept.slice(seq - firstKept);
        firstKept = seq;
      }
      const wanted = replay.isApart ? length : Math.min(length, seq + AHEAD_EVENTS);
      while (readTo < wanted) {
        await readPage();
        // Once apart, all that is left is read: it may be long, and a store may answer without ever leaving this turn.
        await yieldTurn();
      }
    },
    next() {
      const found = replay.next();
      if (found === undefined) return undefined;
      const { input, now } = found;
      return { ...input, recorded: { now, canContinue: () => replay.canContinue(now) } };
    },
  };
}
