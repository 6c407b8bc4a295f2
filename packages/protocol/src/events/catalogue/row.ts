import type { TSchema } from 'typebox';
import type { StreamMode } from '../stream-mode-names.ts';

/** One event type: what its payload is, and who gets to see it. */
export interface EventRow<Name extends string = string, Payload extends TSchema = TSchema> {
  readonly type: Name;
  readonly family: string;
  readonly payload: Payload;
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

export function event<const Name extends string, Payload extends TSchema>(
  type: Name,
  modes: readonly StreamMode[],
  payload: Payload,
  summary: string,
): EventRow<Name, Payload> {
  const closed = 'additionalProperties' in payload && payload.additionalProperties === false;
  return { type, family: '', payload, modes, terminal: TERMINAL.has(type), closed, summary };
}

/** The rows under their family's name. Their types stay known: the payloads that programs read are made from them. */
export function family<Row extends EventRow>(name: string, rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => ({ ...row, family: name }));
}
