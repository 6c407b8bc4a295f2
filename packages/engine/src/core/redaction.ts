import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { MaskingMode } from './plan.ts';
import {
  credentialMember,
  credentialSpans,
  mayHoldCredential,
  type TextSpan,
} from './scan/credential-text.ts';
import { createLiteralSearch, type LiteralSearch, type LiteralSpan } from './scan/literal-search.ts';
import { hashMark, isMark, MASK, marksIn } from './scan/marks.ts';

/**
 * Keeps secrets out of what others see. Two nets, both by value, never by name alone:
 *
 * 1. What is known to be sensitive: its strings wherever they occur, also inside other strings and in other spellings, and its
 *    numbers where they are equal. Off in `passthrough`.
 * 2. What looks like a credential, in every mode.
 *
 * A part of a string becomes the mark (or its hash) in every mode, `omit` included: cutting it out could join what stood
 * around it. Marks are never masked again, so applying twice is applying once.
 */
export interface Redactor {
  /**
   * The payload as others may see it, or undefined when there is nothing to mask. `text` is the payload as serialized: where
   * nothing is known to be sensitive, one cheap pass over it answers for nearly every event.
   */
  apply(payload: JsonObject, text: string): JsonObject | undefined;
  /** For messages and log lines. */
  redactText(text: string): string;
}

export interface RedactorOptions {
  readonly mode: MaskingMode;
  /** Values to hide; of objects and arrays, everything inside. Names of members are not secret. */
  readonly sensitive: Iterable<Json>;
  /** Needed for `hash`: hexadecimal SHA-256 of a text's UTF-8 bytes. */
  readonly sha256Hex?: (text: string) => string;
  /** Strings that are public by nature (node ids, type ids): one that stands alone is left as it is. */
  readonly publicNames?: Iterable<string>;
}

/** `mask` gives the mark, `omit` undefined, `hash` a digest; `passthrough` the value itself. */
export function maskValue(
  value: Json,
  mode: MaskingMode,
  sha256Hex?: (text: string) => string,
): Json | undefined {
  switch (mode) {
    case 'mask':
      return MASK;
    case 'omit':
      return undefined;
    case 'passthrough':
      return value;
    case 'hash':
      if (sha256Hex === undefined) throw new Error('The masking mode "hash" needs a SHA-256 function.');
      return hashMark(sha256Hex(typeof value === 'string' ? value : canonicalJson(value)));
  }
}

export function createRedactor(options: RedactorOptions): Redactor {
  const { mode, sha256Hex } = options;
  const values = literalsIn(mode === 'passthrough' ? [] : options.sensitive);
  const publicNames = new Set(options.publicNames ?? []);

  const markFor = (secret: string): string => {
    const mark = mode === 'hash' ? maskValue(secret, mode, sha256Hex) : MASK;
    return typeof mark === 'string' ? mark : MASK;
  };

  const redactParts = (text: string): string => {
    const literals = values.size === 0 ? [] : outsideMarks(text, values.find(text));
    const credentials = credentialSpans(text, 'plain');
    return literals.length + credentials.length === 0 ? text : replaced(text, literals, credentials, markFor);
  };

  const redactString = (text: string): Json | undefined => {
    if (publicNames.has(text)) return text;
    const secret = values.tagOf(text);
    return secret === undefined ? redactParts(text) : maskValue(secret, mode, sha256Hex);
  };

  const redactValue = (value: Json): Json | undefined => {
    if (typeof value === 'string') return redactString(value);
    if (typeof value === 'number')
      return values.tagOf(String(value)) === undefined ? value : maskValue(value, mode, sha256Hex);
    if (Array.isArray(value)) return redactArray(value);
    return isJsonObject(value) ? redactObject(value) : value;
  };

  /** An omitted element becomes null, so that the others keep their places. */
  const redactArray = (list: Json[]): Json[] => {
    const masked = list.map((item) => redactValue(item) ?? null);
    return masked.every((item, at) => item === list[at]) ? list : masked;
  };

  const redactObject = (object: JsonObject): JsonObject => {
    let changed = false;
    const entries: [string, Json][] = [];
    for (const [key, value] of Object.entries(object)) {
      const maskedKey = publicNames.has(key) ? key : redactParts(key);
      const isCredential = typeof value === 'string' && credentialMember(key, value) !== undefined;
      const masked = isCredential ? MASK : redactValue(value);
      if (maskedKey !== key || masked !== value) changed = true;
      if (masked !== undefined) entries.push([maskedKey, masked]);
    }
    return changed ? Object.fromEntries(entries) : object;
  };

  return {
    redactText: redactParts,
    apply(payload, text) {
      if (values.size === 0 && !mayHoldCredential(text)) return undefined;
      const masked = redactObject(payload);
      return masked === payload ? undefined : masked;
    },
  };
}

/** What to look for, each by its own text. */
function literalsIn(values: Iterable<Json>): LiteralSearch<string> {
  const search = createLiteralSearch<string>();
  const collect = (value: Json): void => {
    if (typeof value === 'string') {
      // A value that is nothing but a mark hides nothing.
      if (!isMark(value)) search.add(value, value);
    } else if (typeof value === 'number') search.add(String(value), String(value));
    else if (value !== null && typeof value === 'object')
      for (const inner of Object.values(value)) collect(inner);
  };
  for (const value of values) collect(value);
  return search;
}

/** Values at least this long are not part of a mark by accident. */
const LONG = 16;

/** A secret such as "REDA" must not eat into a mark. */
function outsideMarks(text: string, spans: LiteralSpan<string>[]): LiteralSpan<string>[] {
  if (spans.every(({ tag }) => tag.length >= LONG)) return spans;
  const marks = marksIn(text);
  if (marks.length === 0) return spans;
  let next = 0;
  return spans.filter(({ start, end, tag }) => {
    while ((marks[next]?.end ?? text.length) <= start) next += 1;
    const mark = marks[next];
    const isInside = mark !== undefined && start >= mark.start && end <= mark.end;
    return !isInside || tag.length >= LONG;
  });
}

/** Both lists are in order; what overlaps becomes one mark. */
function replaced(
  text: string,
  literals: readonly LiteralSpan<string>[],
  credentials: readonly TextSpan[],
  markFor: (secret: string) => string,
): string {
  const spans = [
    ...literals.map(({ start, end, tag }) => ({ start, end, mark: () => markFor(tag) })),
    ...credentials.map(({ start, end }) => ({ start, end, mark: () => MASK })),
  ];
  if (literals.length > 0 && credentials.length > 0) spans.sort((a, b) => a.start - b.start);
  let result = '';
  let from = 0;
  for (const { start, end, mark } of spans) {
    if (start >= from) result += text.slice(from, start) + mark();
    from = Math.max(from, end);
  }
  return result + text.slice(from);
}
