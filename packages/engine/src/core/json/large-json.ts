import type { Json, JsonObject } from '@weft/protocol';
import type { CooperativeTask } from './cooperative-task.ts';

/**
 * Large JSON, read and written in pieces that take a few milliseconds each whatever they hold. The pieces themselves are read
 * and written by the machine's own functions, so that all of it takes hardly longer than at once.
 *
 * What is read is text that we have written: JSON without spaces between its parts.
 */

/** Characters read in one go: hostile ones take 100 ns each. */
const CHUNK = 32 * 1024;

export function* parseCooperatively(text: string): CooperativeTask<Json> {
  return yield* new Reader(text).value();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  *value(): CooperativeTask<Json> {
    if (this.#text.length <= CHUNK) return JSON.parse(this.#text) as Json;
    const value = yield* this.#large();
    if (this.#at !== this.#text.length) throw this.#broken();
    return value;
  }

  /** What begins here, when it does not end within a piece. */
  *#large(): CooperativeTask<Json> {
    switch (this.#text.charCodeAt(this.#at)) {
      case OPEN_LIST:
        return yield* this.#list();
      case OPEN_OBJECT:
        return yield* this.#object();
      default:
        // A string, however long, is read at the speed of copying it.
        return JSON.parse(this.#take(this.#endOfFlat(this.#at))) as Json;
    }
  }

  *#list(): CooperativeTask<Json[]> {
    const list: Json[] = [];
    yield* this.#members(
      CLOSE_LIST,
      (members) => {
        for (const member of JSON.parse(`[${members}]`) as Json[]) list.push(member);
      },
      (member) => list.push(member),
    );
    return list;
  }

  *#object(): CooperativeTask<JsonObject> {
    const object: JsonObject = {};
    let name = '';
    yield* this.#members(
      CLOSE_OBJECT,
      (members) => {
        const some = JSON.parse(`{${members}}`) as JsonObject;
        for (const key of Object.keys(some)) define(object, key, some[key] as Json);
      },
      (member) => define(object, name, member),
      () => {
        const end = this.#endOfFlat(this.#at);
        name = JSON.parse(this.#take(end)) as string;
        if (this.#text.charCodeAt(this.#at) !== COLON) throw this.#broken();
        this.#at += 1;
      },
    );
    return object;
  }

  /** Gathers small members, and reads each large one by itself. */
  *#members(
    close: number,
    addSome: (members: string) => void,
    addLarge: (member: Json) => void,
    skipName: () => void = () => undefined,
  ): CooperativeTask<void> {
    const text = this.#text;
    this.#at += 1;
    let from = this.#at;
    let isLast = text.charCodeAt(this.#at) === close;
    while (!isLast) {
      const start = this.#at;
      const end = this.#endWithin(start);
      if (end === undefined || end - from > CHUNK) {
        // Without the comma before this member.
        if (start > from) addSome(text.slice(from, start - 1));
        from = start;
        yield;
      }
      if (end === undefined) {
        skipName();
        addLarge(yield* this.#large());
        from = this.#at + 1;
      } else this.#at = end;
      isLast = text.charCodeAt(this.#at) === close;
      if (isLast && this.#at > from) addSome(text.slice(from, this.#at));
      if (!isLast && text.charCodeAt(this.#at) !== COMMA) throw this.#broken();
      if (!isLast) this.#at += 1;
    }
    this.#at += 1;
  }

  /** Where the member that begins here ends, when it does within a piece. */
  #endWithin(start: number): number | undefined {
    const text = this.#text;
    const most = start + CHUNK;
    let depth = 0;
    for (let at = start; at < most; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = this.#endOfFlat(at) - 1;
      else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1;
      else if (depth === 0 && (code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT)) return at;
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
      if (Number.isNaN(code)) throw this.#broken();
    }
    return undefined;
  }

  /** Of a string, a number or a word. */
  #endOfFlat(start: number): number {
    const text = this.#text;
    if (text.charCodeAt(start) !== QUOTE) {
      const end = text.slice(start, start + CHUNK).search(/[,\]}]/);
      return end < 0 ? text.length : start + end;
    }
    return endOfString(text, start);
  }

  #take(end: number): string {
    const taken = this.#text.slice(this.#at, end);
    this.#at = end;
    return taken;
  }

  #broken(): SyntaxError {
    return new SyntaxError(`The text is no JSON that we have written, at ${this.#at}.`);
  }
}

/** One member of an object that we have written, and the object without it; neither is read for that. */
export function splitMember(
  text: string,
  name: string,
): { readonly value: string; readonly rest: string } | undefined {
  const key = `${JSON.stringify(name)}:`;
  for (let at = 1; at < text.length && text.charCodeAt(at) === QUOTE; ) {
    const from = endOfString(text, at) + 1;
    const to = endOfValue(text, from);
    if (text.startsWith(key, at)) {
      // The comma goes, too: the one behind it, or that before it when it is the last.
      const isLast = text.charCodeAt(to) !== COMMA;
      const before = text.slice(0, isLast && at > 1 ? at - 1 : at);
      return { value: text.slice(from, to), rest: before + text.slice(isLast ? to : to + 1) };
    }
    at = to + 1;
  }
  return undefined;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1;
    else if (depth === 0 && (code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT)) return at;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return text.length;
}

/** Just behind its closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  throw new SyntaxError(`A string has no end, from ${start} on.`);
}

/** `__proto__` is a name like any other. */
function define(object: JsonObject, name: string, value: Json): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}

/** Values written in one go. */
const VALUES = 2_000;
/** Characters of text that take as long to write as a value does. */
const TEXT_OF_A_VALUE = 64;

/** Members that are undefined are left out, as everywhere. */
export function* stringifyCooperatively(value: Json): CooperativeTask<string> {
  if (typeof value !== 'object' || value === null || weightOf(value, VALUES) < VALUES)
    return JSON.stringify(value);
  if (!Array.isArray(value)) return yield* objectText(value);
  const pieces: string[] = [];
  let weight = 0;
  let from = 0;
  for (let index = 0; index <= value.length; index += 1) {
    const member = value[index] ?? null;
    const own = index === value.length ? VALUES : weightOf(member, VALUES);
    weight += own;
    if (weight < VALUES) continue;
    // Small ones up to here, then this one, when it is large itself.
    if (index > from) pieces.push(JSON.stringify(value.slice(from, index)).slice(1, -1));
    yield;
    from = own < VALUES ? index : index + 1;
    weight = own < VALUES ? own : 0;
    if (own >= VALUES && index < value.length) pieces.push(yield* stringifyCooperatively(member));
  }
  return `[${pieces.join(',')}]`;
}

function* objectText(object: JsonObject): CooperativeTask<string> {
  const pieces: string[] = [];
  let some: JsonObject = {};
  let weight = 0;
  const flush = (): void => {
    if (weight > 0) pieces.push(JSON.stringify(some).slice(1, -1));
    some = {};
    weight = 0;
  };
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member === undefined) continue;
    const own = weightOf(member, VALUES);
    if (weight + own >= VALUES) {
      flush();
      yield;
    }
    if (own < VALUES) {
      define(some, name, member);
      weight += own;
    } else pieces.push(`${JSON.stringify(name)}:${yield* stringifyCooperatively(member)}`);
  }
  flush();
  return `{${pieces.join(',')}}`;
}

/** How many values it would take to write it, counted to `most` at most. */
export function weightOf(value: Json, most: number): number {
  let weight = 0;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined && weight < most; next = open.pop()) {
    weight += typeof next === 'string' ? 1 + next.length / TEXT_OF_A_VALUE : 1;
    if (typeof next !== 'object' || next === null) continue;
    const members = Array.isArray(next) ? next : Object.values(next);
    // What is left out of a list is more than there is room for.
    for (let index = 0; index < members.length && index < most; index += 1) {
      const member = members[index];
      if (member !== undefined) open.push(member);
    }
  }
  return weight;
}
