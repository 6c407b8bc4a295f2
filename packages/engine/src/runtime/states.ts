import { decodeState, FOLD_VERSION } from '../core/checkpoint.ts';
import { evolve, fromStored, initialState } from '../core/evolve.ts';
import type { Plan } from '../core/plan.ts';
import type { CreationRecord, RunState } from '../core/run-state.ts';
import { DamagedRunError } from '../damaged-run-error.ts';
import type { RunRow, Store } from '../store.ts';
import { createBoundedCache } from './bounded-cache.ts';
import { yieldTurn } from './clock.ts';
import type { Plans } from './plans.ts';

/**
 * States rebuilt from the store: the newest usable checkpoint, and the events after it in pages.
 *
 * A state has one owner, because `evolve` changes it in place: `current` lends a cached one only for the length of a
 * synchronous call, and while it is being folded forward it is not in the cache.
 */
export interface RunStates {
  /** Calls `use` with the run folded to at least `row.nextSeq`. `use` must neither keep nor change the state. */
  current<Result>(row: RunRow, use: (plan: Plan, state: RunState) => Result): Promise<Result>;
  /** The run was erased or removed: nothing of it stays in memory. */
  drop(runId: string): void;
  /** The run as of the events below `seq`; the caller owns it. */
  upTo(record: CreationRecord, seq: number): Promise<Folded>;
}

export interface Folded {
  readonly plan: Plan;
  readonly state: RunState;
  /** Where the checkpoint it started from ends; 0 without one. */
  readonly checkpointSeq: number;
}

const PAGE_EVENTS = 1_000;
const PAGE_BYTES = 1024 * 1024;
const KEPT_STATES = 64;

export function createRunStates(
  store: Pick<Store, 'readEvents' | 'readCheckpoint' | 'readRun'>,
  plans: Plans,
): RunStates {
  /** By run; what was folded before a run was erased is not found afterwards. */
  const kept = createBoundedCache<string, RunState>(KEPT_STATES);

  async function upTo(record: CreationRecord, seq: number): Promise<Folded> {
    const plan = await plans.get(record.definitionDigest, record.tenant);
    const checkpoint = seq === 0 ? undefined : await store.readCheckpoint(record.runId);
    const usable =
      checkpoint !== undefined && checkpoint.foldVersion === FOLD_VERSION && checkpoint.seq <= seq
        ? checkpoint
        : undefined;
    const state = usable === undefined ? initialState(record, plan) : decodeState(usable.state);
    await foldForward(record.runId, state, seq);
    return { plan, state, checkpointSeq: usable?.seq ?? 0 };
  }

  async function foldForward(runId: string, state: RunState, seq: number): Promise<void> {
    while (state.nextSeq < seq) {
      const page = await store.readEvents(
        runId,
        state.nextSeq,
        Math.min(PAGE_EVENTS, seq - state.nextSeq),
        PAGE_BYTES,
      );
      if (page.length === 0) return checkEnd(runId, state.nextSeq);
      for (const event of page) evolve(state, fromStored(event));
      // A store may answer without ever leaving this turn, and a log may be long.
      if (state.nextSeq < seq) await yieldTurn();
    }
  }

  /** Whoever asked for more than there is gets what there is; but what the run's row counts must be there. */
  async function checkEnd(runId: string, seq: number): Promise<void> {
    const row = await store.readRun(runId, undefined);
    if (row !== undefined && row.nextSeq > seq) throw new DamagedRunError(runId, seq);
  }

  return {
    upTo,
    drop(runId) {
      for (const key of [runId, erasedKey(runId)]) kept.delete(key);
    },
    async current(row, use) {
      const { record } = row;
      const plan = await plans.get(record.definitionDigest, record.tenant);
      const key = row.erasedAt === undefined ? record.runId : erasedKey(record.runId);
      let state = kept.get(key);
      if (state !== undefined && state.nextSeq >= row.nextSeq) return use(plan, state);
      kept.delete(key);
      if (state === undefined) state = (await upTo(record, row.nextSeq)).state;
      else await foldForward(record.runId, state, row.nextSeq);
      const result = use(plan, state);
      kept.set(key, state);
      return result;
    },
  };
}

function erasedKey(runId: string): string {
  return `${runId} erased`;
}
