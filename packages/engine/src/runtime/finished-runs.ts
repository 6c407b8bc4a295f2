import type { CreationRecord, RunStatus } from '../core/run-state.ts';
import type { StoredEvent } from '../store.ts';

/**
 * Runs that began and ended in one write, kept for whoever asks for their events next, usually the client that has just
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

/** What an event takes in memory beside its payload. */
const EVENT_OVERHEAD_BYTES = 250;
const KEPT_MS = 5_000;

export function createFinishedRuns(maxBytes: number, monotonic: () => number): FinishedRuns {
  const kept = new Map<string, FinishedRun & { readonly bytes: number; readonly until: number }>();
  let total = 0;
  return {
    put(record, status, events) {
      let bytes = 0;
      for (const event of events) bytes += EVENT_OVERHEAD_BYTES + event.payload.length;
      if (bytes > maxBytes / 16) return;
      kept.set(record.runId, { record, status, events, bytes, until: monotonic() + KEPT_MS });
      total += bytes;
      // A Map is in order of insertion: the oldest go first.
      for (const [runId, oldest] of kept) {
        if (total <= maxBytes) break;
        kept.delete(runId);
        total -= oldest.bytes;
      }
    },
    get(runId, tenant) {
      const run = kept.get(runId);
      return run?.record.tenant === tenant && monotonic() < run.until ? run : undefined;
    },
    drop(runId) {
      total -= kept.get(runId)?.bytes ?? 0;
      kept.delete(runId);
    },
  };
}
