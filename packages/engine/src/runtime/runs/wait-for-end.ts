import { performance } from 'node:perf_hooks';
import type { SnapshotStatus } from '@weft/protocol';
import type { Caller, RunEnd, Runs } from '../../host/host.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
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

/** Waits for runs to come to rest. Of a run that is held here the store is asked once at the beginning and once at the end. */
export function createWaitForEnd(dependencies: EndDependencies): Pick<Runs, 'waitForEnd'> {
  const { store, dispatcher, feed } = dependencies;

  /** Where the run came to rest; undefined where it does not exist for the caller. */
  async function endOf({ tenant }: Caller, runId: string): Promise<RunEnd | 'moving' | undefined> {
    const finished = dependencies.finished.get(runId, tenant);
    const ended = finished?.events.at(-1);
    if (finished !== undefined && ended !== undefined)
      return { status: finished.status, event: toWireEvent(finished.record, ended) };
    const row = await store.readRun(runId, tenant);
    if (row === undefined) return undefined;
    const { record, head, nextSeq, pendingCommands } = row;
    const status = shownStatus(head.status, pendingCommands);
    if (!isOver(row) && !isAtRest(status)) return 'moving';
    const [last] = await store.readEvents(runId, nextSeq - 1, 1, MAX_EVENT_BYTES);
    if (last === undefined) throw new DamagedRunError(runId, nextSeq - 1);
    return { status, event: toWireEvent(record, last) };
  }

  /** False where only the store can tell. */
  async function isSeenMoving(runId: string): Promise<boolean> {
    const held = await dispatcher.actor(runId)?.read(({ state }) => state.status);
    return held !== undefined && !isAtRest(held.value);
  }

  return {
    async waitForEnd(caller, runId, timeoutMs, signal) {
      const attachment = feed.attach(runId);
      const until = performance.now() + timeoutMs;
      try {
        for (let mayBeAtRest = true; ; ) {
          const version = attachment.version();
          const found = mayBeAtRest ? await endOf(caller, runId) : 'moving';
          if (found !== 'moving') return found;
          const left = until - performance.now();
          if (left <= 0 || !(await attachment.changed(version, left, signal))) return undefined;
          mayBeAtRest = !(await isSeenMoving(runId));
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
