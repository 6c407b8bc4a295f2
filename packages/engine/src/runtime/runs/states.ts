import { decodeCooperatively, FOLD_VERSION } from '../../core/fold/checkpoint.ts';
import { evolve, initialState } from '../../core/fold/evolve.ts';
import { fromStored } from '../../core/fold/from-stored.ts';
import { stateBytes } from '../../core/json/heap-bytes.ts';
import { readInputs } from '../../core/json/lazy-inputs.ts';
import type { Plan } from '../../core/compile/plan.ts';
import type { CreationRecord, RunState } from '../../model/run-state.ts';
import type { CooperativeTask } from '../../core/json/cooperative-task.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import type { RunLog, RunRow, StoredEvent } from '../../ports/store.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import { createGate } from '../fairness/gate.ts';
import { runCooperatively, nextTurn } from '../fairness/run-cooperatively.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Plans } from '../workflows/plans.ts';

/**
 * States rebuilt from the store: the newest usable checkpoint, and the events after it in pages. A few at a time, tenants in
 * turn, and each in steps: a state may be large, and so may be the number of those who want one.
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

interface Kept {
  readonly state: RunState;
  readonly bytes: number;
}

const PAGE_EVENTS = 1_000;
const PAGE_BYTES = 1024 * 1024;
/** What is done with a larger one takes a turn of its own. */
export const LARGE_STATE_BYTES = 1024 * 1024;

export function createRunStates(
  store: RunLog,
  plans: Plans,
  limits: Pick<HostLimits, 'hostReads' | 'tenantReads' | 'keptStateBytes'>,
): RunStates {
  /** By run; what was folded before a run was erased is not found afterwards. */
  const kept = createBoundedCache<string, Kept>(limits.keptStateBytes);
  /** Who wants a run that is being rebuilt waits for that. */
  const underWay = new Map<string, Promise<unknown>>();
  const gate = createGate({ inAll: limits.hostReads, perTenant: limits.tenantReads });

  async function fold(record: CreationRecord, seq: number): Promise<Folded> {
    const { tenant } = record;
    const plan = await plans.get(record.definitionDigest, tenant);
    const checkpoint = seq === 0 ? undefined : await store.readCheckpoint(record.runId);
    const usable =
      checkpoint !== undefined && checkpoint.foldVersion === FOLD_VERSION && checkpoint.seq <= seq
        ? checkpoint
        : undefined;
    const state = await runCooperatively(
      tenant,
      usable === undefined ? beginCooperatively(record, plan) : decodeCooperatively(usable.state),
    );
    await foldForward(record, state, seq);
    return { plan, state, checkpointSeq: usable?.seq ?? 0 };
  }

  async function foldForward({ runId, tenant }: CreationRecord, state: RunState, seq: number): Promise<void> {
    while (state.nextSeq < seq) {
      const wanted = Math.min(PAGE_EVENTS, seq - state.nextSeq);
      const page = await store.readEvents(runId, state.nextSeq, wanted, PAGE_BYTES);
      if (page.length === 0) return checkEnd(runId, state.nextSeq);
      await runCooperatively(tenant, folded(runId, state, page));
      // A store may answer without ever leaving this turn, and a log may be long.
      if (state.nextSeq < seq) await nextTurn(tenant);
    }
  }

  /** A request beyond the end gets what there is; but every event that the run's row counts must exist. */
  async function checkEnd(runId: string, seq: number): Promise<void> {
    const row = await store.readRun(runId, undefined);
    if (row !== undefined && row.nextSeq > seq) throw new DamagedRunError(runId, seq);
  }

  /** Takes what is kept out of the cache and brings it up to date. */
  async function bringUp(key: string, { record, nextSeq }: RunRow): Promise<Kept> {
    const known = kept.get(key)?.state;
    kept.delete(key);
    if (known !== undefined) await foldForward(record, known, nextSeq);
    const state = known ?? (await fold(record, nextSeq)).state;
    return { state, bytes: stateBytes(state) };
  }

  return {
    upTo: (record, seq) => gate.pass(record.tenant, () => fold(record, seq)),
    drop(runId) {
      for (const key of [runId, erasedKey(runId)]) kept.delete(key);
    },
    async current(row, use) {
      const { record } = row;
      const plan = await plans.get(record.definitionDigest, record.tenant);
      const key = row.erasedAt === undefined ? record.runId : erasedKey(record.runId);
      for (;;) {
        if ((kept.get(key)?.bytes ?? 0) > LARGE_STATE_BYTES) await nextTurn(record.tenant);
        const known = kept.get(key);
        if (known !== undefined && known.state.nextSeq >= row.nextSeq) return use(plan, known.state);
        const rebuilding = underWay.get(key);
        if (rebuilding === undefined) break;
        await rebuilding.catch(() => undefined);
      }
      const rebuilt = gate.pass(record.tenant, async () => {
        const found = await bringUp(key, row);
        if (found.bytes > LARGE_STATE_BYTES) await nextTurn(record.tenant);
        const result = use(plan, found.state);
        kept.set(key, found, found.bytes);
        return result;
      });
      underWay.set(key, rebuilt);
      try {
        return await rebuilt;
      } finally {
        underWay.delete(key);
      }
    },
  };
}

function erasedKey(runId: string): string {
  return `${runId} erased`;
}

function* beginCooperatively(record: CreationRecord, plan: Plan): CooperativeTask<RunState> {
  yield* readInputs(record);
  return initialState(record, plan);
}

function* folded(runId: string, state: RunState, events: readonly StoredEvent[]): CooperativeTask<void> {
  for (const event of events) {
    evolve(state, fromStored(event, runId));
    yield;
  }
}
