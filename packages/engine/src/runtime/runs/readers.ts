import { performance } from 'node:perf_hooks';
import {
  HostError,
  RUN_STATUSES,
  type RunSnapshot,
  type RunSummary,
  type SnapshotStatus,
  toIso,
} from '@weft/protocol';
import { FOLD_VERSION } from '../../core/fold/checkpoint.ts';
import type { Plan } from '../../core/compile/plan.ts';
import { isTerminalStatus, type RunState, type RunStatus, sourceName } from '../../model/run-state.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import type {
  Cursor,
  EventPage,
  Explanation,
  FollowOptions,
  OpenInterrupt,
  Runs,
  SnapshotView,
} from '../../host/host.ts';
import type { RunFilter, RunRow, Store } from '../../ports/store.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import {
  explainQuarantine,
  explainRun,
  explainWaitingFor,
  isParked,
  parkedTasks,
  type WorkerTask,
} from './explain.ts';
import type { Feed } from '../streams/feed.ts';
import type { FinishedRun, FinishedRuns } from './finished-runs.ts';
import { openCursor } from '../streams/follow.ts';
import { openInterrupts } from '../interrupts/interrupts.ts';
import { nextTurn } from '../fairness/run-cooperatively.ts';
import type { Links } from '../interrupts/links.ts';
import { isOver, quarantineOf, shownStatus } from './run-status.ts';
import { snapshotOf } from './snapshot-of.ts';
import { LARGE_STATE_BYTES, type RunStates } from './states.ts';
import type { KeptForReaders } from '../streams/values.ts';
import { toWireEvent } from '../streams/wire-event.ts';
import { createWaitForEnd } from './wait-for-end.ts';

/** What callers may read. Nothing here shows a fact that is not durable: a held run is read between its commits. */
export type Readers = Pick<
  Runs,
  'snapshot' | 'events' | 'waitForEvents' | 'waitForEnd' | 'follow' | 'list' | 'counts' | 'explain'
> & {
  /** Calls `use` with the state of the run, as it is durable. */
  withState<Result>(row: RunRow, use: (plan: Plan, state: RunState) => Result): Promise<Result>;
};

/** Pages that are read for one of a list of which the store cannot tell what is wanted; then the caller asks again. */
const MAX_LOOKS = 200;

export interface ReaderDependencies {
  readonly store: Store;
  readonly dispatcher: Dispatcher;
  readonly feed: Feed;
  readonly states: RunStates;
  readonly finished: FinishedRuns;
  /** Memory for the states that readers of `values` keep. */
  readonly keptStateBytes: number;
  /** Signs links to open questions. */
  readonly links: Links;
  readonly now: () => number;
  /** Tasks of a run that workers perform, as far as this process knows. */
  readonly tasksOf: (runId: string) => Promise<readonly WorkerTask[]>;
}

const PAGE_BYTES = 1024 * 1024;

/** Looking at this many takes less than a tenth of a second. */
const MOST_COUNTED = 25_000;

export function createReaders(dependencies: ReaderDependencies): Readers {
  const { store, dispatcher, feed, states, links } = dependencies;
  const linkTo = links.linkFor('snapshot');
  const isHeld = (runId: string): boolean => dispatcher.actor(runId) !== undefined;
  const kept: KeptForReaders = { bytes: 0, maxBytes: dependencies.keptStateBytes };

  /** From memory when the run is held here and memory is at least as new as the row; else folded from the store. */
  async function withState<Result>(
    row: RunRow,
    use: (plan: Plan, state: RunState) => Result,
  ): Promise<Result> {
    const actor = dispatcher.actor(row.record.runId);
    const size = await actor?.read((run) => run.stateBytes);
    if ((size?.value ?? 0) > LARGE_STATE_BYTES) await nextTurn(row.record.tenant);
    const held = await actor?.read((run) =>
      run.state.nextSeq < row.nextSeq ? undefined : { result: use(run.plan, run.state) },
    );
    return held?.value === undefined ? states.current(row, use) : held.value.result;
  }

  async function view(row: RunRow, mayAnswer: boolean): Promise<SnapshotView> {
    const { record, pendingCommands } = row;
    const quarantined = quarantineOf(row);
    const { snapshot, shown, ...rest } = await withState(row, (plan, state) => {
      const snapshot = snapshotOf(plan, record, state, {
        status: shownStatus(state.status, pendingCommands),
        quarantined,
      });
      const questions = openInterrupts(row, plan, state, linkTo);
      const shown = mayAnswer
        ? questions
        : questions.map(({ interruptToken: _token, ...question }) => question);
      const linked = shown.length > 0 && mayAnswer ? [`link${links.version()}`] : [];
      const waiting = isTerminalStatus(state.status) ? [] : pendingCommands;
      const erased = row.erasedAt === undefined ? [] : ['erased'];
      const aside = quarantined === undefined ? [] : [`quarantined${quarantined.since}`];
      return {
        snapshot,
        shown,
        seq: state.nextSeq - 1,
        etag: etagOf(record.runId, state.nextSeq, [...waiting, ...linked, ...erased, ...aside]),
      };
    });
    return { snapshot: withQuestions(await snapshot, shown), ...rest };
  }

  return {
    ...createWaitForEnd(dependencies),
    withState,
    async snapshot(caller, runId) {
      const row = await store.readRun(runId, caller.tenant);
      return row === undefined ? undefined : view(row, caller.scopes.has('approvals:respond'));
    },

    async events(caller, runId, afterSeq, limit) {
      const finished = dependencies.finished.get(runId, caller.tenant);
      if (finished !== undefined) return pageOf(finished, afterSeq, limit);
      const row = await store.readRun(runId, caller.tenant);
      if (row === undefined) return undefined;
      const { record, nextSeq, head, pendingCommands } = row;
      const from = Math.max(afterSeq + 1, 0);
      const wanted = Math.min(limit, nextSeq - from);
      const page = wanted > 0 ? await store.readEvents(runId, from, wanted, PAGE_BYTES) : [];
      if (wanted > 0 && page.length === 0) {
        // Removed in this very moment, or not there although its row counts it.
        if ((await store.readRun(runId, caller.tenant)) === undefined) return undefined;
        throw new DamagedRunError(runId, from);
      }
      return {
        events: page.map((event) => toWireEvent(record, event)),
        status: shownStatus(head.status, pendingCommands),
        nextSeq,
        complete: isOver(row) && from + page.length >= nextSeq,
      };
    },

    async waitForEvents(runId, afterSeq, timeoutMs, signal) {
      const attachment = feed.attach(runId);
      const until = performance.now() + timeoutMs;
      try {
        for (;;) {
          const version = attachment.version();
          const row = await store.readRun(runId, undefined);
          if (row === undefined || row.nextSeq > afterSeq + 1 || isOver(row)) return;
          const left = until - performance.now();
          if (left <= 0 || !(await attachment.changed(version, left, signal))) return;
        }
      } finally {
        attachment.detach();
      }
    },

    follow({ tenant }, runId, options: FollowOptions): Promise<Cursor | undefined> {
      return openCursor({ store, feed, states, isHeld, kept }, { runId, tenant }, options);
    },

    /** Records may be large and summaries are small: the store is asked for as many bytes as no one waits for, again and again. */
    async list(caller, { status, ...others }, page, signal) {
      const isCancelling = status?.includes('cancelling') === true ? wanted(status) : undefined;
      const isWanted = (row: RunRow): boolean =>
        isCancelling?.(row) !== false &&
        (caller.workspace === undefined || row.record.workspace === caller.workspace);
      const filter: RunFilter = {
        ...others,
        ...(status !== undefined && {
          status: isCancelling === undefined ? (status as RunStatus[]) : stored(status),
        }),
      };
      const rows: RunSummary[] = [];
      let { cursor } = page;
      let looks = 0;
      do {
        looks += 1;
        if (cursor !== page.cursor) await nextTurn(caller.tenant);
        const listed = await store.listRuns(caller.tenant, filter, {
          limit: page.limit - rows.length,
          maxBytes: PAGE_BYTES,
          ...(cursor !== undefined && { cursor }),
        });
        for (const row of listed.rows) if (isWanted(row)) rows.push(summaryOf(row));
        cursor = listed.nextCursor;
        if (signal?.aborted === true) break;
      } while (cursor !== undefined && rows.length < page.limit && looks < MAX_LOOKS);
      return cursor === undefined ? { rows } : { rows, nextCursor: cursor };
    },

    async counts(caller, filter, bucketMs) {
      // Only the records say which workspace a run is of, and no record is read to count it.
      if (caller.workspace !== undefined)
        throw new HostError(
          'forbidden',
          'Runs are counted for the whole tenant; use a key that is bound to no workspace.',
        );
      return await store.countRuns(caller.tenant, filter, bucketMs, MOST_COUNTED);
    },

    async explain(caller, runId): Promise<Explanation | undefined> {
      const row = await store.readRun(runId, caller.tenant);
      if (row === undefined) return undefined;
      const quarantined = quarantineOf(row);
      if (quarantined !== undefined) return explainQuarantine(row, quarantined);
      const tasks = await dependencies.tasksOf(runId);
      const explanation = await withState(row, (plan, state) =>
        explainRun(row, state, dependencies.now(), isParked(row) ? parkedTasks(plan, state) : tasks),
      );
      const { childRunId } = explanation;
      const child = childRunId === undefined ? undefined : await store.readRun(childRunId, caller.tenant);
      const aside = child && quarantineOf(child);
      return aside === undefined ? explanation : explainWaitingFor(explanation, aside);
    },
  };
}

/** Every run that has not ended may be cancelling, which is never stored. */
function stored(status: readonly SnapshotStatus[]): RunStatus[] {
  return RUN_STATUSES.filter(
    (known): known is RunStatus =>
      known !== 'cancelling' && (status.includes(known) || !isTerminalStatus(known)),
  );
}

function wanted(status: readonly SnapshotStatus[]): (row: RunRow) => boolean {
  return ({ head, pendingCommands }) =>
    status.includes(head.status) || shownStatus(head.status, pendingCommands) === 'cancelling';
}

/** While the run waits, the question it waits for stands on the snapshot; all that are open, when there are several. */
function withQuestions(snapshot: RunSnapshot, questions: readonly OpenInterrupt[]): RunSnapshot {
  const [first] = questions;
  if (first === undefined) return snapshot;
  const isWaiting = snapshot.status.startsWith('waiting-');
  return {
    ...snapshot,
    ...(isWaiting && { currentNodeId: first.nodeId, interrupt: first }),
    ...((!isWaiting || questions.length > 1) && { interrupts: questions }),
  };
}

function pageOf({ record, events, status }: FinishedRun, afterSeq: number, limit: number): EventPage {
  const from = Math.max(afterSeq + 1, 0);
  const page = events.slice(from, from + limit).map((event) => toWireEvent(record, event));
  return { events: page, status, nextSeq: events.length, complete: from + page.length >= events.length };
}

function summaryOf(row: RunRow): RunSummary {
  const { record, head } = row;
  const quarantined = quarantineOf(row);
  return {
    runId: record.runId,
    workflowId: record.workflowId,
    workflowVersion: record.workflowVersion,
    status: shownStatus(head.status, row.pendingCommands),
    createdAt: toIso(record.createdAt),
    ...(head.startedAt !== undefined && { startedAt: toIso(head.startedAt) }),
    ...(head.endedAt !== undefined && { completedAt: toIso(head.endedAt) }),
    ...(head.currentNodeId !== undefined && { currentNodeId: head.currentNodeId }),
    ...(head.errorCode !== undefined && { errorCode: head.errorCode }),
    tags: [...record.tags],
    ...(record.source !== undefined && record.fork === undefined && { source: sourceName(record.source) }),
    events: row.nextSeq,
    ...(record.imported !== undefined && { imported: true }),
    ...(row.isDamaged === true && { damaged: true }),
    ...(quarantined !== undefined && { quarantined }),
  };
}

/** A snapshot is a function of the record, the log and the waiting commands; so is its validator. */
function etagOf(runId: string, nextSeq: number, pending: readonly string[]): string {
  const waiting = pending.length === 0 ? '' : `.${pending.join('-')}`;
  return `"${runId}.${nextSeq}.${FOLD_VERSION}${waiting}"`;
}
