import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { CREDENTIAL_SHAPES, MASK, mayHoldCredential, redactText } from './credential-shapes.ts';
import { createLiteralSearch, type LiteralMatch, MIN_LITERAL } from './literal-search.ts';
import type { MaskingMode } from './plan.ts';
import { secretForms } from './secret-forms.ts';

/**
 * Keeps secrets out of what others see. Two nets, both by value, never by name:
 *
 * 1. What is known to be sensitive: its strings wherever they occur, also inside other strings and in their usual
 *    encodings, and its numbers where they are equal. Off in `passthrough`.
 * 2. What looks like a credential, in every mode.
 *
 * A part of a string becomes the mark (or its hash) in every mode, `omit` included: cutting it out could join what stood
 * around it. Marks are never masked again, so applying twice is applying once.
 */

export { CREDENTIAL_SHAPES, redactText };

export interface Redactor {
  /**
   * The payload as others may see it, or undefined when there is nothing to mask. `text` is the payload as serialized: one
   * cheap pass over it answers for nearly every event.
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
      return `sha256:${sha256Hex(typeof value === 'string' ? value : canonicalJson(value))}`;
  }
}

export function createRedactor(options: RedactorOptions): Redactor {
  const { mode, sha256Hex } = options;
  const secrets = collectSecrets(mode === 'passthrough' ? [] : options.sensitive);
  const publicNames = new Set(options.publicNames ?? []);
  const literals = createLiteralSearch(secrets.originals.keys());
  const inText = createLiteralSearch(
    [...secrets.originals.keys(), ...secrets.numerals].map((form) => JSON.stringify(form).slice(1, -1)),
  );

  const markFor = (secret: string): string => {
    const mark = mode === 'hash' ? maskValue(secret, mode, sha256Hex) : MASK;
    return typeof mark === 'string' ? mark : MASK;
  };

  const redactParts = (text: string): string => {
    const matches = outsideMarks(text, literals.find(text));
    let result = '';
    let from = 0;
    for (const { start, end } of matches) {
      const form = text.slice(start, end);
      result += text.slice(from, start) + markFor(secrets.originals.get(form) ?? form);
      from = end;
    }
    return redactText(from === 0 ? text : result + text.slice(from));
  };

  const redactString = (text: string): Json | undefined => {
    if (publicNames.has(text)) return text;
    const original = secrets.originals.get(text) ?? (secrets.numerals.has(text) ? text : undefined);
    return original === undefined ? redactParts(text) : maskValue(original, mode, sha256Hex);
  };

  const redactValue = (value: Json): Json | undefined => {
    if (typeof value === 'string') return redactString(value);
    if (typeof value === 'number')
      return secrets.numerals.has(String(value)) ? maskValue(value, mode, sha256Hex) : value;
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
      const masked = redactValue(value);
      if (maskedKey !== key || masked !== value) changed = true;
      if (masked !== undefined) entries.push([maskedKey, masked]);
    }
    return changed ? Object.fromEntries(entries) : object;
  };

  return {
    redactText: redactParts,
    apply(payload, text) {
      if (!inText.occursIn(text) && !mayHoldCredential(text)) return undefined;
      const masked = redactObject(payload);
      return masked === payload ? undefined : masked;
    },
  };
}

interface Secrets {
  /** Every form a secret string may take → the secret. */
  readonly originals: ReadonlyMap<string, string>;
  /** Numbers of at least four digits, in decimal. */
  readonly numerals: ReadonlySet<string>;
}

function collectSecrets(values: Iterable<Json>): Secrets {
  const originals = new Map<string, string>();
  const numerals = new Set<string>();
  const collect = (value: Json): void => {
    if (typeof value === 'string') {
      if (value.length >= MIN_LITERAL && !MARKS.test(value)) addForms(originals, value);
    } else if (typeof value === 'number') {
      if (String(value).replace(/\D/g, '').length >= MIN_LITERAL) numerals.add(String(value));
    } else if (value !== null && typeof value === 'object') {
      for (const inner of Object.values(value)) collect(inner);
    }
  };
  for (const value of values) collect(value);
  return { originals, numerals };
}

function addForms(originals: Map<string, string>, secret: string): void {
  originals.set(secret, secret);
  for (const form of secretForms(secret)) {
    if (form.length >= MIN_LITERAL && !originals.has(form)) originals.set(form, secret);
  }
}

/** A value that is nothing but a mark hides nothing. */
const MARKS = /^(?:\[REDACTED\]|sha256:[0-9a-f]{64})$/;
const MARKS_INSIDE = /\[REDACTED\]|sha256:[0-9a-f]{64}/g;

/** A secret such as "REDA" must not eat into a mark. */
function outsideMarks(text: string, matches: LiteralMatch[]): LiteralMatch[] {
  if (matches.length === 0) return matches;
  const marks = [...text.matchAll(MARKS_INSIDE)].map((mark) => ({
    start: mark.index,
    end: mark.index + mark[0].length,
  }));
  if (marks.length === 0) return matches;
  return matches.filter((match) => !marks.some((mark) => match.start >= mark.start && match.end <= mark.end));
}
