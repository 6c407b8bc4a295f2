import { performance } from 'node:perf_hooks';
import type { SnapshotStatus } from '@weft/protocol';
import type { Caller, RunEnd, Runs } from '../../host/host.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { isTerminalEvent } from '../../model/run-event.ts';
import { isTerminalStatus, isWaitingStatus } from '../../model/run-state.ts';
import type { Store } from '../../ports/store.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import type { Feed } from '../streams/feed.ts';
import { toWireEvent } from '../streams/wire-event.ts';
import type { FinishedRuns } from './finished-runs.ts';
import { isOver, shownStatus } from './run-status.ts';

export interface EndDependencies {
  readonly store: Pick<Store, 'readRun' | 'readEvents'>;
  readonly dispatcher: Pick<Dispatcher, 'actor'>;
  readonly feed: Feed;
  readonly finished: FinishedRuns;
}

const MAX_EVENT_BYTES = 1024 * 1024;

/** Waits for runs to come to rest. About a run that is held here the store is not asked. */
export function createWaitForEnd(dependencies: EndDependencies): Pick<Runs, 'waitForEnd'> {
  const { store, dispatcher, feed } = dependencies;

  /** Length of the log of a run that is held here and still moves. */
  async function heldMovingAt({ tenant }: Caller, runId: string): Promise<number | undefined> {
    const held = await dispatcher
      .actor(runId)
      ?.read(({ record, state }) =>
        record.tenant === tenant && !isAtRest(state.status) ? state.nextSeq : undefined,
      );
    return held?.value;
  }

  /** As the store has it: where the run came to rest, or the length of its log. Undefined where it does not exist for the caller. */
  async function stored({ tenant }: Caller, runId: string): Promise<RunEnd | number | undefined> {
    const finished = dependencies.finished.get(runId, tenant);
    const ended = finished?.events.at(-1);
    if (finished !== undefined && ended !== undefined)
      return { status: finished.status, event: toWireEvent(finished.record, ended) };
    const row = await store.readRun(runId, tenant);
    if (row === undefined) return undefined;
    const { record, head, nextSeq, pendingCommands } = row;
    const status = shownStatus(head.status, pendingCommands);
    if (!isOver(row) && !isAtRest(status)) return nextSeq;
    const [last] = await store.readEvents(runId, nextSeq - 1, 1, MAX_EVENT_BYTES);
    if (last === undefined) throw new DamagedRunError(runId, nextSeq - 1);
    return { status, event: toWireEvent(record, last) };
  }

  return {
    async waitForEnd(caller, runId, timeoutMs, signal) {
      const attachment = feed.attach(runId);
      const until = performance.now() + timeoutMs;
      /** Length of the log when the run was last looked at. */
      let movingAt: number | undefined;
      try {
        for (;;) {
          const version = attachment.version();
          const news = movingAt === undefined ? undefined : attachment.since(movingAt)?.at(-1);
          if (news !== undefined && isTerminalEvent(news.type))
            return { status: news.type.slice('run.'.length) as SnapshotStatus, event: news };
          movingAt = await heldMovingAt(caller, runId);
          if (movingAt === undefined) {
            const found = await stored(caller, runId);
            if (typeof found !== 'number') return found;
            movingAt = found;
          }
          const left = until - performance.now();
          if (left <= 0 || !(await attachment.changed(version, left, signal))) return undefined;
        }
      } finally {
        attachment.detach();
      }
    },
  };
}

/** Nothing comes of such a run before someone does something. */
function isAtRest(status: SnapshotStatus): boolean {
  return isTerminalStatus(status) || isWaitingStatus(status) || status === 'paused';
}
