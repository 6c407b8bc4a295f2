import { createLiteralTree, type LiteralTree, SEGMENT, SHORT } from './literal-tree.ts';
import { afterPadding, eachEncoded, eachRun, percentDecoded, unescaped, type View } from './views.ts';
import type { Work } from './work.ts';

/**
 * Looks for known values in texts, as they are and in other spellings (views.ts). The work is a fixed number of passes over the
 * text; it does not grow with the number of values. A text in which nearly every place looks like the beginning of one (`aaaa…`, where
 * values begin so) is given up: all of it counts as found.
 */
export interface LiteralSearch<Tag> extends Finder<Tag> {
  add(value: string, tag: Tag): void;
  /** Undoes one `add`. */
  remove(value: string): void;
}

export interface Finder<Tag> {
  /** How many values there are, each counted once. */
  readonly size: number;
  /** For a text that is the value and nothing else. */
  tagOf(text: string): Tag | undefined;
  /**
   * Where values stand, in order; what overlaps, and what touches and is of one value, is one span. `allowance`: shared by all
   * texts of one document, so that many short texts cost no more than one long one.
   */
  find(text: string, work?: Work, allowance?: Allowance): LiteralSpan<Tag>[];
  /** The same for a text of which more is to come. `before` is the character before it. */
  findOpen(text: string, before: string, work?: Work): OpenSpans<Tag>;
}

export interface LiteralSpan<Tag> {
  readonly start: number;
  end: number;
  readonly tag: Tag;
}

export interface OpenSpans<Tag> {
  readonly spans: LiteralSpan<Tag>[];
  /** From here on the text could still become part of a value. */
  readonly openFrom: number;
  /** The text was given up, and with it whatever follows. */
  readonly isGivenUp?: true;
}

/** The longest spelling of a segment: every character as `\u1234`. */
export const MAX_SPELLING = SEGMENT * 6;

/** Steps down the tree that a search may take. Ordinary texts need less than one per character. */
const ALLOWED_PER_CHARACTER = 8;
const ALLOWED = 65_536;

export interface Allowance {
  left: number;
}

export function newAllowance(): Allowance {
  return { left: ALLOWED };
}

interface Known<Tag> {
  readonly tag: Tag;
  count: number;
}

const utf8 = new TextEncoder();

export function createLiteralSearch<Tag>(): LiteralSearch<Tag> {
  const tree: LiteralTree<Tag> = createLiteralTree();
  const values = new Map<string, Known<Tag>>();
  /** Whole runs that are a short value in base64 or hexadecimal: to look for it inside of runs would find it by accident. */
  const shortRuns = new Map<string, Tag>();

  function search(
    text: string,
    { before, isOpen }: { before: string; isOpen: boolean },
    work: Work = { steps: 0 },
    allowance = newAllowance(),
  ): OpenSpans<Tag> {
    const spans: LiteralSpan<Tag>[] = [];
    allowance.left += ALLOWED_PER_CHARACTER * text.length;
    const allowed = allowance.left;
    let openFrom = text.length;
    const inView = ({ text: read, starts }: View, previous: string): void => {
      const open = searchText(read, previous, [allowance, work], (from, to, tag) =>
        spans.push({ start: starts[from] ?? 0, end: starts[to] ?? text.length, tag }),
      );
      openFrom = Math.min(openFrom, starts[open] ?? text.length);
    };
    const open = searchText(text, before, [allowance, work], (start, end, tag) =>
      spans.push({ start, end, tag }),
    );
    openFrom = Math.min(openFrom, open);
    const plain = unescaped(text, isOpen, work);
    if (plain !== undefined) inView(plain, before);
    const percent = percentDecoded(text, isOpen, work);
    if (percent !== undefined) inView(percent, before);
    searchEncoded(text, spans, allowance, work);
    work.steps += allowed - allowance.left;
    return allowance.left < 0 ? givenUp(text) : { spans: merged(spans), openFrom };
  }

  function givenUp(text: string): OpenSpans<Tag> {
    const [any] = values.values();
    const spans = any === undefined ? [] : [{ start: 0, end: text.length, tag: any.tag }];
    return { spans, openFrom: text.length, isGivenUp: true };
  }

  /** Returns the first place from which a value could continue beyond the end. */
  function searchText(
    text: string,
    before: string,
    [allowance, work]: readonly [Allowance, Work],
    found: (start: number, end: number, tag: Tag) => void,
  ): number {
    const { length } = text;
    const codeAt = (at: number): number =>
      at < 0 ? (before === '' ? -1 : before.charCodeAt(0)) : at < length ? text.charCodeAt(at) : -1;
    let openFrom = length;
    work.steps += length;
    let code = length === 0 ? 0 : text.charCodeAt(0);
    for (let at = 0; at < length && allowance.left >= 0; at++) {
      const next = at + 1 < length ? text.charCodeAt(at + 1) : -1;
      if (next === -1 || tree.mayBegin(code, next)) {
        const match = tree.match(codeAt, at, length);
        allowance.left -= match.steps;
        if (match.literal !== undefined) found(at, at + match.literal.text.length, match.literal.tag);
        if (match.isOpen && openFrom === length) openFrom = at;
      }
      code = next;
    }
    return openFrom;
  }

  function searchEncoded(text: string, spans: LiteralSpan<Tag>[], allowance: Allowance, work: Work): void {
    if (shortRuns.size > 0) {
      eachRun(text, work, (start, end) => {
        const tag = end - start <= MAX_SHORT_RUN ? shortRuns.get(text.slice(start, end)) : undefined;
        if (tag !== undefined) spans.push({ start, end: afterPadding(text, end), tag });
      });
    }
    eachEncoded(
      text,
      SHORT,
      (run) => {
        const { bytes, length } = run;
        const codeAt = (at: number): number => bytes[at] ?? -1;
        work.steps += length;
        for (let at = 0; at + SHORT <= length && allowance.left >= 0; at++) {
          if (!tree.mayBegin(bytes[at] ?? 0, bytes[at + 1] ?? 0)) continue;
          const { literal, steps: more } = tree.match(codeAt, at, length);
          allowance.left -= more;
          if (literal === undefined || literal.isShort) continue;
          const end = run.end(at + literal.text.length);
          const isWhole = end === run.run.end;
          spans.push({
            start: run.start(at),
            end: isWhole ? afterPadding(text, end) : end,
            tag: literal.tag,
          });
        }
      },
      work,
    );
  }

  return {
    get size() {
      return values.size;
    },
    add(value, tag) {
      if (value === '') return;
      const known = values.get(value);
      if (known !== undefined) {
        known.count += 1;
        return;
      }
      values.set(value, { tag, count: 1 });
      for (const segment of segmentsOf(value)) tree.add(segment, tag);
      for (const run of runsOf(value)) shortRuns.set(run, tag);
    },
    remove(value) {
      const known = values.get(value);
      if (known === undefined) return;
      known.count -= 1;
      if (known.count > 0) return;
      values.delete(value);
      for (const segment of segmentsOf(value)) tree.remove(segment);
      for (const run of runsOf(value)) shortRuns.delete(run);
    },
    tagOf: (text) => values.get(text)?.tag,
    find: (text, work, allowance) =>
      values.size === 0 ? [] : search(text, { before: '', isOpen: false }, work, allowance).spans,
    findOpen: (text, before, work) =>
      values.size === 0 ? { spans: [], openFrom: text.length } : search(text, { before, isOpen: true }, work),
  };
}

/** The texts by which a value is recognised: itself, and its UTF-8 where bytes are read one by one. */
function segmentsOf(value: string): Iterable<string> {
  if (value.length <= SEGMENT && !value.includes('+') && isAscii(value)) return [value];
  const bytes = inBytes(value);
  const spellings = bytes === value ? [value] : [value, bytes];
  // Where a plus is read as a blank, one that was meant is not seen.
  const all = spellings.flatMap((text) => (text.includes('+') ? [text, text.replaceAll('+', ' ')] : [text]));
  return new Set(all.flatMap(inSegments));
}

function inSegments(text: string): string[] {
  if (text.length <= SEGMENT) return [text];
  const segments: string[] = [];
  for (let from = 0; from < text.length; from += SEGMENT) {
    const start = Math.min(from, text.length - SEGMENT);
    segments.push(text.slice(start, start + SEGMENT));
  }
  return segments;
}

/** One character per byte of its UTF-8. */
function inBytes(value: string): string {
  if (isAscii(value)) return value;
  let text = '';
  for (const byte of utf8.encode(value)) text += String.fromCharCode(byte);
  return text;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** A value of one or two characters is spelled like an ordinary word or number. */
const MIN_SHORT_RUN = 3;
/** In hexadecimal, with three bytes to a character. */
const MAX_SHORT_RUN = (SHORT - 1) * 6;

function runsOf(value: string): string[] {
  if (value.length >= SHORT || value.length < MIN_SHORT_RUN) return [];
  const bytes = inBytes(value);
  const base64 = btoa(bytes).replaceAll('=', '');
  let hex = '';
  for (let at = 0; at < bytes.length; at++) hex += bytes.charCodeAt(at).toString(16).padStart(2, '0');
  return [base64, base64.replaceAll('+', '-').replaceAll('/', '_'), hex, hex.toUpperCase()];
}

/** In order, and one where they overlap, or touch and are of one value. */
export function merged<Tag>(spans: LiteralSpan<Tag>[]): LiteralSpan<Tag>[] {
  if (spans.length < 2) return spans;
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const result: LiteralSpan<Tag>[] = [];
  for (const span of spans) {
    const last = result.at(-1);
    const isOne =
      last !== undefined && (span.start < last.end || (span.start === last.end && span.tag === last.tag));
    if (isOne) last.end = Math.max(last.end, span.end);
    else result.push({ ...span });
  }
  return result;
}
