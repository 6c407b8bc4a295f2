import { Environment } from '@marcbachmann/cel-js';
import { WorkBudget } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EvaluationFailure } from './failure.ts';
import { FUNCTIONS, overloadsOf } from './functions.ts';
import { MACROS } from './comprehensions.ts';
import { BINARY, UNARY } from './operators.ts';
import { DurationValue, ListValue, MapValue, TypeValue, UnsignedValue, type Value } from './values.ts';

/** Known to the type checker, and on purpose not to expressions. */
const LEFT_OUT = [
  /^optional</,
  /^OptionalNamespace\./,
  /^CelNamespace\./,
  /^type\((?:OptionalNamespace|CelNamespace)\)/,
];

describe('the table of functions', () => {
  const known = new Environment().getDefinitions().functions;

  it('has a row with a cost for every function that the type checker knows', () => {
    const rows = new Set(FUNCTIONS.map(({ signature }) => signature));
    const isMacro = ({ params }: (typeof known)[number]): boolean =>
      params.some(({ type }) => type === 'ast');
    const missing = known
      .filter((row) => !isMacro(row) && !LEFT_OUT.some((pattern) => pattern.test(row.signature)))
      .filter(({ signature }) => !rows.has(signature));

    expect(missing.map(({ signature }) => signature)).toEqual([]);
    expect(known.length).toBeGreaterThan(90);
  });

  it('has no row that the type checker would never let pass', () => {
    const signatures = new Set(known.map(({ signature }) => signature));

    expect(FUNCTIONS.filter(({ signature }) => !signatures.has(signature))).toEqual([]);
  });

  it('knows every macro', () => {
    const macros = known.filter(({ params }) => params.some(({ type }) => type === 'ast'));
    const names = new Set(macros.map(({ name }) => name));

    expect([...names].sort()).toEqual([...MACROS.keys(), 'bind', 'has', 'or', 'orValue'].sort());
  });

  it('is what calls are looked up in: what has no row does not exist', () => {
    expect(overloadsOf(true, 'join', 1)).toHaveLength(1);
    expect(overloadsOf(true, 'replace', 2)).toBeUndefined();
    expect(overloadsOf(false, 'join', 1)).toBeUndefined();
  });
});

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    '',
    'a,b,,c',
    '1',
    '1h30m',
    '2024-01-01T00:00:00Z',
    'America/New_York',
    'true',
    'ΐßﬃ',
    '[{},{}]',
    '[a-z]+',
  ),
);
const OPERANDS: Readonly<Record<string, fc.Arbitrary<Value>>> = {
  string: text,
  bool: fc.boolean(),
  int: fc.bigInt({ min: -5n, max: 40n }),
  uint: fc.bigInt({ min: 0n, max: 40n }).map((value) => new UnsignedValue(value)),
  double: fc.double(),
  bytes: text.map((value) => new TextEncoder().encode(value)),
  null: fc.constant(null),
  list: fc.oneof(
    fc.array(text, { maxLength: 8 }),
    fc.array(text, { maxLength: 8 }).map((items) => new ListValue(items)),
  ),
  map: fc
    .dictionary(text, fc.integer())
    .chain((object) => fc.constantFrom<Value>(object, new MapValue(new Map(Object.entries(object))))),
  type: fc.constant(new TypeValue('int')),
  'google.protobuf.Timestamp': fc.date({
    noInvalidDate: true,
    min: new Date('0002-01-01'),
    max: new Date('9998-01-01'),
  }),
  'google.protobuf.Duration': fc.integer().map((seconds) => new DurationValue(BigInt(seconds), 0)),
};
const anything = fc.oneof(...Object.values(OPERANDS));

/** Bytes that a result really takes, counted by its contents. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ListValue)
    return value.items.reduce<number>((sum, item) => sum + 8 + bytesOf(item), 0);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + 8 + bytesOf(item), 0);
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return Object.entries(value).reduce((sum, [name, member]) => sum + 16 + name.length + bytesOf(member), 8);
  return 8;
}

describe('the cost of a call', () => {
  it.each(FUNCTIONS.map((row) => [row.signature, row] as const))('covers what %s gives', (_, row) => {
    const [overload] = overloadsIn(row.signature);
    const args = fc.tuple(...(overload ?? []).map((kind) => OPERANDS[kind] ?? anything));
    const isNew = !/^(?:dyn|bool\(bool|bytes\(bytes|double\(double|int\(int|uint\(uint|string\(string)/.test(
      row.signature,
    );

    fc.assert(
      fc.property(args, (values) => {
        const steps = row.steps(values);
        const bytes = row.bytes?.(values) ?? 0;
        const budget = new WorkBudget();

        expect(steps).toBeGreaterThanOrEqual(1);
        try {
          const result = row.call(values, budget);
          // What is handed through was charged when it was made.
          if (isNew) expect(bytesOf(result)).toBeLessThanOrEqual(bytes + budget.bytes + 64);
        } catch (error) {
          expect(error).toBeInstanceOf(EvaluationFailure);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is charged by every operator, and covers what it gives', () => {
    for (const [sign, apply] of Object.entries(BINARY)) {
      fc.assert(
        fc.property(anything, anything, (left, right) => {
          const budget = new WorkBudget();
          let result: Value = null;
          try {
            result = apply(left, right, budget);
          } catch (error) {
            expect(error, sign).toBeInstanceOf(EvaluationFailure);
          }

          expect(budget.steps, sign).toBeGreaterThanOrEqual(1);
          expect(bytesOf(result), sign).toBeLessThanOrEqual(budget.bytes + 64);
        }),
        { numRuns: 300 },
      );
    }
    for (const apply of Object.values(UNARY)) {
      fc.assert(
        fc.property(anything, (operand) => {
          try {
            expect(bytesOf(apply(operand))).toBeLessThanOrEqual(64);
          } catch (error) {
            expect(error).toBeInstanceOf(EvaluationFailure);
          }
        }),
      );
    }
  });
});

function overloadsIn(signature: string): readonly (readonly string[])[] {
  const [, receiver, name = '', list = ''] = /^(?:([\w.<>, ]+)\.)?(\w+)\((.*)\): /.exec(signature) ?? [];
  const params = list === '' ? 0 : list.split(/, (?![^<]*>)/).length;
  const overloads = overloadsOf(receiver !== undefined, name, params) ?? [];
  return overloads.filter((overload) => overload.signature === signature).map(({ kinds }) => kinds);
}
