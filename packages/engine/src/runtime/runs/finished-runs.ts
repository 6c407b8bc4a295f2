import { heapBytesOf } from '../../core/json/heap-bytes.ts';
import type { CreationRecord, RunStatus } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';

/**
 * Runs that began and ended in one write, kept for the next reader of their events, usually the client that has just
 * created them. The log of such a run never changes again, but another process may remove the run; so nothing is kept for long.
 */
export interface FinishedRuns {
  put(record: CreationRecord, status: RunStatus, events: readonly StoredEvent[]): void;
  /** Undefined when the run is not kept, or belongs to another tenant. */
  get(runId: string, tenant: string): FinishedRun | undefined;
  /** The run was removed. */
  drop(runId: string): void;
}

export interface FinishedRun {
  readonly record: CreationRecord;
  readonly status: RunStatus;
  /** The whole log. */
  readonly events: readonly StoredEvent[];
}

interface KeptRun extends FinishedRun {
  /** By the monotonic clock. */
  readonly until: number;
}

/** What an event takes in memory in addition to its payload. */
const EVENT_OVERHEAD_BYTES = 250;
const KEPT_MS = 5_000;

/** In two generations, as in a bounded cache: when the young one is full, the old one is dropped whole. */
export function createFinishedRuns(maxBytes: number, monotonic: () => number): FinishedRuns {
  let young = new Map<string, KeptRun>();
  let old = new Map<string, KeptRun>();
  let youngBytes = 0;
  return {
    put(record, status, events) {
      const most = maxBytes / 16;
      let bytes = heapBytesOf(record.inputs, most) + heapBytesOf(record.configurable, most);
      for (const event of events) bytes += EVENT_OVERHEAD_BYTES + event.payload.length;
      if (bytes > most) return;
      if (youngBytes + bytes > maxBytes / 2) {
        old = young;
        young = new Map();
        youngBytes = 0;
      }
      young.set(record.runId, { record, status, events, until: monotonic() + KEPT_MS });
      youngBytes += bytes;
    },
    get(runId, tenant) {
      const run = young.get(runId) ?? old.get(runId);
      return run?.record.tenant === tenant && monotonic() < run.until ? run : undefined;
    },
    drop(runId) {
      young.delete(runId);
      old.delete(runId);
    },
  };
}
