import { HostError } from '../errors/errors.ts';
import { fieldName } from './field-name.ts';
import type { Json, JsonObject } from './json.ts';

/**
 * I-JSON in one pass. `JSON.parse` keeps the last of two equal keys, passes lone surrogates and rounds numbers; two
 * readers of the same bytes would then see two documents, so all three are refused here. The scanner builds the value
 * itself, because finding these in a second pass costs more than the pass. It keeps the open containers in a list of its own
 * instead of calling itself, so that it can stop between any two values and continue later.
 */

export interface StrictJsonOptions {
  /** Objects and arrays inside each other. */
  readonly maxDepth?: number;
}

interface Scanner {
  readonly text: string;
  readonly maxDepth: number;
  at: number;
  /** Containers that are not closed yet, the outermost first. */
  readonly open: Container[];
}

type Container =
  | { readonly object: JsonObject; readonly array: undefined; key: string | undefined }
  | { readonly object: undefined; readonly array: Json[]; key: number | undefined };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK = 0xfeff;

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** Throws HostError `validation_error` with the position and the JSON Pointer of what is wrong. */
export function parseStrictJson(text: string, options: StrictJsonOptions = {}): Json {
  return readOn(openScanner(text, options), text.length) as Json;
}

/** Characters between two places at which other work may run. */
const STEP = 32_768;

/** The same for a long text, for callers that have others to serve meanwhile. */
export function* strictJsonInSteps(
  text: string,
  options: StrictJsonOptions = {},
): Generator<undefined, Json, undefined> {
  const scanner = openScanner(text, options);
  for (;;) {
    const value = readOn(scanner, scanner.at + STEP);
    if (value !== undefined) return value;
    yield;
  }
}

function openScanner(text: string, { maxDepth = 64 }: StrictJsonOptions): Scanner {
  const scanner: Scanner = { text, maxDepth, at: 0, open: [] };
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) fail(scanner, 'the text starts with a byte order mark');
  return scanner;
}

/** Reads values until the outermost one is whole, and returns it; undefined when it stopped behind `pauseAt`. */
function readOn(scanner: Scanner, pauseAt: number): Json | undefined {
  for (;;) {
    const value = readValue(scanner, skipSpace(scanner));
    if (value === undefined) continue; // a container was opened, its first value is next
    const whole = place(scanner, value);
    if (whole !== undefined) return whole;
    if (scanner.at > pauseAt) return undefined;
  }
}

/** The value that begins here, or undefined after the opening of a container that is not empty. */
function readValue(scanner: Scanner, code: number): Json | undefined {
  switch (code) {
    case OPEN_BRACE:
      return openObject(scanner);
    case OPEN_BRACKET:
      return openArray(scanner);
    case QUOTE:
      return readString(scanner);
    case 0x74:
      return readWord(scanner, 'true', true);
    case 0x66:
      return readWord(scanner, 'false', false);
    case 0x6e:
      return readWord(scanner, 'null', null);
    default:
      return readNumber(scanner);
  }
}

function openObject(scanner: Scanner): JsonObject | undefined {
  enter(scanner);
  const object: JsonObject = {};
  if (skipSpace(scanner) === CLOSE_BRACE) {
    scanner.at++;
    return object;
  }
  const container: Container = { object, array: undefined, key: undefined };
  scanner.open.push(container);
  readKey(scanner, container);
  return undefined;
}

function openArray(scanner: Scanner): Json[] | undefined {
  enter(scanner);
  const array: Json[] = [];
  if (skipSpace(scanner) === CLOSE_BRACKET) {
    scanner.at++;
    return array;
  }
  scanner.open.push({ object: undefined, array, key: 0 });
  return undefined;
}

function enter(scanner: Scanner): void {
  if (scanner.open.length >= scanner.maxDepth) fail(scanner, `deeper than ${scanner.maxDepth} levels`);
  scanner.at++;
}

function readKey(scanner: Scanner, container: Container & { readonly object: JsonObject }): void {
  if (skipSpace(scanner) !== QUOTE) fail(scanner, 'a key in double quotes is expected');
  const keyAt = scanner.at;
  const key = readString(scanner);
  container.key = key;
  if (Object.hasOwn(container.object, key)) fail(scanner, 'the key stands twice in the same object', keyAt);
  if (skipSpace(scanner) !== COLON) fail(scanner, 'a colon is expected');
  scanner.at++;
}

/** Puts a value where it belongs and closes every container that ends behind it; the outermost value when all have. */
function place(scanner: Scanner, value: Json): Json | undefined {
  let whole = value;
  for (;;) {
    const container = scanner.open.at(-1);
    if (container === undefined) {
      skipSpace(scanner);
      if (scanner.at < scanner.text.length) fail(scanner, 'something follows after the end of the value');
      return whole;
    }
    if (container.object === undefined) container.array.push(whole);
    else setOwn(container.object, container.key ?? '', whole);
    if (!isClosed(scanner, container)) return undefined;
    scanner.open.pop();
    whole = container.object ?? container.array;
  }
}

/** Behind a value comes the end of its container, or a comma and the next value. */
function isClosed(scanner: Scanner, container: Container): boolean {
  container.key = undefined;
  const next = skipSpace(scanner);
  const isObject = container.object !== undefined;
  if (next !== COMMA && next !== (isObject ? CLOSE_BRACE : CLOSE_BRACKET))
    fail(scanner, `a comma or "${isObject ? '}' : ']'}" is expected`);
  scanner.at++;
  if (next !== COMMA) return true;
  if (container.object === undefined) container.key = container.array.length;
  else readKey(scanner, container);
  return false;
}

/** `__proto__` would otherwise set the prototype instead of a member. */
function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function readString(scanner: Scanner): string {
  const { text } = scanner;
  const start = scanner.at;
  let escaped = false;
  let surrogates = false;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      scanner.at = at + 1;
      const value = escaped ? decodeEscapes(scanner, start) : text.slice(start + 1, at);
      if ((surrogates || escaped) && LONE_SURROGATE.test(value)) {
        fail(scanner, 'the string holds half of a surrogate pair', start);
      }
      return value;
    }
    if (code === BACKSLASH) {
      escaped = true;
      at++;
    } else if (code < 0x20) {
      fail(scanner, 'a control character stands unescaped in a string', at);
    } else if (code >= 0xd800 && code <= 0xdfff) {
      surrogates = true;
    }
  }
  return fail(scanner, 'the string does not end', start);
}

function decodeEscapes(scanner: Scanner, start: number): string {
  try {
    return JSON.parse(scanner.text.slice(start, scanner.at)) as string;
  } catch {
    return fail(scanner, 'the string holds an unknown escape', start);
  }
}

function readWord<Value extends Json>(scanner: Scanner, word: string, value: Value): Value {
  if (!scanner.text.startsWith(word, scanner.at)) fail(scanner, 'a JSON value is expected');
  scanner.at += word.length;
  return value;
}

function readNumber(scanner: Scanner): number {
  NUMBER.lastIndex = scanner.at;
  const match = NUMBER.exec(scanner.text);
  if (match === null) {
    return fail(
      scanner,
      scanner.at >= scanner.text.length ? 'the text ends too early' : 'a JSON value is expected',
    );
  }
  const [literal, fraction, exponent] = match;
  const value = Number(literal);
  if (!survives(literal, value, fraction === undefined && exponent === undefined)) {
    fail(scanner, 'the number cannot be held without loss; send it as a string');
  }
  scanner.at += literal.length;
  return value;
}

/**
 * A whole number survives when it is exact, or is the text a double is printed as. Fractions are rounded by nature and
 * only must not become infinite or zero.
 */
function survives(literal: string, value: number, whole: boolean): boolean {
  if (!Number.isFinite(value)) return false;
  if (whole)
    return Number.isSafeInteger(value) || literal === String(value) || BigInt(literal) === BigInt(value);
  return value !== 0 || !/^-?[0.]*[1-9]/.test(literal);
}

/** The code of the next character that is not space; NaN at the end. */
function skipSpace(scanner: Scanner): number {
  const { text } = scanner;
  for (;;) {
    const code = text.charCodeAt(scanner.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    scanner.at++;
  }
}

function fail(scanner: Scanner, problem: string, position: number = scanner.at): never {
  const field = fieldName(toPointer(scanner.open));
  const place = field === '' ? '' : ` in ${field}`;
  throw new HostError(
    'validation_error',
    `The text is not valid JSON at position ${position}${place}: ${problem}.`,
    {
      field,
      position,
    },
  );
}

/** RFC 6901; long keys are cut, since they come from outside. */
function toPointer(open: readonly Container[]): string {
  return open
    .flatMap(({ key }) => (key === undefined ? [] : [key]))
    .map((step) => `/${String(step).slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
