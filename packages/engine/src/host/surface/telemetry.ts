import type { Span } from '@weft/protocol';
import type { FiringOutcome } from '../../core/schedules/schedule.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';
import type { IngestAnswer } from './triggers.ts';

/** `refused`: it was not signed as it must be. */
export type IngestOutcome = IngestAnswer['outcome'] | 'refused';

/** What telemetry may ask of the engine. It asks for the host itself, not on behalf of a caller. */
export interface TelemetrySource {
  /** Subscribes the observer. Returns the function that unsubscribes it. */
  observe(observer: Observer): () => void;
  /** The spans of a run, read off its log, at most `limit` of them; undefined for an unknown run. */
  runSpans(runId: string, limit: number): Promise<RunSpans | undefined>;
  /** How many milliseconds ago the run became due that has waited longest for a holder; 0 when none waits. */
  longestWaitMs(): Promise<number>;
}

/**
 * Called after a commit, on the thread that does the work: each call must be short and must not throw. Writes of other
 * processes are not reported.
 */
export interface Observer {
  /** Facts of a run have become durable. `isNew` with the write that created it, which may hold no event yet. */
  committed(record: CreationRecord, events: readonly StoredEvent[], isNew: boolean): void;
  /** A group of writes has been answered by the store. */
  grouped(group: CommittedGroup): void;
  /** A command was decided, so long after it was accepted. */
  decided(lagMs: number): void;
  /** Deliveries were taken from the outbox; the one that had been due longest, for so long. */
  delivering(ageMs: number): void;
  /** A due time of a schedule was dealt with, so long after it; undefined where a backfill asked for it. */
  fired(outcome: FiringOutcome, lateMs: number | undefined): void;
  /** Something was delivered to a trigger. */
  ingested(outcome: IngestOutcome): void;
}

export interface CommittedGroup {
  readonly units: number;
  readonly events: number;
  readonly ms: number;
  /** Writes refused because another holder owns the run. */
  readonly conflicts: number;
}

export interface RunSpans {
  readonly record: CreationRecord;
  /** In the order in which they began. */
  readonly spans: readonly Span[];
  /** Spans beyond the limit. */
  readonly dropped: number;
  /** The run span of a fork's source. */
  readonly source?: { readonly traceId: string; readonly spanId: string };
}
