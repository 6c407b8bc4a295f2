import { IN, isIn } from './alphabets.ts';
import { type Found, matchForm } from './credential-forms.ts';
import { CREDENTIAL_SHAPES, type CredentialShape, type Part, type Run } from './credential-table.ts';
import { Runs } from './runs.ts';
import type { Work } from './work.ts';

/**
 * Finds what looks like a credential, in one pass. At every place the last two characters are looked up in a small table; only
 * where some shape begins with these is it looked at more closely, and there every run of characters is gone through once.
 */
export interface CredentialSpan {
  /** Of what is to be hidden. */
  readonly start: number;
  readonly end: number;
  readonly shape: CredentialShape;
}

interface Candidate {
  readonly begin: string;
  readonly shape: CredentialShape;
}

/** What begins with the same two characters, the longer beginning first: it says more. */
const CANDIDATES: Candidate[][] = [];
/** By two characters of seven bits: position in `CANDIDATES` plus one, or 0. */
const PAIRS = new Uint16Array(1 << 14);
const PAIR_MASK = PAIRS.length - 1;

for (const shape of CREDENTIAL_SHAPES) {
  for (const begin of shape.begins)
    for (const pair of pairsOf(begin, shape)) addCandidate(pair, begin, shape);
}
for (const list of CANDIDATES) list.sort((a, b) => b.begin.length - a.begin.length);

/** By position and character: 1 where it may come third, or fourth. Few words of ordinary text get past both. */
const THIRD = followers(2);
const FOURTH = followers(3);

function addCandidate(pair: number, begin: string, shape: CredentialShape): void {
  const list = CANDIDATES[(PAIRS[pair] ?? 0) - 1];
  if (list === undefined) PAIRS[pair] = CANDIDATES.push([{ begin, shape }]);
  else list.push({ begin, shape });
}

function followers(place: number): Uint8Array {
  const flags = new Uint8Array((CANDIDATES.length + 1) << 7);
  for (const [index, list] of CANDIDATES.entries()) {
    for (let code = 0; code < 128; code++) {
      const isOne = list.some(({ begin, shape }) => mayFollow(begin, shape, place, code));
      if (isOne) flags[((index + 1) << 7) | code] = 1;
    }
  }
  return flags;
}

/** Whether this character may stand at this place of a credential that begins so. */
function mayFollow(begin: string, { parts, anyCase }: CredentialShape, place: number, code: number): boolean {
  if (place < begin.length) {
    const sign = String.fromCharCode(code);
    return begin[place] === (anyCase === true ? sign.toLowerCase() : sign);
  }
  const [part] = parts;
  const index = place - begin.length;
  if (typeof part === 'string') return part.charCodeAt(index) === code || index >= part.length;
  return part === undefined || 'form' in part || index >= part.min || isIn(part.of, code);
}

function pairsOf(begin: string, { anyCase }: CredentialShape): Set<number> {
  const [first = '', second = ''] = begin;
  const spelled = (sign: string): string[] => (anyCase === true ? [sign, sign.toUpperCase()] : [sign]);
  return new Set(
    spelled(first).flatMap((a) => spelled(second).map((b) => (a.charCodeAt(0) << 7) | b.charCodeAt(0))),
  );
}

const NOTHING: readonly CredentialSpan[] = [];

/** Shorter texts are not worth a copy. */
const LONG = 4_096;

/** The one pass that nearly every text gets by with: nothing in it looks like a credential, nor is anything percent-encoded. */
export function isPlain(text: string): boolean {
  // Of every unit only seven bits count. A long text is read as bytes: one loop for both, which V8 has compiled for the short texts of
  // events, took 6 to 60 µs for each character of the first long text that a host met.
  const isNoise = text.length > LONG ? areNoise(Buffer.from(text, 'latin1')) : isNoiseText(text);
  return (isNoise || findCredentials(text).length === 0) && !text.includes('%');
}

function isNoiseText(text: string): boolean {
  let pair = 0;
  for (let at = 0; at < text.length; at++) {
    pair = ((pair << 7) | (text.charCodeAt(at) & 0x7f)) & PAIR_MASK;
    const index = PAIRS[pair] as number;
    if (index === 0) continue;
    if (THIRD[(index << 7) | (text.charCodeAt(at + 1) & 0x7f)] === 0) continue;
    if (FOURTH[(index << 7) | (text.charCodeAt(at + 2) & 0x7f)] === 0) continue;
    return false;
  }
  return true;
}

/** The same for bytes that were decoded: most of them are noise, and not worth being made a text of. */
export function areNoise(bytes: Uint8Array): boolean {
  let pair = 0;
  for (let at = 0; at < bytes.length; at++) {
    pair = ((pair << 7) | ((bytes[at] as number) & 0x7f)) & PAIR_MASK;
    const index = PAIRS[pair] as number;
    if (index === 0) continue;
    if (THIRD[(index << 7) | ((bytes[at + 1] ?? 0) & 0x7f)] === 0) continue;
    if (FOURTH[(index << 7) | ((bytes[at + 2] ?? 0) & 0x7f)] === 0) continue;
    return false;
  }
  return true;
}

/** In order, none inside another. */
export function findCredentials(text: string, work?: Work): readonly CredentialSpan[] {
  if (work !== undefined) work.steps += text.length;
  let found: CredentialSpan[] | undefined;
  let runs: Runs | undefined;
  let free = 0; // what is before this is part of the last one
  let pair = 0;
  for (let at = 0; at < text.length; at++) {
    // What is not ASCII may look like something else here; it is compared in full below.
    pair = ((pair << 7) | (text.charCodeAt(at) & 0x7f)) & PAIR_MASK;
    const index = PAIRS[pair] as number;
    if (index === 0) continue;
    if (THIRD[(index << 7) | (text.charCodeAt(at + 1) & 0x7f)] === 0) continue;
    if (FOURTH[(index << 7) | (text.charCodeAt(at + 2) & 0x7f)] === 0) continue;
    runs ??= new Runs(text, work);
    const span = firstMatch(text, at - 1, free, CANDIDATES[index - 1] ?? [], runs);
    if (span === undefined) continue;
    found ??= [];
    found.push(span);
    free = span.end;
    at = span.end - 1;
    pair = 0;
  }
  return found ?? NOTHING;
}

function firstMatch(
  text: string,
  at: number,
  free: number,
  candidates: readonly Candidate[],
  runs: Runs,
): CredentialSpan | undefined {
  for (const candidate of candidates) {
    runs.spend(candidate.begin.length);
    const span = beginsAt(text, at, candidate) ? match(text, at, free, candidate, runs) : undefined;
    if (span !== undefined) return span;
  }
  return undefined;
}

function beginsAt(text: string, at: number, { begin, shape }: Candidate): boolean {
  if (shape.anyCase !== true) return text.startsWith(begin, at);
  for (let index = 0; index < begin.length; index++) {
    const code = text.charCodeAt(at + index);
    const lower = code >= 65 && code <= 90 ? code + 32 : code;
    if (lower !== begin.charCodeAt(index)) return false;
  }
  return true;
}

function match(
  text: string,
  at: number,
  free: number,
  { begin, shape }: Candidate,
  runs: Runs,
): CredentialSpan | undefined {
  const start = startOf(text, at, shape);
  if (start === undefined || start < free || !isBoundary(text, start)) return undefined;
  let from = at + begin.length;
  let hidden: Found | undefined;
  for (let index = 0; index < shape.parts.length; index++) {
    const found = matchPart(text, from, shape.parts[index] as Part, runs);
    if (found === undefined) return undefined;
    if (index === shape.hides) hidden = found;
    from = found.end;
  }
  const last = shape.parts.at(-1);
  // A credential of fixed length is not followed by a word character.
  if (typeof last === 'object' && 'max' in last && isIn(IN.alnum, codeAt(text, from))) return undefined;
  const span =
    hidden === undefined
      ? { start, end: from, shape }
      : { start: hidden.hiddenStart, end: hidden.hiddenEnd, shape };
  return text.startsWith('[REDACTED', span.start) ? undefined : span;
}

function startOf(text: string, at: number, { behind }: CredentialShape): number | undefined {
  if (behind === undefined) return at;
  const { of, min, max = min } = behind;
  let start = at;
  while (start > 0 && at - start < max && isIn(of, text.charCodeAt(start - 1))) start -= 1;
  const isLonger = start > 0 && isIn(of, text.charCodeAt(start - 1)) && !isBehindEscape(text, start);
  return at - start < min || isLonger ? undefined : start;
}

function matchPart(text: string, from: number, part: Part, runs: Runs): Found | undefined {
  if (typeof part === 'string')
    return text.startsWith(part, from) ? found(from, from + part.length) : undefined;
  return 'form' in part ? matchForm(part, text, from, runs) : matchRun(text, from, part, runs);
}

function matchRun(text: string, from: number, run: Run, runs: Runs): Found | undefined {
  // A short run is as soon gone through as looked up.
  const end =
    run.max !== undefined && run.max <= SHORT_RUN
      ? shortEnd(text, from, run.of, run.max)
      : runs.endOf(run.of, from);
  const length = end - from;
  if (length < run.min) return undefined;
  if (run.max !== undefined && length > run.max) return undefined;
  return looksRight(text, from, end, run, runs) ? found(from, end) : undefined;
}

const SHORT_RUN = 12;

function shortEnd(text: string, from: number, alphabet: number, max: number): number {
  let at = from;
  while (at <= from + max && at < text.length && isIn(alphabet, text.charCodeAt(at))) at += 1;
  return at;
}

function looksRight(text: string, from: number, end: number, { looks }: Run, runs: Runs): boolean {
  if (looks === undefined) return true;
  switch (looks) {
    case 'token':
      return end - from >= 32 || runs.has(IN.dot, from, end - 1) || isRandom(from, end, runs);
    case 'random':
      return isRandom(from, end, runs);
    case 'mixed':
      return runs.has(IN.digit, from, end) && runs.has(IN.upper, from, end) && runs.has(IN.lower, from, end);
    case 'assigns':
      return assigns(text, from, end);
  }
}

function isRandom(from: number, end: number, runs: Runs): boolean {
  if (runs.has(IN.digit, from, end)) return true;
  return end - from >= 16 && runs.has(IN.upper, from, end) && runs.has(IN.lower, from, end);
}

/** One sign, not two: `==` compares. */
function assigns(text: string, from: number, end: number): boolean {
  let signs = 0;
  for (let at = from; at < end; at++) if (isIn(IN.assigns, text.charCodeAt(at))) signs += 1;
  return signs === 1;
}

function found(start: number, end: number): Found {
  return { end, hiddenStart: start, hiddenEnd: end };
}

function codeAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0;
}

/**
 * Whether a word may begin here: the character before it is not part of a word. The last letter of an escape, as in `\nsk-…` or
 * `%3Dsk-…`, is no part of a word.
 */
function isBoundary(text: string, at: number): boolean {
  if (at === 0 || !isIn(IN.word, text.charCodeAt(at)) || !isIn(IN.word, text.charCodeAt(at - 1))) return true;
  return isBehindEscape(text, at);
}

function isBehindEscape(text: string, at: number): boolean {
  if (text.charCodeAt(at - 2) === BACKSLASH) return true;
  if (text.charCodeAt(at - 3) === PERCENT) return true;
  return text.charCodeAt(at - 6) === BACKSLASH && text.charCodeAt(at - 5) === LETTER_U;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const LETTER_U = 0x75;
