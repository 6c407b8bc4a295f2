import type { JsonObject } from '@weft/protocol';

/** An event as the core drafts it: what happened, not yet when or as which number. */
export interface EventDraft {
  readonly type: string;
  readonly nodeId?: string;
  /** The public payload: what streams, polls and bundles show. */
  readonly payload: JsonObject;
  /** The payload before masking, present only where masking changed something. Only the fold reads it. */
  readonly overlay?: JsonObject;
  /** Sequence, in the same run, of the event that caused this one. */
  readonly causeSeq?: number;
}

/** A fact of a run's log. */
export interface RunEvent extends EventDraft {
  readonly seq: number;
  /** Milliseconds since the epoch; never decreases within a run. */
  readonly at: number;
}

/** What the fold reads: the overlay where there is one. */
export function foldPayload(event: EventDraft): JsonObject {
  return event.overlay ?? event.payload;
}

export const TERMINAL_EVENTS = ['run.completed', 'run.failed', 'run.cancelled'] as const;

export function isTerminalEvent(type: string): boolean {
  return type === 'run.completed' || type === 'run.failed' || type === 'run.cancelled';
}
