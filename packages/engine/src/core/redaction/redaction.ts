import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { SKELETON } from '../fold/payload-skeleton.ts';
import type { MaskingMode, Plan } from '../compile/plan.ts';
import {
  credentialMember,
  credentialSpans,
  mayHoldCredential,
  redactText,
  type TextSpan,
} from './scan/credential-text.ts';
import {
  type Allowance,
  createLiteralSearch,
  type LiteralSearch,
  type LiteralSpan,
  newAllowance,
} from './scan/literal-search.ts';
import { hashMark, isMark, MASK, marksIn } from './scan/marks.ts';
import { isSensitive, memberOf, ofMembers, type Sensitivity } from './sensitivity.ts';

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
  /** Something is known to be sensitive. */
  readonly hasValues: boolean;
  /**
   * The payload as others may see it, or undefined when there is nothing to mask. `text` is the payload as serialized: where
   * nothing is known to be sensitive, one cheap pass over it answers for nearly every event. `isForeign`: someone else than the
   * engine has named its members.
   */
  apply(payload: JsonObject, text: string, isForeign?: boolean): JsonObject | undefined;
  /** For messages and log lines. */
  redactText(text: string): string;
  /** Where in a value something known to be sensitive occurs: by members, and of texts and lists the whole. */
  echoes(value: Json): Sensitivity | undefined;
}

/** How hidden values are shown. */
export interface Masking {
  readonly mode: MaskingMode;
  /** For `hash`: hexadecimal HMAC of a text. Without it, `hash` masks like `mask`. */
  readonly hash?: ((text: string) => string) | undefined;
}

export function maskingOf({ maskingMode: mode, keyedHash }: Plan, tenant: string): Masking {
  if (mode !== 'hash' || keyedHash === undefined) return MODES[mode];
  return { mode, hash: (text) => keyedHash(tenant, text) };
}

const MODES: Readonly<Record<MaskingMode, Masking>> = {
  mask: { mode: 'mask' },
  omit: { mode: 'omit' },
  hash: { mode: 'hash' },
  passthrough: { mode: 'passthrough' },
};

/** `mask` gives the mark, `omit` undefined, `hash` a digest; `passthrough` the value itself. */
export function maskValue(value: Json, { mode, hash }: Masking): Json | undefined {
  switch (mode) {
    case 'mask':
      return MASK;
    case 'omit':
      return undefined;
    case 'passthrough':
      return value;
    case 'hash':
      return hash === undefined
        ? MASK
        : hashMark(hash(typeof value === 'string' ? value : canonicalJson(value)));
  }
}

/** The value as others may see it; undefined when the mode leaves it out. */
export function maskSensitive(value: Json, of: Sensitivity | undefined, masking: Masking): Json | undefined {
  if (!isSensitive(of)) return value;
  if (typeof of !== 'object' || !isJsonObject(value)) return maskValue(value, masking);
  const entries: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    const shown = maskSensitive(member, memberOf(of, name), masking);
    if (shown !== undefined) entries.push([name, shown]);
  }
  return Object.fromEntries(entries);
}

/** The mark in the place of a part of a text. */
export function markOf(secret: string, masking: Masking): string {
  const mark = masking.mode === 'hash' ? maskValue(secret, masking) : MASK;
  return typeof mark === 'string' ? mark : MASK;
}

/** What to look for. It may change while the redactor is in use. */
export interface KnownTexts {
  /** Each by its own text. */
  readonly search: LiteralSearch<string>;
  /** There is more than can be looked for: every text from outside is hidden as a whole. */
  readonly isOverflowing: boolean;
  /** Declared not to be sensitive: left as it is where it stands alone. */
  isPublic(text: string): boolean;
}

export interface RedactorOptions {
  readonly masking: Masking;
  readonly known?: KnownTexts;
  /** Strings that are public by nature (node ids, type ids): one that stands alone is left as it is. */
  readonly publicNames?: Iterable<string>;
}

export function createRedactor({ masking, known, publicNames: names = [] }: RedactorOptions): Redactor {
  const publicNames = new Set(names);
  const hasValues = (): boolean =>
    known !== undefined && masking.mode !== 'passthrough' && (known.search.size > 0 || known.isOverflowing);
  const credentials = createWalk(masking, publicNames, undefined);
  /** For one document. */
  const walk = (): Walk => (hasValues() ? createWalk(masking, publicNames, known) : credentials);

  function redactPayload(payload: JsonObject, { value, text }: Walk, isForeign: boolean): JsonObject {
    let changed = false;
    const entries: [string, Json][] = [];
    for (const [name, member] of Object.entries(payload)) {
      const isOwn = !isForeign && SKELETON.has(name);
      if (!isOwn && known?.isOverflowing === true && hasValues()) {
        entries.push([name, hiddenMembers(member, masking)]);
        changed = true;
        continue;
      }
      const shownName = isOwn || publicNames.has(name) ? name : text(name);
      const shown = memberCredential(name, member) ?? (isOwn ? credentials.value : value)(member);
      if (shownName !== name || shown !== member) changed = true;
      if (shown !== undefined) entries.push([shownName, shown]);
    }
    return changed ? Object.fromEntries(entries) : payload;
  }

  return {
    get hasValues() {
      return hasValues();
    },
    redactText: (text) => walk().text(text),
    echoes: (value) =>
      known === undefined || !hasValues() ? undefined : echoesIn(value, known, newAllowance()),
    apply(payload, text, isForeign = false) {
      if (!hasValues() && !mayHoldCredential(text)) return undefined;
      const masked = redactPayload(payload, walk(), isForeign);
      return masked === payload ? undefined : masked;
    },
  };
}

/** Everything, but for the names of a payload's members and of what these have: an output is still known by its port. */
function hiddenMembers(value: Json, masking: Masking): Json {
  const hidden = (inner: Json): Json =>
    inner === null || typeof inner === 'boolean' ? inner : (maskValue(inner, masking) ?? null);
  if (!isJsonObject(value)) return hidden(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hidden(member)]));
}

function echoesIn(value: Json, known: KnownTexts, allowance: Allowance): Sensitivity | undefined {
  const { search, isOverflowing } = known;
  const occursIn = (text: string): boolean => search.find(text, undefined, allowance).length > 0;
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value);
    const isKnown = isOverflowing || search.tagOf(text) !== undefined;
    return isKnown || (typeof value === 'string' && occursIn(text)) ? 'within' : undefined;
  }
  if (Array.isArray(value))
    return value.some((item) => echoesIn(item, known, allowance) !== undefined) ? 'within' : undefined;
  if (!isJsonObject(value)) return undefined;
  const members = Object.entries(value);
  if (members.some(([name]) => occursIn(name))) return 'within';
  return ofMembers(members.map(([name, member]) => [name, echoesIn(member, known, allowance)]));
}

interface Walk {
  value(value: Json): Json | undefined;
  text(text: string): string;
}

function createWalk(masking: Masking, publicNames: ReadonlySet<string>, known: KnownTexts | undefined): Walk {
  const search = known?.search;
  const allowance = newAllowance();

  function text(from: string): string {
    if (known?.isOverflowing === true) return MASK;
    const literals = search === undefined ? [] : outsideMarks(from, search.find(from, undefined, allowance));
    const credentials = credentialSpans(from, 'plain');
    return literals.length + credentials.length === 0 ? from : replaced(from, literals, credentials, masking);
  }

  function scalar(value: string | number): Json | undefined {
    if (known?.isPublic(String(value)) === true) return typeof value === 'string' ? redactText(value) : value;
    if (search?.tagOf(String(value)) !== undefined) return maskValue(value, masking);
    return typeof value === 'string' ? text(value) : value;
  }

  function value(of: Json): Json | undefined {
    if (typeof of === 'string') return publicNames.has(of) ? of : scalar(of);
    if (typeof of === 'number') return scalar(of);
    if (Array.isArray(of)) return list(of);
    return isJsonObject(of) ? object(of) : of;
  }

  /** An omitted element becomes null, so that the others keep their places. */
  function list(items: Json[]): Json[] {
    const masked = items.map((item) => value(item) ?? null);
    return masked.every((item, at) => item === items[at]) ? items : masked;
  }

  function object(members: JsonObject): JsonObject {
    let changed = false;
    const entries: [string, Json][] = [];
    for (const [name, member] of Object.entries(members)) {
      const shownName = publicNames.has(name) ? name : text(name);
      const shown = memberCredential(name, member) ?? value(member);
      if (shownName !== name || shown !== member) changed = true;
      if (shown !== undefined) entries.push([shownName, shown]);
    }
    return changed ? Object.fromEntries(entries) : members;
  }

  return { value, text };
}

function memberCredential(name: string, member: Json): string | undefined {
  return typeof member === 'string' && credentialMember(name, member) !== undefined ? MASK : undefined;
}

/** More texts than this are not looked for one by one: a decision that replaces them all takes some 10 µs for each. */
export const MAX_TEXTS = 10_000;

/** All texts and numbers inside of values, from this length on. Names of members are not secret. */
export function knownTexts(values: Iterable<Json>, minLength = 1): KnownTexts {
  const search = createLiteralSearch<string>();
  const collect = (value: Json): void => {
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      // A value that is nothing but a mark hides nothing.
      if (text.length >= minLength && !isMark(text) && search.size <= MAX_TEXTS) search.add(text, text);
    } else if (value !== null && typeof value === 'object')
      for (const inner of Object.values(value)) collect(inner);
  };
  for (const value of values) collect(value);
  return { search, isOverflowing: search.size > MAX_TEXTS, isPublic: () => false };
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
  masking: Masking,
): string {
  const spans = [
    ...literals.map(({ start, end, tag }) => ({ start, end, mark: () => markOf(tag, masking) })),
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
