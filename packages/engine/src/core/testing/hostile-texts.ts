import type { ErrorCode, Json, JsonObject } from '@weft/protocol';

/**
 * Texts that a hostile client would send: each was able to hold up, or to end, a process that counts only some of what it does.
 * Every one of them must be refused, or end as it says here, within the budget of one decision. Tests count that; `npm run hostile`
 * sends the same ones to a host.
 */

export interface HostileExpression {
  readonly name: string;
  readonly expression: string;
  /** What the run is started with. */
  readonly inputs?: () => JsonObject;
  /** Under which the node fails that evaluates it; absent when it comes to an end. */
  readonly code?: 'expression_budget_exceeded' | 'pattern_too_costly' | 'expression_failed';
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const zeros = (count: number): string =>
  `[${numbers(count)
    .map(() => '0')
    .join(',')}]`;
const text = (length: number): string => `'${'a'.repeat(length)}'`;
/** `body` evaluated count × count times, without a single input. */
const squared = (count: number, body: string): string =>
  `${zeros(count)}.map(x, ${zeros(count)}.map(y, ${body}))`;
const squaredAll = (count: number, body: string): string =>
  `${zeros(count)}.all(x, ${zeros(count)}.all(y, ${body}))`;
const times = (count: number, body: string): string => `${zeros(count)}.map(x, ${body})`;
/** Different numbers. */
const LIST = `[${numbers(200).join(',')}]`;
const large = (characters: number) => (): JsonObject => ({ text: 'a'.repeat(characters) });
const listed = (count: number) => (): JsonObject => ({ list: numbers(count) });
const named = (count: number): JsonObject =>
  Object.fromEntries(numbers(count).map((index) => [`name${index}`, index]));

type Row = readonly [name: string, expression: string, inputs?: () => JsonObject];

/** Memory: results that grow, or that are shared and small until they are written down. */
const MEMORY: readonly Row[] = [
  ['text put together in nested loops', squared(400, `${text(1000)} + ${text(1000)}`)],
  ['join of joins', `${squared(300, text(500))}.map(x, x.join(${text(500)})).join()`],
  ['join in a loop', times(400, `${zeros(400)}.map(y, ${text(900)}).join()`)],
  ['a large value many times', times(900, 'inputs.text'), large(200_000)],
  ['a list of lists of a large value', squared(300, 'inputs.text'), large(100_000)],
  ['split into characters', times(900, `inputs.text.split('')`), large(200_000)],
  ['split by what is not there', times(900, `inputs.text.split('b')`), large(500_000)],
  [
    'hex of hex',
    'bytes(bytes(bytes(bytes(bytes(inputs.text).hex()).hex()).hex()).hex()).hex()',
    large(400_000),
  ],
  ['base64 of base64', times(500, 'bytes(bytes(inputs.text).base64()).base64()'), large(200_000)],
  ['bytes put together', times(900, 'bytes(inputs.text) + bytes(inputs.text)'), large(200_000)],
  ['lists put together', times(500, 'inputs.list + inputs.list + inputs.list'), listed(50_000)],
  ['lists of literals', squared(500, `[x, y, ${zeros(200)}]`)],
  ['maps of literals', squared(500, `{'a': x, 'b': y, 'c': {'d': x}}`)],
  [
    'JSON made of text',
    times(500, 'bytes(inputs.text).json()'),
    () => ({ text: `[${'{},'.repeat(60_000)}{}]` }),
  ],
  [
    'upper case that is longer',
    times(500, 'inputs.text.upperAscii()'),
    () => ({ text: 'ΐ'.repeat(100_000) }),
  ],
  ['characters that are long in JSON', times(40, 'inputs.text'), () => ({ text: '\u0001'.repeat(150_000) })],
  [
    'joins of a joined separator',
    `${LIST}.map(a, string(a)).join(${LIST}.map(b, string(b)).join(${text(900)}))`,
  ],
  ['a text added to itself', Array.from({ length: 200 }, () => 'inputs.text').join(' + '), large(100_000)],
  ['a list of long texts, joined', `${LIST}.map(a, inputs.text).join(',').size()`, large(100_000)],
  ['a huge result in small words', `${LIST}.map(a, [inputs.text, inputs.text, inputs.text])`, large(100_000)],
];

/** Work: what takes long for its length. */
const WORK: readonly Row[] = [
  ['failures that are caught one by one', squaredAll(700, '[][0] == 1 || true')],
  ['failures inside exists', `${zeros(700)}.exists(x, ${zeros(700)}.exists(y, [][0] == 1))`],
  ['failures with a long source', squaredAll(400, `${' '.repeat(1500)}[][0] == 1 || true`)],
  ['time zones', squaredAll(300, `timestamp(0).getHours('America/New_York') >= 0`)],
  ['durations', squaredAll(300, `duration('1h2m3s4ms5us6ns') > duration('1s')`)],
  [
    'a needle that almost fits',
    times(
      200,
      `inputs.text.contains(inputs.text.substring(0, 50000) + 'b' + inputs.text.substring(0, 50000))`,
    ),
    large(400_000),
  ],
  [
    'the last of what almost fits',
    times(200, `inputs.text.lastIndexOf('b' + inputs.text.substring(0, 1000))`),
    large(400_000),
  ],
  [
    'every item in every list',
    'inputs.list.map(x, x in inputs.other)',
    () => ({ list: numbers(30_000), other: numbers(30_000).map((index) => -index) }),
  ],
  [
    'large lists compared',
    'inputs.list.all(x, inputs.list == inputs.other)',
    () => ({ list: numbers(30_000), other: numbers(30_000) }),
  ],
  [
    'large maps compared',
    times(900, 'inputs.names == inputs.others'),
    () => ({ names: named(20_000), others: named(20_000) }),
  ],
  ['names counted', squaredAll(900, 'size(inputs.names) > 0'), () => ({ names: named(20_000) })],
  ['characters counted', squaredAll(900, 'size(inputs.text) > 0'), large(500_000)],
  ['loops in loops', squaredAll(900, 'x + y == 0')],
  ['texts compared', squaredAll(900, `inputs.text <= inputs.text + 'a'`), large(100_000)],
  ['numbers turned into text and back', squaredAll(600, 'int(string(x + 123456789)) > 0')],
  [
    'wrong patterns, caught',
    `inputs.list.all(x, 'a'.matches('${'(a|b)*'.repeat(100)}(' + string(x)) || true)`,
    listed(20_000),
  ],
  [
    'many searches in a long text',
    `${LIST}.all(a, inputs.text.contains('${'a'.repeat(900)}b') == false)`,
    large(100_000),
  ],
  ['integers of a double without end', squaredAll(600, 'string(int(1.7e308)) == "" || true')],
];

/** Patterns that are made while the expression runs, or run long. */
const MATCHING: readonly Row[] = [
  [
    'a new large pattern for every item',
    `inputs.list.map(x, 'a'.matches('[a-z]{900}' + string(x)))`,
    listed(2_000),
  ],
  [
    'a pattern with many ways on a long text',
    `inputs.text.matches('(.*a){12}$')`,
    () => ({ text: `${'a'.repeat(300_000)}!` }),
  ],
  [
    'a wide class without case',
    `inputs.text.matches('${'(?i)[\\\\u0100-\\\\u{1e900}]{99}'.repeat(20)}')`,
    () => ({ text: 'ā'.repeat(100_000) }),
  ],
  [
    'properties of every character',
    times(500, `inputs.text.matches('[\\\\pL\\\\pN\\\\pZ]{900}!')`),
    large(50_000),
  ],
  [
    'a pattern per element',
    `${LIST}.all(a, inputs.text.matches('(a|b|c){' + string(a + 1) + '}$') || true)`,
    large(100_000),
  ],
  [
    'two long patterns in turn',
    squaredAll(
      350,
      `'a'.matches('x(b|c)${'a'.repeat(900)}') || 'a'.matches('y(b|c)${'a'.repeat(900)}') || true`,
    ),
  ],
];

const FAILING: readonly Row[] = [
  ['a duration of digits', 'duration(inputs.text)', () => ({ text: '1'.repeat(50_000) })],
  [
    'a result that is too deep',
    'bytes(inputs.text).json()',
    () => ({ text: '['.repeat(5_000) + ']'.repeat(5_000) }),
  ],
  ['a key that is a list', '{inputs.list: 1}', listed(50_000)],
  ['text without end in an error', 'int(inputs.text)', large(100_000)],
];

/** What looks as bad, and is not. */
const ENDING: readonly Row[] = [
  ['a filter of a filter of literals', `${LIST}.filter(a, ${LIST}.filter(b, a == b).size() > 0).size() > 0`],
  ['a needle that nearly occurs everywhere', `inputs.text.contains(inputs.text + 'b')`, large(100_000)],
  ['bytes of texts of bytes', 'string(bytes(inputs.text + inputs.text)).size()', large(100_000)],
  ['comparisons of long lists', `${LIST}.all(a, ${LIST} == ${LIST})`],
  ['memberships in long lists', `${LIST}.all(a, a in ${LIST} && a in ${LIST})`],
  ['conversions to and fro', `${LIST}.map(a, string(int(string(double(a))))).size()`],
];

const rows = (table: readonly Row[], code?: HostileExpression['code']): HostileExpression[] =>
  table.map(([name, expression, inputs]) => ({
    name,
    expression,
    ...(code !== undefined && { code }),
    ...(inputs !== undefined && { inputs }),
  }));

export const HOSTILE_EXPRESSIONS: readonly HostileExpression[] = [
  ...rows(MEMORY, 'expression_budget_exceeded'),
  ...rows(WORK, 'expression_budget_exceeded'),
  ...rows(MATCHING, 'pattern_too_costly'),
  ...rows(FAILING, 'expression_failed'),
  ...rows(ENDING),
];

/** Expressions that are refused at registration: the text itself is too long, too deep, or no part of the language here. */
export const HOSTILE_SOURCES: readonly { readonly name: string; readonly expression: string }[] = [
  { name: 'a long source', expression: `"${'x'.repeat(5000)}"` },
  { name: 'a long source in UTF-8', expression: `"${'é'.repeat(2100)}"` },
  { name: 'many brackets', expression: '('.repeat(2000) + ')'.repeat(2000) },
  { name: 'lists in lists', expression: `${'['.repeat(500)}1${']'.repeat(500)}` },
  { name: 'many negations', expression: `${'!'.repeat(4000)}true` },
  { name: 'many signs', expression: `${'-'.repeat(4000)}1` },
  { name: 'a long list', expression: `[${'1,'.repeat(2000)}1]` },
  { name: 'a long sum', expression: `${'1+'.repeat(2000)}1` },
  { name: 'many conditions', expression: `${'true?'.repeat(700)}1${':1'.repeat(700)}` },
  {
    name: 'three loops in each other',
    expression: 'inputs.l.map(a, inputs.l.map(b, inputs.l.map(c, a + b + c)))',
  },
  { name: 'doubling by binding', expression: 'cel.bind(x, "aaaa", cel.bind(y, x + x, y + y))' },
  { name: 'a key that is lost', expression: '{"__proto__": 1}' },
  { name: 'maps inside maps', expression: `${LIST}.map(a, ${LIST}.map(b, ${LIST}.map(c, c).size()))` },
  { name: 'deep conditions', expression: `${'true ? '.repeat(200)}1${' : 2'.repeat(200)}` },
  { name: 'powers by addition', expression: nestedSum(12) },
  {
    name: 'a map with long keys',
    expression: `{${numbers(70)
      .map((at) => `"${'k'.repeat(50)}${at}": inputs.text`)
      .join(',')}}`,
  },
];

function nestedSum(depth: number): string {
  return depth === 0 ? '"xy"' : `(${nestedSum(depth - 1)} + ${nestedSum(depth - 1)})`;
}

export interface HostilePattern {
  readonly name: string;
  readonly pattern: string;
  /** A text on which it takes too long; absent when it is refused at registration. */
  readonly text?: () => string;
  /** Whether it matches; absent when that is not found out within the budget. */
  readonly matches?: boolean;
}

export const HOSTILE_PATTERNS: readonly HostilePattern[] = [
  { name: 'counts in counts', pattern: '(a{1000}){1000}' },
  { name: 'counts after counts', pattern: 'a{999}'.repeat(100) },
  { name: 'counts a hundred deep', pattern: `${'('.repeat(100)}a${'{9})'.repeat(100)}` },
  { name: 'a long pattern', pattern: 'a'.repeat(5000) },
  { name: 'lookaround', pattern: '(?=a)*b' },
  { name: 'a backreference', pattern: '(a*)*\\1' },
  { name: 'plus in plus', pattern: '(a+)+$', text: () => `${'a'.repeat(900_000)}!` },
  { name: 'choices that overlap', pattern: '(a|aa|a?)*b', text: () => 'a'.repeat(250_000) },
  { name: 'many stars', pattern: '(.*a){12}$', text: () => 'a'.repeat(250_000) },
  { name: 'many optional parts', pattern: '(x?x?){950}y', text: () => 'x'.repeat(50_000) },
  {
    name: 'wide classes without case',
    pattern: '(?i)[\u0100-\u{1e900}]{300}!',
    text: () => 'ā'.repeat(50_000),
  },
  { name: 'properties', pattern: '(?i)(\\pL\\pN?){400}$', text: () => 'ä'.repeat(50_000) },
  { name: 'word boundaries', pattern: '\\b(\\w\\b|\\w)*!', text: () => 'a'.repeat(250_000) },
  { name: 'counts in counts in counts', pattern: '((a{1,30}){1,30}){1,30}$' },
  {
    name: 'many alternatives',
    pattern: numbers(300)
      .map((at) => `a{${at % 50}}b`)
      .join('|'),
  },
  {
    name: 'classes without end',
    pattern: `[${numbers(200)
      .map((at) => `\\u0${(0x100 + at * 3).toString(16)}`)
      .join('')}]{1,500}`,
  },
  {
    name: 'unicode categories',
    pattern: '(\\p{L}|\\p{N}|\\p{P}){1,200}$',
    text: () => 'a'.repeat(100_000),
  },
  { name: 'nested stars', pattern: '(a*)*$', text: () => `${'a'.repeat(100_000)}!`, matches: true },
  {
    name: 'alternatives that overlap',
    pattern: '(a|aa|aaa)+$',
    text: () => `${'a'.repeat(100_000)}!`,
    matches: false,
  },
  {
    name: 'optional after optional',
    pattern: `${'a?'.repeat(250)}${'a'.repeat(250)}`,
    text: () => 'a'.repeat(250),
    matches: true,
  },
  {
    name: 'brackets without end',
    pattern: `${'('.repeat(400)}a${')'.repeat(400)}`,
    text: () => 'a'.repeat(100_000),
    matches: true,
  },
];

export interface HostileSchema {
  readonly name: string;
  readonly schema: JsonObject;
  /** A value against which holding it takes too long; absent when it is refused at registration. */
  readonly value?: () => Json;
  /** Absent when it is found out within the budget whether the value fits. */
  readonly code?: ErrorCode;
}

function doubling(levels: number): JsonObject {
  const definitions: JsonObject = { [`d${levels}`]: { type: 'string' } };
  for (const level of numbers(levels)) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    definitions[`d${level}`] = { allOf: [next, { ...next }] };
  }
  return { $ref: '#/$defs/d0', $defs: definitions };
}

function nested(depth: number, leaf: Json, wrap: (inner: Json) => Json): JsonObject {
  let value = leaf;
  for (const _ of numbers(depth)) value = wrap(value);
  return value as JsonObject;
}

/** Names of different lengths. */
const manyMembers = (count: number): JsonObject =>
  Object.fromEntries(numbers(count).map((at) => [`x${'y'.repeat(at % 60)}${at}`, at]));

const TOO_LARGE: readonly Omit<HostileSchema, 'code'>[] = [
  {
    name: 'alternatives inside alternatives',
    schema: nested(14, { type: 'string' }, (inner) => ({ anyOf: [inner, inner] })),
  },
  {
    name: 'depth',
    schema: nested(500, { type: 'string' }, (inner) => ({ type: 'object', properties: { a: inner } })),
  },
  {
    // Both branches are the same object, but not in the text: that doubles with every level.
    name: 'conditions',
    schema: nested(14, true, (inner) =>
      Object.fromEntries([['if', { type: 'object' }], ...['then', 'else'].map((name) => [name, inner])]),
    ),
  },
  {
    name: 'small items that must differ',
    schema: { uniqueItems: true },
    value: () => numbers(20_000).map((at) => [at]),
  },
  { name: 'references that double', schema: doubling(28) },
  { name: 'many branches', schema: { anyOf: numbers(5000).map((index) => ({ required: [`a${index}`] })) } },
  {
    name: 'branches for every item',
    schema: { items: { oneOf: numbers(900).map((index) => ({ const: index })) } },
    value: () => numbers(20_000),
  },
  {
    name: 'what is left unevaluated',
    schema: { anyOf: numbers(300).map(() => ({ additionalProperties: true })), unevaluatedProperties: false },
    value: () => named(20_000),
  },
  {
    name: 'large constants',
    schema: { items: { const: [named(1500)] } },
    value: () => numbers(40).map(() => [named(1500)]),
  },
  {
    name: 'large items that must differ',
    schema: { uniqueItems: true },
    value: () => numbers(100).map((index) => [index, named(500)]),
  },
  {
    name: 'dependencies of every field',
    schema: {
      items: {
        dependentSchemas: Object.fromEntries(
          numbers(500).map((index) => [`name${index}`, { minProperties: 1 }]),
        ),
      },
    },
    value: () => numbers(100).map(() => named(500)),
  },
];

const TOO_COSTLY: readonly Omit<HostileSchema, 'code'>[] = [
  {
    name: 'patterns that are large together',
    schema: { allOf: numbers(300).map((index) => ({ pattern: `[a-z${index}]{1000}` })) },
  },
  { name: 'a pattern with counts in counts', schema: { patternProperties: { '(a{1000}){1000}': {} } } },
  {
    name: 'patterns for every name',
    schema: { patternProperties: Object.fromEntries(numbers(200).map((index) => [`[a-z]+${index}$`, {}])) },
    value: () => Object.fromEntries(numbers(2_000).map((index) => [`${'n'.repeat(200)}${index}`, 1])),
  },
  {
    name: 'a pattern with many ways',
    schema: { items: { pattern: '(.*a){12}$' } },
    value: () => numbers(50).map(() => 'a'.repeat(10_000)),
  },
  {
    name: 'names that are long for their pattern',
    schema: { propertyNames: { pattern: '^(([a-z])+.)+$' } },
    value: () => Object.fromEntries(numbers(600).map((index) => ['a'.repeat(200 + index), 1])),
  },
];

const ENDING_SCHEMAS: readonly HostileSchema[] = [
  {
    name: 'many properties',
    schema: { properties: Object.fromEntries(numbers(1_500).map((at) => [`p${at}`, { type: 'string' }])) },
    value: () => ({}),
  },
  {
    name: 'many patterns',
    schema: {
      patternProperties: Object.fromEntries(numbers(200).map((at) => [`^(a|b){${at % 40}}$`, {}])),
    },
    value: () => manyMembers(2_000),
  },
  {
    name: 'one of many',
    schema: { oneOf: numbers(800).map((at) => ({ type: 'object', required: [`r${at}`] })) },
    value: () => manyMembers(500),
  },
  {
    name: 'a pattern against a long text',
    schema: { pattern: '^(a+)+$' },
    value: () => `${'a'.repeat(100_000)}!`,
  },
  {
    name: 'names against patterns',
    schema: { propertyNames: { pattern: '^(x|y){1,200}$' } },
    value: () => manyMembers(5_000),
  },
  {
    name: 'an enumeration of long texts',
    schema: { enum: numbers(300).map((at) => `${'e'.repeat(150)}${at}`) },
    value: () => 'none',
  },
];

export const HOSTILE_SCHEMAS: readonly HostileSchema[] = [
  ...TOO_LARGE.map((row): HostileSchema => ({ ...row, code: 'schema_too_large' })),
  ...TOO_COSTLY.map((row): HostileSchema => ({ ...row, code: 'pattern_too_costly' })),
  {
    name: 'a reference to itself',
    schema: { properties: { child: { $ref: '#' } } },
    code: 'validation_error',
  },
  {
    name: 'references in a circle',
    schema: { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' },
    code: 'validation_error',
  },
  {
    name: 'a remote schema',
    schema: { $ref: 'http://127.0.0.1:9/schema' },
    code: 'validation_error',
  },
  ...ENDING_SCHEMAS,
];

/**
 * Pieces of text that, again and again, make a careless search for secrets go over the same characters: beginnings without
 * an end, in answers from outside and in inputs.
 */
export const HOSTILE_PIECES: readonly { readonly name: string; readonly piece: string }[] = [
  { name: 'half a token', piece: 'eyJ-' },
  { name: 'tokens without their end', piece: 'eyJhbGciOi.' },
  { name: 'addresses with passwords', piece: 'https://a:b' },
  { name: 'short addresses with passwords', piece: 'a://b:c' },
  { name: 'the word bearer', piece: 'Bearer ' },
  { name: 'keys that begin and never end', piece: '-----BEGIN RSA PRIVATE KEY-----\n' },
  { name: 'one letter', piece: 'A' },
  { name: 'two letters', piece: 'ab' },
  { name: 'a token in base64', piece: 'ZXlKLQ' },
  { name: 'a token in hexadecimal', piece: '65794a2d' },
  { name: 'a token in percent-encoding', piece: '%65%79%4A%2D' },
  { name: 'a token in escapes', piece: '\\u0065\\u0079\\u004a-' },
  { name: 'control characters and half characters', piece: '\u0000\u001b]0;x\u0007\u202e\ufffd' },
];
