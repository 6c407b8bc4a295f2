/** What stands in the place of a hidden value. */
export const MASK = '[REDACTED]';

/** The mark of a resolved secret. Its id is not secret. */
export function secretMark(secretId: string): string {
  return `[REDACTED:${secretId}]`;
}

const HASH_PREFIX = 'sha256:';
const HASH_DIGITS = 64;

export function hashMark(hex: string): string {
  return `${HASH_PREFIX}${hex}`;
}

/** True for a text that is nothing but a mark: it hides something already. */
export function isMark(text: string): boolean {
  return text === MASK || (text.length === HASH_PREFIX.length + HASH_DIGITS && isHashAt(text, 0));
}

export interface MarkRange {
  readonly start: number;
  readonly end: number;
}

/** Marks inside a text, in order. */
export function marksIn(text: string): MarkRange[] {
  const found: MarkRange[] = [];
  for (let at = text.indexOf(MASK); at !== -1; at = text.indexOf(MASK, at + MASK.length))
    found.push({ start: at, end: at + MASK.length });
  for (let at = text.indexOf(HASH_PREFIX); at !== -1; at = text.indexOf(HASH_PREFIX, at + 1)) {
    if (isHashAt(text, at)) found.push({ start: at, end: at + HASH_PREFIX.length + HASH_DIGITS });
  }
  return found.sort((a, b) => a.start - b.start);
}

function isHashAt(text: string, at: number): boolean {
  if (!text.startsWith(HASH_PREFIX, at) || at + HASH_PREFIX.length + HASH_DIGITS > text.length) return false;
  const from = at + HASH_PREFIX.length;
  for (let index = from; index < from + HASH_DIGITS; index++) {
    const code = text.charCodeAt(index);
    if (!((code >= 48 && code <= 57) || (code >= 97 && code <= 102))) return false;
  }
  return true;
}
