import { IN, isIn } from './alphabets.ts';
import type { Form } from './credential-table.ts';
import type { Runs } from './runs.ts';

/** Where a part of a shape stands, and what of it is to be hidden. */
export interface Found {
  readonly end: number;
  readonly hiddenStart: number;
  readonly hiddenEnd: number;
}

/** The parts of shapes that take more than a run of characters to recognise. `from` is where the part would begin. */
export function matchForm({ form }: Form, text: string, from: number, runs: Runs): Found | undefined {
  switch (form) {
    case 'userinfo':
      return userinfo(text, from, runs);
    case 'basic':
      return basic(text, from, runs);
    case 'privateKey':
      return privateKey(text, from, runs);
    case 'block':
      return whole(from, blockEnd(text, from, runs));
    case 'rest':
      return whole(from, text.length);
  }
}

function whole(start: number, end: number): Found {
  return { end, hiddenStart: start, hiddenEnd: end };
}

/** `user:password@`, behind `scheme://`. The last @ counts: someone may have forgotten to encode one in the password. */
function userinfo(text: string, from: number, runs: Runs): Found | undefined {
  if (!isIn(IN.dashed, text.charCodeAt(from - '://'.length - 1))) return undefined;
  // No run of these characters goes beyond the next slash, so none is gone through twice.
  let colon = -1;
  let last = -1;
  let at = from;
  for (; at < text.length && isIn(IN.authority, text.charCodeAt(at)); at++) {
    const code = text.charCodeAt(at);
    if (code === COLON && colon === -1) colon = at;
    else if (code === AT_SIGN) last = at;
  }
  runs.spend(at - from + 1);
  if (colon === -1 || colon + 1 >= last || isPlaceholder(text.slice(colon + 1, last))) return undefined;
  return { end: last, hiddenStart: colon + 1, hiddenEnd: last };
}

/** What a person writes where a password is to be put in: `{password}`, `$PASSWORD`, `${PASSWORD}`, `***`. */
function isPlaceholder(password: string): boolean {
  return password.length <= MAX_PLACEHOLDER && /^(?:\{\w+\}|\$[A-Z_]+|\$\{[A-Z_]+\}|\*+)$/.test(password);
}

const MAX_PLACEHOLDER = 64;

const COLON = 0x3a;
const AT_SIGN = 0x40;

const MIN_BASIC = 8;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Base64 of `user:password`. Words that are not base64 of a text with a colon are just words. */
function basic(text: string, from: number, runs: Runs): Found | undefined {
  const end = runs.endOf(IN.base64, from);
  if (end - from < MIN_BASIC) return undefined;
  runs.spend(end - from);
  const pair = textInBase64(text.slice(from, end));
  return pair?.includes(':') === true ? whole(from, end) : undefined;
}

function textInBase64(run: string): string | undefined {
  const padding = run.indexOf('=');
  const body = padding === -1 ? run : run.slice(0, padding);
  if (body.length % 4 === 1) return undefined;
  try {
    const decoded = utf8.decode(Uint8Array.from(atob(body), (sign) => sign.charCodeAt(0)));
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u001f\u007f]/.test(decoded) ? undefined : decoded;
  } catch {
    return undefined; // no UTF-8
  }
}

const MAX_LABEL = 60;
const DASHES = '-----';

/** From the label behind `-----BEGIN ` to the end of the block. */
function privateKey(text: string, from: number, runs: Runs): Found | undefined {
  const labelEnd = runs.endOf(IN.label, from);
  if (labelEnd - from > MAX_LABEL) return undefined;
  if (!text.slice(from, labelEnd).endsWith('PRIVATE KEY') || !text.startsWith(DASHES, labelEnd))
    return undefined;
  return whole(from, blockEnd(text, labelEnd + DASHES.length, runs));
}

/** Without an end line, everything that follows is taken for the key. */
function blockEnd(text: string, from: number, runs: Runs): number {
  const last = text.indexOf('-----END ', from);
  runs.spend((last === -1 ? text.length : last) - from);
  if (last === -1) return text.length;
  const closed = text.slice(last + DASHES.length, last + DASHES.length + MAX_LABEL).indexOf(DASHES);
  return closed === -1 ? text.length : last + 2 * DASHES.length + closed;
}
