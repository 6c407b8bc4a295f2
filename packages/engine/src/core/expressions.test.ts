import type { Json, JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressionCompiler, evaluateToBoolean } from './expressions.ts';
import { ExpressionError } from './plan.ts';

const compiler = createExpressionCompiler();
const evaluate = (source: string, scope: JsonObject = {}): Json => compiler.compile(source)(scope);

const scope: JsonObject = {
  inputs: { name: 'Ada', tags: ['a', 'b'], limit: 3, ratio: 0.5, nothing: null },
  output: {
    count: 4,
    items: [1, 2.5, 3],
    users: [
      { name: 'x', admin: true },
      { name: 'y', admin: false },
    ],
  },
  variables: { total: 10 },
  nodes: { 'my-node': { output: { ok: true } } },
  item: 7,
  index: 0,
};

describe('an expression', () => {
  it('compares JSON numbers with integer and fractional literals alike', () => {
    const holds = [
      'output.count > 3',
      'output.count == 4',
      'output.count == 4.0',
      'output.count >= 3.5',
      'inputs.ratio == 0.5',
      'inputs.ratio < 1',
      'size(output.items) == 3',
      'output.items[1] == 2.5',
      'output.count in [4.0, 5.0]',
      'item + index == 7',
    ];

    for (const source of holds) expect(evaluate(source, scope), source).toBe(true);
  });

  it('calculates with mixed numbers and gives JSON numbers back', () => {
    expect(evaluate('output.count * 1.5', scope)).toBe(6);
    expect(evaluate('inputs.ratio + 1', scope)).toBe(1.5);
    expect(evaluate('output.count / 3', scope)).toBe(1);
    expect(evaluate('output.items.map(x, x + 1)', scope)).toEqual([2, 3.5, 4]);
  });

  it('reads members whose names are not identifiers, and names that objects inherit', () => {
    const odd: JsonObject = {
      output: JSON.parse('{"constructor": 1, "__proto__": {"x": 2}, "toString": "s"}'),
    };

    expect(evaluate('nodes["my-node"].output.ok', scope)).toBe(true);
    expect(
      evaluate('output.constructor == 1 && output.toString == "s" && output.__proto__.x == 2', odd),
    ).toBe(true);
    expect(evaluate('has(output.valueOf)', odd)).toBe(false);
    expect(JSON.stringify(evaluate('output', odd))).toBe(JSON.stringify(odd['output']));
  });

  it('filters, maps and tests lists', () => {
    expect(evaluate('output.users.filter(u, u.admin).map(u, u.name)', scope)).toEqual(['x']);
    expect(evaluate('output.users.all(u, u.name.startsWith("x") || !u.admin)', scope)).toBe(true);
    expect(evaluate('output.users.exists(u, inputs.tags.exists(t, t == u.name))', scope)).toBe(false);
  });

  it('sees variables under both names', () => {
    expect(evaluate('vars.total == variables.total', scope)).toBe(true);
  });

  it('builds objects and lists', () => {
    expect(evaluate('{"a": output.count, "b": [inputs.name, null]}', scope)).toEqual({
      a: 4,
      b: ['Ada', null],
    });
  });

  it('finds patterns with the linear engine, also with blanks and comments before the name', () => {
    expect(evaluate('inputs.name.matches("^A.a$")', scope)).toBe(true);
    expect(evaluate('(inputs.name) . // here\n matches("d")', scope)).toBe(true);
    expect(() => evaluate('inputs.name.matches("(?=A)")', scope)).toThrow(/lookaround/);
    expect(() => evaluate('inputs.limit.matches("x")', scope)).toThrow(/int\.matches\(string\)/);
  });

  it('means the same with brackets around its parts', () => {
    for (const source of ['(output).count', '((output).count)', '(output.items)[0] + (output).count - 1']) {
      expect(evaluate(source, scope), source).toBe(4);
    }
  });

  it('says which expression failed when a field is missing, unless has() asked first', () => {
    expect(() => evaluate('output.missing > 1', scope)).toThrow(
      new ExpressionError('Cannot evaluate "output.missing > 1": No such key: missing.'),
    );
    expect(evaluate('has(output.missing) && output.missing > 1', scope)).toBe(false);
    expect(evaluate('has(inputs.nothing)', scope)).toBe(true);
  });

  it('refuses unknown names and functions at once, with the position and what there is', () => {
    expect(() => compiler.compile('1 == 1 && foo.bar')).toThrow(
      /Unknown variable: foo .*inputs, output.*column 11/,
    );
    expect(() => compiler.compile('output.a +\n')).toThrow(/line 2, column 1/);
    expect(() => compiler.compile('output.x.nothing()')).toThrow(/nothing/);
    expect(() => compiler.compile('output.a + output.b + (1 + "a")')).toThrow(/column 24/);
    expect(() => compiler.compile('__read(output)')).toThrow(/not a function/);
    expect(() => compiler.compile('')).toThrow(ExpressionError);
  });

  it('refuses results that JSON cannot hold', () => {
    for (const source of [
      '9007199254740993',
      '1.0 / 0.0',
      'timestamp("2024-01-01T00:00:00Z")',
      'duration("1s")',
      'type(1)',
      'b"abc"',
    ]) {
      expect(() => evaluate(source), source).toThrow(ExpressionError);
    }
    expect(evaluate('uint(3)')).toBe(3);
  });

  it('gives every JSON value back as it came', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;

        expect(JSON.stringify(evaluate('inputs.value', { inputs: { value: json } }))).toBe(
          JSON.stringify(json),
        );
      }),
    );
  });

  it('agrees with JavaScript about the order of any two numbers', () => {
    const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));

    fc.assert(
      fc.property(number, number, (a, b) => {
        const values = { inputs: { a, b } };

        expect(evaluate('inputs.a < inputs.b', values)).toBe(a < b);
        expect(evaluate('inputs.a == inputs.b', values)).toBe(a === b);
      }),
    );
  });

  it('must be boolean where a condition is meant', () => {
    const count = compiler.compile('output.count');

    expect(() => evaluateToBoolean(count, scope, 'output.count')).toThrow(
      /must give true or false, but gave number/,
    );
  });
});

describe('the bounds of expressions', () => {
  it('refuse at registration what is too long, too deep or too nested', () => {
    const list = 'inputs.l';
    const hostile = [
      `"${'x'.repeat(5000)}"`,
      `"${'é'.repeat(2100)}"`,
      '('.repeat(2000) + ')'.repeat(2000),
      `${'['.repeat(500)}1${']'.repeat(500)}`,
      `${'!'.repeat(4000)}true`,
      `${'-'.repeat(4000)}1`,
      `[${'1,'.repeat(2000)}1]`,
      '1+'.repeat(2000) + '1',
      'true?'.repeat(700) + '1' + ':1'.repeat(700),
      `${list}.map(a, ${list}.map(b, ${list}.map(c, a + b + c)))`,
      'cel.bind(x, "aaaa", cel.bind(y, x + x, y + y))',
      '{"__proto__": 1}',
    ];
    const startedAt = performance.now();

    for (const source of hostile)
      expect(() => compiler.compile(source), source.slice(0, 40)).toThrow(ExpressionError);

    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('stop at run time what would take for ever', () => {
    const numbers = Array.from({ length: 100_000 }, (_, number) => number);
    const text = 'a'.repeat(2_000_000);
    const inputs: JsonObject = { l: numbers, s: text, other: [...numbers], nested: [numbers, [...numbers]] };
    const hostile = [
      'inputs.l.map(a, inputs.l.map(b, a + b))',
      'inputs.l.all(a, inputs.l.all(b, a + b >= 0))',
      'inputs.l.map(a, a in inputs.other)',
      'inputs.l.map(a, inputs.l == inputs.other)',
      'inputs.l.map(a, inputs.s)',
      'inputs.l.map(a, inputs.s).join()',
      'inputs.l.map(a, inputs.l + inputs.l)',
      'inputs.l.exists(a, inputs.nested == [])',
      'inputs.l.map(a, size(inputs.s))',
      'size(inputs.s) + '.repeat(100) + '1',
      '(inputs.s + inputs.s).split("").map(a, inputs.s.split(""))',
    ];

    for (const source of hostile) {
      const startedAt = performance.now();

      expect(() => evaluate(source, { inputs }), source.slice(0, 60)).toThrow(ExpressionError);
      expect(performance.now() - startedAt, source.slice(0, 60)).toBeLessThan(5_000);
    }
  });

  it('let ordinary work over large lists pass', () => {
    const l = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` }));

    expect(
      evaluate('size(inputs.l.filter(x, x.id % 2 == 0 && x.name.endsWith("0")))', { inputs: { l } }),
    ).toBe(2000);
  });

  it('do not charge for state the expression does not look at', () => {
    const inputs = { small: 1, huge: Array.from({ length: 2_000_000 }, () => 0) };

    expect(evaluate('inputs.small == 1', { inputs })).toBe(true);
    expect(() => evaluate('size(inputs.huge)', { inputs })).toThrow(/more data/);
  });
});
