import { isJsonObject, type Json } from '@weft/protocol';
import { secretForms } from '../../core/secret-forms.ts';

/**
 * Replaces secret values by `[REDACTED:<secretId>]`, wherever they stand and in their usual encodings.
 *
 * M1. Values of fewer than eight characters are left alone: they would match by accident.
 * M2. Where values overlap, everything that any of them covers is replaced by one mark, so that no end of one sticks out.
 * M3. Of text that comes in pieces, what could be the beginning of a value is held back until it is known.
 */
export interface SecretMask {
  add(secretId: string, value: string): void;
  text(text: string): string;
  /** Strings, numbers and names of members at any depth. Names in `keep` belong to the shape and stay. */
  json<Value extends Json | undefined>(value: Value, keep?: ReadonlySet<string>): Value;
  /** For one text in several pieces. */
  pieces(): PieceMask;
  /** For one sequence of bytes in several pieces; values are looked for as UTF-8. */
  bytes(): ByteMask;
}

export interface PieceMask {
  /** What may be shown by now; after the last piece, everything. */
  next(piece: string, isLast: boolean): string;
}

export interface ByteMask {
  next(piece: Uint8Array, isLast: boolean): Uint8Array;
}

export const MIN_SECRET_LENGTH = 8;

/** Spelling → id of the secret. */
type Forms = ReadonlyMap<string, string>;

interface Span {
  readonly start: number;
  end: number;
  readonly secretId: string;
}

const NOTHING_KEPT: ReadonlySet<string> = new Set();

export function createSecretMask(): SecretMask {
  const forms = new Map<string, string>();
  const byteForms = new Map<string, string>();

  function text(from: string): string {
    return replace(from, spansIn(from, forms), from.length);
  }

  function json(value: Json, keep: ReadonlySet<string>): Json {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') {
      const masked = text(String(value));
      return masked === String(value) ? value : masked;
    }
    if (Array.isArray(value)) return value.map((item) => json(item, keep));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [keep.has(name) ? name : text(name), json(member, keep)]),
    );
  }

  return {
    add(secretId, value) {
      for (const form of formsOf(value)) {
        if (!forms.has(form)) forms.set(form, secretId);
        const bytes = Buffer.from(form, 'utf8').toString('latin1');
        if (!byteForms.has(bytes)) byteForms.set(bytes, secretId);
      }
    },
    text,
    json: <Value extends Json | undefined>(value: Value, keep = NOTHING_KEPT): Value =>
      forms.size === 0 || value === undefined ? value : (json(value, keep) as Value),
    pieces: () => createPieceMask(forms),
    bytes() {
      const pieces = createPieceMask(byteForms);
      return {
        next: (piece, isLast) => {
          if (byteForms.size === 0) return piece;
          // One character per byte, so that searching text is searching bytes.
          const latin1 = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1');
          return Buffer.from(pieces.next(latin1, isLast), 'latin1');
        },
      };
    },
  };
}

function formsOf(value: string): readonly string[] {
  if (value.length < MIN_SECRET_LENGTH) return [];
  const hex = Buffer.from(value, 'utf8').toString('hex');
  const forms = [value, ...secretForms(value), hex, hex.toUpperCase()];
  return forms.filter((form) => form.length >= MIN_SECRET_LENGTH);
}

function createPieceMask(forms: Forms): PieceMask {
  let held = '';
  return {
    next(piece, isLast) {
      const text = held + piece;
      const spans = spansIn(text, forms);
      const end = isLast ? text.length : settledEnd(text, spans, forms);
      held = text.slice(end);
      return replace(text, spans, end);
    },
  };
}

/** Where values stand, merged where they overlap, in order. */
function spansIn(text: string, forms: Forms): readonly Span[] {
  const found: Span[] = [];
  for (const [form, secretId] of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
      found.push({ start: at, end: at + form.length, secretId });
    }
  }
  if (found.length < 2) return found;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of found) {
    const last = merged.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push(span);
  }
  return merged;
}

/** The end of what no later piece can change: before the first place from where the text could go on to be a value. */
function settledEnd(text: string, spans: readonly Span[], forms: Forms): number {
  let end = text.length;
  for (const form of forms.keys()) end = Math.min(end, openEnd(text, form));
  const crossing = spans.find((span) => span.start < end && end < span.end);
  return crossing === undefined ? end : crossing.start;
}

/** Where the longest end of the text stands that a form begins with, without being all of it. */
function openEnd(text: string, form: string): number {
  const longest = Math.min(form.length - 1, text.length);
  for (let at = text.length - longest; at < text.length; at++) {
    if (form.startsWith(text.slice(at))) return at;
  }
  return text.length;
}

/** `text` up to `end`, with marks in place of the spans before it. */
function replace(text: string, spans: readonly Span[], end: number): string {
  let result = '';
  let from = 0;
  for (const span of spans) {
    if (span.end > end) break;
    result += `${text.slice(from, span.start)}[REDACTED:${span.secretId}]`;
    from = span.end;
  }
  return from === 0 ? text.slice(0, end) : result + text.slice(from, end);
}
