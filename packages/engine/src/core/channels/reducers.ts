import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { deepEqual } from '../decide/conditions.ts';

/** How a write changes what a channel holds: one table, folded in the order of the log. */
export const REDUCERS = ['replace', 'append', 'merge', 'counter', 'votes', 'feedback', 'message'] as const;

export type Reducer = (typeof REDUCERS)[number];

export interface ChannelWrite {
  readonly reducer: Reducer;
  readonly value: Json;
  /** Milliseconds since the epoch of the write; on a replay, of the recorded one. */
  readonly at: number;
  readonly ttlMs?: number;
  readonly maxSize?: number;
}

/** Channels whose entries can grow old: each entry is kept as `{value, _ts}`. */
const AGEING: ReadonlySet<Reducer> = new Set(['append', 'votes', 'feedback']);

export function ages(reducer: Reducer, ttlMs: number | undefined): boolean {
  return ttlMs !== undefined && AGEING.has(reducer);
}

export function isReducer(name: unknown): name is Reducer {
  return REDUCERS.some((known) => known === name);
}

/** The value of a write as it is recorded and kept. */
export function wrapEntry(write: ChannelWrite): Json {
  return ages(write.reducer, write.ttlMs) ? { value: write.value, _ts: write.at } : write.value;
}

/** What the channel holds after the write. Old entries go first, then the oldest ones over the size. */
export function reduce(current: Json | undefined, write: ChannelWrite): Json {
  const { reducer, value } = write;
  switch (reducer) {
    case 'replace':
      return value;
    case 'merge':
      return { ...(isJsonObject(current) ? current : {}), ...(isJsonObject(value) ? value : {}) };
    case 'counter':
      return (typeof current === 'number' ? current : 0) + Number(value);
    case 'append':
    case 'feedback':
      return bounded([...fresh(current, write), wrapEntry(write)], write);
    case 'votes': {
      const others = fresh(current, write).filter(
        (entry) => !deepEqual(memberOf(entry, 'userId'), memberOf(value, 'userId')),
      );
      return bounded([...others, wrapEntry(write)], write);
    }
    case 'message': {
      const entries = Array.isArray(current) ? current : [];
      const isKnown = entries.some((entry) =>
        deepEqual(memberOf(entry, 'messageId'), memberOf(value, 'messageId')),
      );
      return isKnown ? entries : [...entries, value];
    }
  }
}

/** Why a value cannot be written to a channel of this reducer; undefined when it can. */
export function shapeProblem(reducer: Reducer, value: Json): string | undefined {
  switch (reducer) {
    case 'replace':
    case 'append':
      return undefined;
    case 'merge':
      return isJsonObject(value) ? undefined : 'a merge channel takes objects';
    case 'counter':
      return typeof value === 'number' ? undefined : 'a counter takes numbers';
    case 'votes':
      return needs(value, 'userId', 'action');
    case 'feedback':
      return needs(value, 'feedback');
    case 'message':
      return needs(value, 'messageId');
  }
}

function needs(value: Json, ...names: string[]): string | undefined {
  const missing = isJsonObject(value) ? names.find((name) => typeof value[name] !== 'string') : names[0];
  return missing === undefined ? undefined : `the value must be an object with the text "${missing}"`;
}

function fresh(current: Json | undefined, { reducer, ttlMs, at }: ChannelWrite): Json[] {
  const entries = Array.isArray(current) ? current : [];
  if (ttlMs === undefined || !ages(reducer, ttlMs)) return entries;
  return entries.filter((entry) => isJsonObject(entry) && Number(entry['_ts']) >= at - ttlMs);
}

function bounded(entries: Json[], { maxSize }: ChannelWrite): Json[] {
  return maxSize === undefined ? entries : entries.slice(-maxSize);
}

/** A member of an entry, whether the entry is kept as it is or with its age. */
function memberOf(entry: Json, name: string): Json {
  const object: JsonObject = isJsonObject(entry) ? entry : {};
  const inner = isJsonObject(object['value']) && '_ts' in object ? object['value'] : object;
  return inner[name] ?? null;
}
