import type { Span } from '@weft/protocol';
import type { CreationRecord } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';

/** What telemetry may ask of the engine. It asks for the host itself, not on behalf of a caller. */
export interface TelemetrySource {
  /** From now on the observer is told what has happened. Returns the way to stop. */
  observe(observer: Observer): () => void;
  /** The spans of a run, read off its log, at most `limit` of them; undefined for an unknown run. */
  runSpans(runId: string, limit: number): Promise<RunSpans | undefined>;
  /** How many milliseconds ago the run became due that has waited longest for a holder; 0 when none waits. */
  longestWaitMs(): Promise<number>;
}

/**
 * Told after the fact and in the middle of the work, so each call must be short, and must not throw. What another process
 * has written is not told here.
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
