import { HostError } from './errors.ts';
import { fieldName } from './field-name.ts';
import type { Json, JsonObject } from './json.ts';

/**
 * I-JSON in one pass. `JSON.parse` keeps the last of two equal keys, passes lone surrogates and rounds numbers; two
 * readers of the same bytes would then see two documents, so all three are refused here. The scanner builds the value
 * itself, because finding these in a second pass costs more than the pass.
 */

export interface StrictJsonOptions {
  /** Objects and arrays inside each other. */
  readonly maxDepth?: number;
}

interface Scanner {
  readonly text: string;
  readonly maxDepth: number;
  at: number;
  /** Keys and indexes of the containers that are open. */
  readonly path: (string | number)[];
}

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
  const scanner: Scanner = { text, maxDepth: options.maxDepth ?? 64, at: 0, path: [] };
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) fail(scanner, 'the text starts with a byte order mark');
  const value = readValue(scanner, skipSpace(scanner));
  skipSpace(scanner);
  if (scanner.at < text.length) fail(scanner, 'something follows after the end of the value');
  return value;
}

function readValue(scanner: Scanner, code: number): Json {
  switch (code) {
    case OPEN_BRACE:
      return readObject(scanner);
    case OPEN_BRACKET:
      return readArray(scanner);
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

function readObject(scanner: Scanner): JsonObject {
  const object: JsonObject = {};
  enter(scanner);
  if (skipSpace(scanner) === CLOSE_BRACE) return leave(scanner, object);
  for (;;) {
    if (skipSpace(scanner) !== QUOTE) fail(scanner, 'a key in double quotes is expected');
    const keyAt = scanner.at;
    const key = readString(scanner);
    scanner.path.push(key);
    if (Object.hasOwn(object, key)) fail(scanner, 'the key stands twice in the same object', keyAt);
    if (skipSpace(scanner) !== COLON) fail(scanner, 'a colon is expected');
    scanner.at++;
    setOwn(object, key, readValue(scanner, skipSpace(scanner)));
    scanner.path.pop();
    const next = skipSpace(scanner);
    if (next === CLOSE_BRACE) return leave(scanner, object);
    if (next !== COMMA) fail(scanner, 'a comma or "}" is expected');
    scanner.at++;
  }
}

function readArray(scanner: Scanner): Json[] {
  const array: Json[] = [];
  enter(scanner);
  if (skipSpace(scanner) === CLOSE_BRACKET) return leave(scanner, array);
  for (;;) {
    scanner.path.push(array.length);
    array.push(readValue(scanner, skipSpace(scanner)));
    scanner.path.pop();
    const next = skipSpace(scanner);
    if (next === CLOSE_BRACKET) return leave(scanner, array);
    if (next !== COMMA) fail(scanner, 'a comma or "]" is expected');
    scanner.at++;
  }
}

/** The open containers are exactly the path, plus this one. */
function enter(scanner: Scanner): void {
  if (scanner.path.length >= scanner.maxDepth) fail(scanner, `deeper than ${scanner.maxDepth} levels`);
  scanner.at++;
}

function leave<Container>(scanner: Scanner, container: Container): Container {
  scanner.at++;
  return container;
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
  const field = fieldName(toPointer(scanner.path));
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
function toPointer(path: readonly (string | number)[]): string {
  return path
    .map((step) => `/${String(step).slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
