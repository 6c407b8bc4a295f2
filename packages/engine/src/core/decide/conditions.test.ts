import { canonicalJson, type EdgeCondition, type Json, type JsonObject, WorkBudget } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTexts } from '../compile/texts.ts';
import { compileCondition, ConditionError, deepEqual } from './conditions.ts';
import { createExpressionCompiler } from '../expressions/expressions.ts';

const compiler = createTexts(createExpressionCompiler());

function holds(condition: EdgeCondition, outputs: JsonObject): boolean {
  const scope = { outputs, output: outputs['output'] ?? null };
  return compileCondition(condition, compiler)(outputs, scope, new WorkBudget());
}

describe('a condition', () => {
  it('evaluates an expression, also when its type is left out', () => {
    const outputs = { output: { count: 4 } };

    expect(holds({ type: 'expression', expression: 'output.count > 3' }, outputs)).toBe(true);
    expect(holds({ expression: 'outputs.output.count > 4' }, outputs)).toBe(false);
  });

  it('fails when its expression gives something else than true or false', () => {
    expect(() => holds({ expression: 'output.count' }, { output: { count: 4 } })).toThrow(/true or false/);
  });

  it('compares deeply, whatever the order of members', () => {
    const outputs = { output: { a: { x: 1, y: [1, 2] } } };

    expect(holds({ type: 'equals', left: 'output.a', right: { y: [1, 2], x: 1 } }, outputs)).toBe(true);
    expect(holds({ type: 'equals', left: 'output.a', right: { y: [2, 1], x: 1 } }, outputs)).toBe(false);
    expect(holds({ type: 'notEquals', left: 'output.a.x', right: '1' }, outputs)).toBe(true);
  });

  it('treats a missing value as equal to nothing', () => {
    for (const right of [null, '', 0, false]) {
      expect(holds({ type: 'equals', left: 'output.no.such', right }, { output: {} })).toBe(false);
      expect(holds({ type: 'notEquals', left: 'output.no.such', right }, { output: {} })).toBe(true);
    }
    expect(holds({ type: 'contains', left: 'nothing', right: 'x' }, {})).toBe(false);
    expect(holds({ type: 'regex', left: 'nothing', right: '.*' }, {})).toBe(false);
    expect(holds({ type: 'equals', left: 'output.toString', right: 'x' }, { output: {} })).toBe(false);
  });

  it('looks for a part of a string or a member of a list', () => {
    expect(holds({ type: 'contains', left: 'text', right: 'ell' }, { text: 'hello' })).toBe(true);
    expect(holds({ type: 'contains', left: 'text', right: 1 }, { text: '1' })).toBe(false);
    expect(
      holds({ type: 'contains', left: 'list', right: { b: 1, a: 2 } }, { list: [0, { a: 2, b: 1 }] }),
    ).toBe(true);
    expect(holds({ type: 'contains', left: 'list', right: '0' }, { list: [0] })).toBe(false);
  });

  it('matches patterns on strings only', () => {
    expect(holds({ type: 'regex', left: 'output', right: '^ok-\\d+$' }, { output: 'ok-12' })).toBe(true);
    expect(holds({ type: 'regex', left: 'output', right: '1' }, { output: 1 })).toBe(false);
  });

  it('asks for truth and its absence', () => {
    expect(holds({ type: 'truthy', left: 'output.ok' }, { output: { ok: true } })).toBe(true);
    expect(holds({ type: 'falsy', left: 'output.missing' }, { output: {} })).toBe(true);
  });

  it('finds its path in a port, inside port output, and in list positions', () => {
    expect(
      holds({ type: 'equals', left: 'status', right: 'ok' }, { status: 'ok', output: { status: 'no' } }),
    ).toBe(true);
    expect(holds({ type: 'equals', left: 'status', right: 'ok' }, { output: { status: 'ok' } })).toBe(true);
    expect(holds({ type: 'equals', left: 'output.approved', right: true }, { approved: true })).toBe(true);
    expect(
      holds({ type: 'equals', left: 'output.list.1', right: 'b' }, { output: { list: ['a', 'b'] } }),
    ).toBe(true);
  });

  it('is refused with the place when members are missing, needless or wrong', () => {
    const cases: [condition: EdgeCondition, path: string][] = [
      [{}, '/type'],
      [{ left: 'a', right: 1 }, '/type'],
      [{ type: 'expression' }, '/expression'],
      [{ type: 'expression', expression: 'true', right: 1 }, '/right'],
      [{ type: 'equals', left: 'a' }, '/right'],
      [{ type: 'equals', right: 1 }, '/left'],
      [{ type: 'equals', left: '', right: 1 }, '/left'],
      [{ type: 'equals', left: 'a', right: 1, expression: 'true' }, '/expression'],
      [{ type: 'regex', left: 'a', right: 1 }, '/right'],
      [{ type: 'regex', left: 'a', right: '(?=x)' }, '/right'],
      [{ type: 'expression', expression: '1 +' }, '/expression'],
      [{ type: 'truthy', left: 'a', right: true }, '/right'],
    ];

    for (const [condition, path] of cases) {
      expect(() => compileCondition(condition, compiler), JSON.stringify(condition)).toThrow(
        expect.objectContaining({ name: 'ConditionError', path }),
      );
    }
    expect(() => compileCondition({}, compiler)).toThrow(ConditionError);
  });
});

describe('deep equality', () => {
  it('is that of canonical texts', () => {
    const shuffle = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(shuffle);
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, inner]) => [key, shuffle(inner)]),
      );
    };

    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const left = JSON.parse(JSON.stringify(a)) as Json;
        const right = JSON.parse(JSON.stringify(b)) as Json;

        expect(deepEqual(left, shuffle(left))).toBe(true);
        expect(deepEqual(left, right)).toBe(canonicalJson(left) === canonicalJson(right));
      }),
    );
  });
});
