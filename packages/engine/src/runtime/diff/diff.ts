import type { RunSnapshot } from '@weft/protocol';
import { findDivergence, type LogPages } from '../../core/diff/diff-events.ts';
import type { LogEvent } from '../../core/diff/same-event.ts';
import { stateDiffCooperatively } from '../../core/diff/state-diff.ts';
import type { Plan } from '../../core/compile/plan.ts';
import { isTerminalStatus, type RunState } from '../../model/run-state.ts';
import type { RunLog, RunRow, Store } from '../../ports/store.ts';
import type { Runs } from '../../host/host.ts';
import { runCooperatively, nextTurn } from '../fairness/run-cooperatively.ts';
import { snapshotOf } from '../runs/snapshot-of.ts';
import type { RunStates } from '../runs/states.ts';
import { toWireEvent } from '../streams/wire-event.ts';

export interface DiffDependencies {
  readonly store: RunLog;
  /** The one way to a run's events, wherever they are kept. */
  readonly readEvents: Store['readEvents'];
  readonly states: RunStates;
}

/** Small enough that comparing and writing one page of each side holds no one else up. */
const PAGE_EVENTS = 500;
const PAGE_BYTES = 128 * 1024;

/** Compares two runs as far as each had come when it was asked for. */
export function createDiff(dependencies: DiffDependencies): Pick<Runs, 'diff'> {
  const { store, states } = dependencies;

  async function* pagesOf({ record, nextSeq }: RunRow, signal: AbortSignal): AsyncGenerator<LogEvent[]> {
    for (let from = 0; from < nextSeq; ) {
      await nextTurn(record.tenant);
      signal.throwIfAborted();
      const wanted = Math.min(PAGE_EVENTS, nextSeq - from);
      const page = await dependencies.readEvents(record.runId, from, wanted, PAGE_BYTES);
      if (page.length === 0) throw new Error('the log became shorter while it was compared');
      yield page.map((event) => toWireEvent(record, event));
      from += page.length;
    }
  }

  /** The run as of the events that are compared: a run that has not ended may be further by now. */
  async function stateOf(row: RunRow): Promise<RunSnapshot> {
    const shown = (plan: Plan, state: RunState): Promise<RunSnapshot> =>
      snapshotOf(plan, row.record, state, { status: state.status });
    if (isTerminalStatus(row.head.status)) return await states.current(row, shown);
    const { plan, state } = await states.upTo(row.record, row.nextSeq);
    return await shown(plan, state);
  }

  return {
    async diff(caller, runId, against, signal) {
      const a = await store.readRun(runId, caller.tenant);
      const b = runId === against ? a : await store.readRun(against, caller.tenant);
      if (a === undefined || b === undefined) return undefined;
      const head = { a: runId, b: against, truncated: isPartial(a) || isPartial(b) };
      if (a === b) return { ...head, stateDiff: {}, ...(await findDivergence(nothing(), nothing())) };
      const states = [await stateOf(a), await stateOf(b)] as const;
      const compared = await runCooperatively(caller.tenant, stateDiffCooperatively(...states));
      const pages: [LogPages, LogPages] = [pagesOf(a, signal), pagesOf(b, signal)];
      return { ...head, stateDiff: compared, ...(await findDivergence(...pages)) };
    },
  };
}

/** Not ended, or imported from a bundle that held only the first part of its log. */
function isPartial({ record, head, nextSeq }: RunRow): boolean {
  return !isTerminalStatus(head.status) || (record.imported?.totalEvents ?? nextSeq) > nextSeq;
}

async function* nothing(): AsyncGenerator<LogEvent[]> {}
