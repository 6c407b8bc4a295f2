import type { TSchema } from 'typebox';
import type { StreamMode } from '../stream-mode-names.ts';

/** One event type: what its payload is, and who gets to see it. */
export interface EventRow {
  readonly type: string;
  readonly family: string;
  readonly payload: TSchema;
  /** `values` means: a snapshot follows this event. */
  readonly modes: readonly StreamMode[];
  /** The last event of a log. */
  readonly terminal: boolean;
  /** The payload admits no member that is not listed. */
  readonly closed: boolean;
  readonly summary: string;
}

export const UPDATES: readonly StreamMode[] = ['updates', 'values', 'debug'];
/** Not shown in `updates`, but it changes the snapshot. */
export const SNAPSHOTS: readonly StreamMode[] = ['values', 'debug'];
/** Stored as `output.chunk`, sent in `messages` as `ai.message.chunk`. */
export const CHUNKS: readonly StreamMode[] = ['messages', 'debug'];
export const DEBUG: readonly StreamMode[] = ['debug'];

const TERMINAL = new Set(['run.completed', 'run.failed', 'run.cancelled']);

export function event(
  type: string,
  modes: readonly StreamMode[],
  payload: TSchema,
  summary: string,
): Omit<EventRow, 'family'> {
  const closed = 'additionalProperties' in payload && payload.additionalProperties === false;
  return { type, payload, modes, terminal: TERMINAL.has(type), closed, summary };
}

export function family(name: string, rows: readonly Omit<EventRow, 'family'>[]): readonly EventRow[] {
  return rows.map((row) => ({ ...row, family: name }));
}
