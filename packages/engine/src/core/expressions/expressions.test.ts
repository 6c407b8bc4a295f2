import { type Json, type JsonObject, WorkBudget } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressionCompiler, evaluateToBoolean } from './expressions.ts';
import { ExpressionError } from '../compile/plan.ts';
import { HOSTILE_SOURCES } from '../testing/hostile-texts.ts';

const compiler = createExpressionCompiler();
const evaluate = (source: string, scope: JsonObject = {}): Json =>
  compiler.compile(source)(scope, new WorkBudget());

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
    expect(() => compiler.compile('optional.of(output)')).toThrow(/not available here, at column 1/);
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

  it('makes no integer of a double that has more than 64 bits', () => {
    for (const source of ['int(1e308)', 'int(-1e19)', 'int(9223372036854775808.0)', 'int(1.0 / 0.0)'])
      expect(() => evaluate(`string(${source})`), source).toThrow(/overflow/);
    expect(evaluate('string(int(-9223372036854775808.0))')).toBe('-9223372036854775808');
    expect(evaluate('int(-2.9)')).toBe(-2);
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

    expect(() => evaluateToBoolean(count, scope, 'output.count', new WorkBudget())).toThrow(
      /must give true or false, but gave number/,
    );
  });
});

describe('the bounds of expressions', () => {
  /** What an evaluation spends when nothing stops it. */
  function costOf(source: string, inputs: JsonObject = {}): WorkBudget {
    const budget = new WorkBudget({ steps: 1e9, bytes: 1e9 });
    compiler.compile(source)({ inputs }, budget);
    return budget;
  }

  it.each(HOSTILE_SOURCES)('refuse at registration: $name', ({ expression }) => {
    expect(() => compiler.compile(expression)).toThrow(ExpressionError);
  });

  it('name limit and observed of a source that is too large', () => {
    expect(() => compiler.compile(`"${'x'.repeat(5000)}"`)).toThrow(
      expect.objectContaining({
        code: 'expression_budget_exceeded',
        details: { limit: 4096, observed: 5002 },
      }),
    );
    expect(() => compiler.compile('1+'.repeat(1500) + '1')).toThrow(
      expect.objectContaining({
        code: 'expression_budget_exceeded',
        details: { limit: 2000, observed: 2001 },
      }),
    );
  });

  it('refuse what would overflow the stack of a walk over it', () => {
    for (const source of [`${'!'.repeat(1900)}true`, `${'-'.repeat(1900)}1`, `1${'+1'.repeat(900)}`]) {
      expect(() => compiler.compile(source), source.slice(0, 10)).toThrow(
        expect.objectContaining({
          code: 'expression_budget_exceeded',
          details: { limit: 500, observed: 501 },
        }),
      );
    }
    expect(evaluate(`1${'+1'.repeat(498)}`)).toBe(499);
  });

  it('let ordinary work over large lists pass', () => {
    const l = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` }));

    expect(
      evaluate('size(inputs.l.filter(x, x.id % 2 == 0 && x.name.endsWith("0")))', { inputs: { l } }),
    ).toBe(2000);
    expect(evaluate('size(inputs.l.filter(x, x.name.matches("^n[0-9]*7$")))', { inputs: { l } })).toBe(2000);
  });

  it('do not charge for state the expression does not look at', () => {
    const huge = Array.from({ length: 2_000_000 }, () => 0);

    expect(costOf('inputs.small == 1 || size(inputs.huge) > 5', { small: 2, huge }).steps).toBeLessThan(30);
  });

  it('charge for what an evaluation does, not for what happens to be known from before', () => {
    const inputs: JsonObject = { l: ['a1', 'b2', 'c'], s: 'x,y' };
    const source = 'inputs.l.filter(x, x.matches("^[a-z][0-9]{1,900}$")).join(inputs.s)';
    const first = costOf(source, inputs);
    for (let count = 0; count < 300; count++) costOf(`"".matches("[a-z]{900}${count}")`);

    const again = costOf(source, inputs);

    expect([again.steps, again.bytes]).toEqual([first.steps, first.bytes]);
  });

  it('cannot be caught inside the expression', () => {
    const l = Array.from({ length: 2000 }, (_, index) => index);

    for (const source of [
      'inputs.l.exists(a, inputs.l.all(b, a + b >= 0)) || true',
      'true || false && inputs.l.all(a, inputs.l.all(b, a + b >= 0))',
      'inputs.l.all(a, inputs.l.all(b, a + b >= 0)) ? 1 : 2',
    ]) {
      const budget = new WorkBudget({ steps: 10_000, bytes: 1e6 });
      const evaluation = () => compiler.compile(source)({ inputs: { l } }, budget);
      if (source.startsWith('true')) expect(evaluation()).toBe(true);
      else expect(evaluation).toThrow(expect.objectContaining({ code: 'expression_budget_exceeded' }));
    }
  });

  it('charge a shared value as often as it will be written', () => {
    const text = 'x'.repeat(10_000);

    expect(costOf('inputs.text', { text }).bytes).toBeGreaterThan(10_000);
    expect(costOf('[1,2,3,4,5,6,7,8,9].map(x, inputs.text)', { text }).bytes).toBeGreaterThan(90_000);
    expect(costOf('{"a": inputs, "b": inputs}', { text }).bytes).toBeGreaterThan(20_000);
  });

  it('refuse a result that is nested deeper than its readers can go', () => {
    let deep: Json = 1;
    for (let level = 0; level < 200; level++) deep = [deep];

    expect(() => evaluate('[inputs.deep]', { inputs: { deep } })).toThrow(/nested more than 128 deep/);
    expect(() => evaluate('inputs.deep == inputs.other', { inputs: { deep, other: [deep] } })).not.toThrow();
  });

  it('keep messages short, whatever the values are', () => {
    const text = 'y'.repeat(100_000);
    const inputs: JsonObject = { text, object: { a: 1 } };

    for (const source of [
      'inputs.object[inputs.text]',
      'bool(inputs.text)',
      'duration(inputs.text)',
      'timestamp(0).getHours(inputs.text)',
      'inputs.text.matches(inputs.text)',
      'inputs.text + 1',
    ]) {
      const message = (() => {
        try {
          return String(evaluate(source, { inputs }));
        } catch (error) {
          expect(error, source).toBeInstanceOf(ExpressionError);
          return (error as Error).message;
        }
      })();
      expect(message.length, source).toBeLessThan(800);
    }
  });

  it('keep the types that the checker remembers few, however literals are nested', () => {
    const nested = (seed: number): string =>
      seed === 0 ? '1' : seed % 2 === 0 ? `[${nested(seed >> 1)}]` : `{"a": ${nested(seed >> 1)}}`;

    for (let seed = 1; seed < 2000; seed++) {
      expect(compiler.compile(nested(seed)).size).toBeGreaterThan(1);
    }
  });
});
