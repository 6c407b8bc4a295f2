import { compileClientSchema, compilePattern, type Json, type JsonObject, WorkBudget } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressionCompiler } from './expressions.ts';
import { ExpressionError } from '../compile/plan.ts';
import { HOSTILE_EXPRESSIONS, HOSTILE_PATTERNS, HOSTILE_SCHEMAS } from '../testing/hostile-texts.ts';

const compiler = createExpressionCompiler();

/** Notes when something is charged that it does not have. */
class WatchedBudget extends WorkBudget {
  readonly refused = new Set<unknown>();

  override spend(steps: number): void {
    this.#watch(() => super.spend(steps));
  }

  override allocate(bytes: number): void {
    this.#watch(() => super.allocate(bytes));
  }

  #watch(charge: () => void): void {
    try {
      charge();
    } catch (error) {
      this.refused.add(error);
      throw error;
    }
  }
}

/** All was paid for, or the first thing that could not be paid was the last. */
function expectWithin(budget: WatchedBudget): void {
  expect(budget.refused.size).toBeLessThanOrEqual(1);
  if (budget.refused.size > 0) return;
  expect(budget.steps).toBeLessThanOrEqual(budget.limits.steps);
  expect(budget.bytes).toBeLessThanOrEqual(budget.limits.bytes);
}

describe('a hostile expression', () => {
  it.each(HOSTILE_EXPRESSIONS)('ends within the budget: $name', ({ expression, inputs, code }) => {
    const budget = new WatchedBudget();
    const evaluate = compiler.compile(expression);
    const evaluation = (): Json => evaluate({ inputs: inputs?.() ?? {} }, budget);

    const expected = code === 'expression_failed' ? undefined : code;
    if (code === undefined) expect(evaluation).not.toThrow();
    else expect(evaluation).toThrow(expect.objectContaining({ name: 'ExpressionError', code: expected }));
    expectWithin(budget);
  });

  it('of any other kind ends within the budget too, with nothing but an ExpressionError', () => {
    const inputs: JsonObject = {
      list: Array.from({ length: 300 }, (_, index) => index),
      texts: Array.from({ length: 60 }, (_, index) => `${'ab'.repeat(index)},c`),
      text: 'aaab'.repeat(5000),
      map: Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, [index]])),
      nothing: null,
    };
    const leaf = fc.constantFrom(
      'inputs.list',
      'inputs.texts',
      'inputs.text',
      'inputs.map',
      'inputs',
      'inputs.nothing',
      '1',
      '2.5',
      '"a"',
      '",c"',
      '[1, "a"]',
      '{"k": 1}',
      'b"ab"',
      'x',
      'timestamp(0)',
    );
    const { expression } = fc.letrec<{ expression: string }>((tie) => {
      const part = tie('expression');
      const pair = fc.tuple(part, part);
      return {
        expression: fc.oneof(
          { maxDepth: 6, depthSize: 'medium' },
          leaf,
          fc
            .tuple(fc.constantFrom('+', '-', '*', '==', '<', 'in', '||', '&&'), pair)
            .map(([sign, [a, b]]) => `(${a} ${sign} ${b})`),
          fc
            .tuple(fc.constantFrom('map', 'filter', 'all', 'exists'), pair)
            .map(([name, [a, b]]) => `(${a}).${name}(x, ${b})`),
          fc
            .tuple(fc.constantFrom('join', 'split', 'contains', 'lastIndexOf', 'matches', 'startsWith'), pair)
            .map(([name, [a, b]]) => `(${a}).${name}(${b})`),
          fc
            .tuple(fc.constantFrom('bytes', 'string', 'size', 'type', 'dyn', 'double'), part)
            .map(([name, a]) => `${name}(${a})`),
          fc
            .tuple(fc.constantFrom('hex', 'base64', 'upperAscii', 'trim', 'size', 'json'), part)
            .map(([name, a]) => `(${a}).${name}()`),
          pair.map(([a, b]) => `[${a}, ${b}, ${a}]`),
          pair.map(([a, b]) => `{"a": ${a}, "b": ${b}}`),
          fc.tuple(part, part, part).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
        ),
      };
    });
    let evaluated = 0;
    let stopped = 0;

    fc.assert(
      fc.property(expression, (source) => {
        const budget = new WorkBudget({ steps: 20_000, bytes: 400_000 });
        const whole = `inputs.list.map(x, ${source})`;
        try {
          const result = compiler.compile(whole)({ inputs }, budget);
          evaluated += 1;
          // Counted by someone else: what the result takes as JSON was charged before it was made.
          expect(JSON.stringify(result).length).toBeLessThanOrEqual(budget.bytes + 8 * budget.steps);
        } catch (error) {
          expect(error, whole).toBeInstanceOf(ExpressionError);
          if ((error as ExpressionError).code !== undefined) stopped += 1;
        }
      }),
      { numRuns: 1500 },
    );

    expect(evaluated).toBeGreaterThan(30);
    expect(stopped).toBeGreaterThan(30);
  });
});

describe('a hostile pattern', () => {
  it.each(HOSTILE_PATTERNS)('is refused or ends within the budget: $name', ({ pattern, text, matches }) => {
    const budget = new WatchedBudget();
    const test = (): boolean => compilePattern(pattern).test(text?.() ?? '', budget);

    if (matches === undefined) expect(test).toThrow(expect.objectContaining({ name: 'PatternError' }));
    else expect(test()).toBe(matches);
    expectWithin(budget);
  });
});

describe('a hostile schema', () => {
  it.each(HOSTILE_SCHEMAS)('is refused or ends within the budget: $name', ({ schema, value, code }) => {
    const budget = new WatchedBudget();
    const validate = () => compileClientSchema(schema)(value?.() ?? null, budget);

    if (code === undefined) expect(validate).not.toThrow();
    else expect(validate).toThrow(expect.objectContaining({ name: 'HostError', code }));
    expectWithin(budget);
  });
});
