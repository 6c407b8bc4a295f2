import { isJsonObject, type Json } from '@weft/protocol';
import { MASK, mayHoldCredential, redactText } from '../credential-shapes.ts';

/**
 * Credentials by their shape, also where another spelling hides it: behind an escape of JSON inside JSON, percent-encoded,
 * or in base64. Dearer than the check every event goes through when it is written; a bundle leaves the house, so it pays.
 */

/** Nothing shorter can hold a credential of any shape we know. */
const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
/** Whole tokens, looked into afterwards: a pattern that seeks the escape itself would go over long texts again and again. */
const TOKEN = /[^\s"'<>]+/g;
const PERCENT = /%[0-9A-Fa-f]{2}/;
const ESCAPES = /\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}/g;
const MAY_BE_ENCODED = /\\[nrtbfu]|%[0-9A-Fa-f]{2}|[A-Za-z0-9+/_-]{24}/;

/** Stands in for the word boundary that an escape swallows; never part of a credential. */
const BOUNDARY = '\u0001';

export function redactCredentials(text: string): string {
  const plain = redactText(text);
  if (!MAY_BE_ENCODED.test(plain)) return plain;
  return redactBase64(redactPercent(redactEscaped(plain)));
}

/** The value with every string, names of members included, put through `redactCredentials`; the same one if nothing changed. */
export function redactCredentialsIn(value: Json): Json {
  if (typeof value === 'string') return redactCredentials(value);
  if (Array.isArray(value)) {
    const items = value.map(redactCredentialsIn);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    const shown: [string, Json] = [redactCredentials(key), redactCredentialsIn(member)];
    if (shown[0] !== key || shown[1] !== member) changed = true;
    return shown;
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** In `\nsk-…` and `%3Dsk-…` the key begins inside a word; a boundary behind each escape makes it visible. */
function redactEscaped(text: string): string {
  if (!mayHoldCredential(text) || text.includes(BOUNDARY)) return text;
  const marked = text.replace(ESCAPES, `$&${BOUNDARY}`);
  return marked === text ? text : redactText(marked).replaceAll(BOUNDARY, '');
}

function redactPercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(TOKEN, (token) =>
    PERCENT.test(token) && holdsCredential(percentDecoded(token)) ? MASK : token,
  );
}

function redactBase64(text: string): string {
  return text.replace(BASE64, (run) => (holdsCredential(base64Decoded(run)) ? MASK : run));
}

function holdsCredential(text: string): boolean {
  return mayHoldCredential(text) && redactText(text) !== text;
}

/** Byte by byte: what is not valid UTF-8 must not hide what stands beside it. */
function percentDecoded(token: string): string {
  return token
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function base64Decoded(run: string): string {
  const body = run.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  // A last group of one character holds no byte.
  return atob(body.length % 4 === 1 ? body.slice(0, -1) : body);
}
