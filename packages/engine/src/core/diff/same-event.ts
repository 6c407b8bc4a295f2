import { DIFF_EXCLUDED_NAMES, isJsonObject, type Json } from '@weft/protocol/plain';
import { canonicalText } from '../json/canonical-text.ts';

/** What a comparison reads of an event. */
export interface LogEvent {
  readonly seq: number;
  readonly type: string;
  /** JSON text of the public payload. */
  readonly payload: string;
  /** JSON text of the whole wire document. */
  readonly document: string;
}

/**
 * Whether two events of the same sequence are equal: by type, and by payload in canonical form without the excluded names of
 * its top level. Equal bytes are equal without a look inside.
 */
export function isSameEvent(
  a: Pick<LogEvent, 'type' | 'payload'>,
  b: Pick<LogEvent, 'type' | 'payload'>,
): boolean {
  if (a.type !== b.type) return false;
  return a.payload === b.payload || comparable(a.payload) === comparable(b.payload);
}

function comparable(payload: string): string {
  const value = JSON.parse(payload) as Json;
  if (!isJsonObject(value)) return canonicalText(value);
  return canonicalText(
    Object.fromEntries(Object.entries(value).filter(([name]) => !DIFF_EXCLUDED_NAMES.has(name))),
  );
}
