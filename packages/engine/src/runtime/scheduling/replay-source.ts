import { causeOf } from '../../core/fold/overlay.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import { createRecordedInputs } from '../../core/replay/recorded-inputs.ts';
import { createReplay, hasDiverged } from '../../core/replay/replay.ts';
import { isTerminalEvent } from '../../model/run-event.ts';
import type { RunRow, Store, StoredEvent } from '../../ports/store.ts';
import { yieldTurn } from '../../ports/clock.ts';
import type { InputSource } from './input-source.ts';

/** More than one batch can record. */
const AHEAD_EVENTS = 4_096;
const PAGE_EVENTS = 1_000;
const BACK_EVENTS = 200;
const PAGE_BYTES = 1024 * 1024;

/**
 * Where the newest branch among a run and those it repeats began; 0 when there is none. A branch may begin inside a unit, so a replay
 * of it takes over what comes before, and begins as it did.
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
 * Where to begin a replay of a log that was cut at `cut`: with the unit that the cut goes through. Its facts up to the cut are decided again
 * but not recorded again.
 */
export async function beginningOf(
  store: Pick<Store, 'readRun' | 'readEvents'>,
  runId: string,
  cut: number,
): Promise<number> {
  const floor = await branchBeginning(store, await store.readRun(runId, undefined));
  for (let end = cut + 1; end > floor; ) {
    const from = Math.max(floor, end - BACK_EVENTS);
    const page = await readWhole(store, runId, from, end);
    const begin = page.findLast((event) => causeOf(event) !== undefined);
    if (begin !== undefined) return begin.seq;
    end = from;
  }
  return floor;
}

/** A page may hold less than was asked for. */
async function readWhole(
  store: Pick<Store, 'readEvents'>,
  runId: string,
  from: number,
  end: number,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  while (from + events.length < end) {
    const at = from + events.length;
    const page = await store.readEvents(runId, at, end - at, PAGE_BYTES);
    if (page.length === 0) break;
    events.push(...page);
  }
  return events;
}

/**
 * The rest of the unit through which a replay was cut that has not gone further itself: it stands in what that one repeats. Empty where it is not
 * cut, or is unknown there, too.
 */
async function restOfCutUnit(
  store: Pick<Store, 'readRun' | 'readEvents'>,
  cut: RunRow,
  length: number,
): Promise<StoredEvent[]> {
  for (let { fork } = cut.record; fork?.mode === 'replay' && fork.fromSeq === length; ) {
    const source = await store.readRun(fork.sourceRunId, cut.record.tenant);
    const end = Math.min(source?.nextSeq ?? 0, fork.sourceLength ?? Number.POSITIVE_INFINITY);
    if (end > length) {
      const page = await readWhole(store, fork.sourceRunId, length, Math.min(end, length + AHEAD_EVENTS));
      const next = page.findIndex((event) => causeOf(event) !== undefined);
      return next === -1 ? page : page.slice(0, next);
    }
    fork = source?.record.fork;
  }
  return [];
}

/** The inputs of a replay. Its source is read ahead in pages, so memory does not grow with its length. */
export async function openReplay(
  store: Pick<Store, 'readRun' | 'readEvents'>,
  run: LiveRun,
): Promise<InputSource | undefined> {
  const { fork } = run.record;
  if (fork === undefined) return undefined;
  const source = await store.readRun(fork.sourceRunId, run.record.tenant);
  if (source === undefined) return undefined;
  const length = Math.min(fork.sourceLength ?? source.nextSeq, source.nextSeq);
  const reader = createRecordedInputs(run.plan, run.state, fork.sourceRunId);
  // Once apart from its source, a run may still wait for something that stands anywhere after the fork.
  let readTo = hasDiverged(run) ? fork.fromSeq : run.state.nextSeq;
  let firstKept = readTo;
  let kept: StoredEvent[] = [];
  let isOver = false;

  const { nextSeq, lastAt } = run.state;
  // A branch that has not begun yet will begin like this.
  if (nextSeq > 0 && nextSeq === length && nextSeq === (await branchBeginning(store, source)))
    reader.recordedInputs.push({ seq: nextSeq, at: lastAt, input: { type: 'forked' } });

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
      reader.push(event);
      // Once apart, what came from outside still matters, but not what was made of it.
      if (!replay.isApart) kept.push(event);
      if (isTerminalEvent(event.type)) isOver = true;
    }
    readTo = page.length === 0 ? length : readTo + page.length;
    if (readTo < length) return;
    if (source !== undefined)
      for (const event of await restOfCutUnit(store, source, length)) reader.push(event);
    reader.end();
  }

  const inputs: InputSource = {
    async readAhead(seq) {
      if (seq - firstKept > AHEAD_EVENTS) {
        kept = kept.slice(seq - firstKept);
        firstKept = seq;
      }
      const wanted = replay.isApart ? length : Math.min(length, seq + AHEAD_EVENTS);
      while (readTo < wanted || (readTo < length && (reader.openFrom() ?? readTo) <= seq)) {
        await readPage();
        // Once apart, all that is left is read: it may be long, and a store may answer without ever leaving this turn.
        await yieldTurn();
      }
    },
    next() {
      const found = replay.next();
      if (found === undefined) return undefined;
      const { input, now } = found;
      return { ...input, recorded: { now, canContinue: replay.canContinue } };
    },
  };
  // A log that cannot be replayed is found out before anything is decided by it.
  await inputs.readAhead(nextSeq);
  return inputs;
}
