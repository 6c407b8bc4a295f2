import { Environment } from '@marcbachmann/cel-js';
import { type Json, type JsonObject, WorkBudget } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressionCompiler, EXPRESSION_ROOTS } from '../expressions.ts';

/** What the library that parses and checks would make of an expression, if it evaluated it too. */
const library = new Environment({ homogeneousAggregateLiterals: false });
for (const root of EXPRESSION_ROOTS) library.registerVariable(root, 'dyn');
for (const [sign, calculate] of Object.entries({
  '+': (left: number, right: number) => left + right,
  '-': (left: number, right: number) => left - right,
  '*': (left: number, right: number) => left * right,
  '/': (left: number, right: number) => left / right,
})) {
  const handler = (left: unknown, right: unknown): number => calculate(Number(left), Number(right));
  library.registerOperator(`int ${sign} double: double`, handler);
  library.registerOperator(`double ${sign} int: double`, handler);
}

const INPUTS: JsonObject = {
  a: 1,
  b: 2.5,
  s: 'hello',
  t: 'a,b,c',
  l: [1, 2, 3],
  texts: ['x', 'y', 'z'],
  m: { k: 1, z: 'q', n: null },
  n: null,
  f: true,
  users: [
    // Two: the library takes a list of one name for the name where a map is asked for it, which we do not.
    { id: 1, tags: ['a', 'b'] },
    { id: 2, tags: [] },
  ],
  u: 'ÄÖ😀',
  d: '1h30m',
  ts: '2024-02-29T12:34:56Z',
  mixed: [1, 'a', 2.5, null, true],
};

function toLibrary(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toLibrary);
  return new Map(Object.entries(value).map(([name, member]) => [name, toLibrary(member)]));
}

function fromLibrary(value: unknown): unknown {
  if (typeof value === 'bigint') return safe(Number(value), Number.isSafeInteger);
  if (typeof value === 'number') return safe(value, Number.isFinite);
  if (Array.isArray(value)) return value.map(fromLibrary);
  const entries =
    value instanceof Map
      ? [...value]
      : Object.prototype === protoOf(value)
        ? Object.entries(value as object)
        : undefined;
  if (entries !== undefined)
    return Object.fromEntries(entries.map(([name, member]) => [String(name), fromLibrary(member)]));
  if (typeof value === 'object' && value !== null) {
    const inner: unknown = value.valueOf();
    if (typeof inner === 'bigint') return fromLibrary(inner);
    throw new Error('not a JSON value');
  }
  return value;
}

function safe(value: number, holds: (value: number) => boolean): number {
  if (holds(value)) return value;
  throw new Error('not a JSON number');
}

function protoOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined;
}

/** Without unsigned integers, bytes and types, which the library goes through like a map when a loop is put around them. */
const LITERALS = [
  '1',
  '2',
  '0',
  '-3',
  '1.5',
  'true',
  'false',
  'null',
  "'a'",
  "''",
  "','",
  '[]',
  '[1, 2]',
  "['a', 'b']",
  '{}',
  "{'k': 1}",
  '[1, 2.0]',
  "[1, 'a']",
  "'1.5h'",
  "'l+'",
  "'1'",
];
const READS = [
  ...Object.keys(INPUTS).map((name) => `inputs.${name}`),
  'inputs.m.k',
  'inputs.missing',
  "inputs['s']",
  'inputs.l[0]',
  'inputs.l[9]',
  'inputs.users[0].tags',
];
const UNARY = [
  'size(#)',
  'string(#)',
  'int(#)',
  'double(#)',
  'bool(#)',
  'type(#) == int',
  'dyn(#)',
  '#.size()',
  '#.lowerAscii()',
  '#.upperAscii()',
  '#.trim()',
  '!#',
  '-#',
  'timestamp(#).getFullYear()',
  'duration(#).getSeconds()',
  'has(inputs.m.k)',
  '#.join()',
  'bytes(#).hex()',
  'bytes(#).base64()',
  'string(bytes(#))',
  '#.map(x, x)',
  '#.k',
  '#[0]',
  '#.map(x, [x])',
  'timestamp(#).getDayOfYear()',
];
const BINARY = [
  '# + #',
  '# - #',
  '# * #',
  '# / #',
  '# % #',
  '# == #',
  '# != #',
  '# < #',
  '# <= #',
  '# > #',
  '# >= #',
  '# in #',
  '# && #',
  '# || #',
  '#.contains(#)',
  '#.startsWith(#)',
  '#.endsWith(#)',
  '#.indexOf(#)',
  '#.lastIndexOf(#)',
  '#.split(#)',
  '#.join(#)',
  '#.matches(#)',
  '#.substring(#)',
  '[#, #]',
  '{"a": #, "b": #}',
  '#[#]',
  '#.all(x, x == #)',
  '#.exists(x, x == #)',
  '#.exists_one(x, x == #)',
  '#.map(x, x + #)',
  '#.filter(x, x > #)',
  '#.map(x, x != null, #)',
  '#.exists(x, x.k == #)',
  '#.all(x, # || x)',
  '#.split(#, 2)',
  '#.indexOf(#, 1)',
  '#.substring(1, #)',
];

const fill = ([template, first, second]: [string, string, string]): string =>
  template.replace('#', () => `(${first})`).replace('#', () => `(${second})`);
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(...LITERALS),
    fc.constantFrom(...READS),
    fc.tuple(fc.constantFrom(...UNARY), tie('expression'), tie('expression')).map(fill),
    fc.tuple(fc.constantFrom(...BINARY), tie('expression'), tie('expression')).map(fill),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'))
      .map(([c, a, b]) => `(${c}) ? (${a}) : (${b})`),
  ),
}));

describe('the value of an expression', () => {
  it('is what the library gives, and where that fails, it fails', () => {
    const compiler = createExpressionCompiler();
    const inputs = toLibrary(INPUTS);
    let agreed = 0;

    const attempt = (evaluate: () => unknown): { value?: unknown } => {
      try {
        return { value: evaluate() };
      } catch {
        return {};
      }
    };

    fc.assert(
      fc.property(expression, (source) => {
        const program = attempt(() => {
          const parsed = library.parse(source);
          if (!parsed.check().valid) throw new Error('not valid');
          return parsed;
        }).value as ReturnType<typeof library.parse> | undefined;
        if (program === undefined) return; // what the checker refuses is refused; some of it we accept
        const expected = attempt(() => JSON.stringify(fromLibrary(program({ inputs }))));
        const given = attempt(() =>
          JSON.stringify(compiler.compile(source)({ inputs: INPUTS }, new WorkBudget())),
        );

        expect(given, source).toEqual(expected);
        if ('value' in expected) agreed += 1;
      }),
      { numRuns: 4000 },
    );

    expect(agreed).toBeGreaterThan(1000);
  });
});
