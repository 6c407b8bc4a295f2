import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkBudget } from '../budget.ts';
import { compilePattern, paidPattern, PatternError } from './pattern.ts';

const matches = (pattern: string, text: string): boolean =>
  compilePattern(pattern).test(text, new WorkBudget());

function stepsOf(pattern: string, text: string): number {
  const budget = new WorkBudget({ steps: 1e9, bytes: 1e9 });
  compilePattern(pattern).test(text, budget);
  return budget.steps;
}

describe('a pattern', () => {
  it('is found anywhere in the text, as JavaScript does', () => {
    const cases: [pattern: string, text: string][] = [
      ['b+', 'aabbcc'],
      ['^b', 'ab'],
      ['c$', 'abc'],
      ['c$', 'abc\n'],
      ['\\bfox\\b', 'the fox.'],
      ['[a-f0-9]{8}-', 'x 0123abcd-'],
      ['\\u00e9', 'café'],
      ['\\u{1F600}', 'x😀'],
      ['(?<year>\\d{4})', 'in 2024'],
      ['a/b', 'a/b'],
      ['', ''],
      ['^.$', '😀'],
      ['^[^a]$', '😀'],
      ['\\p{Lu}\\P{Lu}', 'éÉé'],
      ['\\p{Script=Greek}', 'σ'],
      ['[\\w-]+\\.[\\]x]', 'a-b.]'],
      ['^(?:a|b|)c', 'c'],
      ['[^]', '\n'],
      ['[]', 'a'],
    ];

    for (const [pattern, text] of cases) {
      expect(matches(pattern, text), `${pattern} on ${text}`).toBe(new RegExp(pattern, 'u').test(text));
    }
  });

  it('may use the flags, quotes and class names of RE2', () => {
    expect(matches('(?i)^straße$', 'STRAßE')).toBe(true);
    expect(matches('(?i:K)[A-C]', '\u212ab')).toBe(false);
    expect(matches('(?i)[A-C]k', 'b\u212a')).toBe(true);
    expect(matches('(?s)a.b', 'a\nb')).toBe(true);
    expect(matches('(?m)^b$', 'a\nb\nc')).toBe(true);
    expect(matches('(?i)a(?-i)b', 'AB')).toBe(false);
    expect(matches('\\A\\Qa.b\\E\\z', 'a.b')).toBe(true);
    expect(matches('^[[:alpha:][:^word:]]+$', 'a-b')).toBe(true);
    expect(matches('\\pL\\p{Greek}\\p{^L}', 'aσ1')).toBe(true);
    expect(matches('^a{,2}$', 'a{,2}')).toBe(true);
  });

  it('says why it cannot be used', () => {
    const cases: [pattern: string, reason: RegExp][] = [
      ['(?=a)b', /lookaround/],
      ['(?!a)b', /lookaround/],
      ['(?<=a)b', /lookaround/],
      ['(?<!a)b', /lookaround/],
      ['(a)\\1', /backreference/],
      ['(?<n>a)\\k<n>', /backreference/],
      ['[a', /"\]" is missing/],
      ['(a', /closing bracket is missing/],
      ['a)', /no opening one/],
      ['*a', /nothing before it/],
      ['a**', /cannot be repeated/],
      ['a{2,1}', /wrong order/],
      ['[b-a]', /wrong order/],
      ['[a-\\d]', /end of a range/],
      ['\\p{Klingon}', /no Unicode property "Klingon"/],
      ['[[:klingon:]]', /no class/],
      ['\\x{110000}', /no such character/],
      ['(?z)', /kind of group/],
      ['a\\', /ends too early/],
    ];

    for (const [pattern, reason] of cases) {
      expect(() => compilePattern(pattern), pattern).toThrow(reason);
      expect(() => compilePattern(pattern), pattern).toThrow(PatternError);
    }
  });

  it('agrees with JavaScript about every pattern and text', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '\\d',
      '\\w',
      '[a-c]',
      '[^a]',
      '\\b',
      '^',
      '$',
      'é',
      '\\p{Lu}',
      '\\.',
    );
    const count = fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,2}', '{2,}', '*?');
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        atom,
        fc.tuple(tie('pattern'), count).map(([part, sign]) => `(?:${part})${sign}`),
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => left + right),
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(${left}|${right})`),
      ),
    }));
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '1', ' ', 'é', 'É', '.', '😀'))
      .map((parts) => parts.join(''));

    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(matches(source, subject)).toBe(new RegExp(source, 'u').test(subject));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the cost of a pattern', () => {
  it.each([
    ['too many bytes', 'a'.repeat(1025)],
    ['too many bytes in UTF-8', 'é'.repeat(600)],
    ['nested counts', '(a{1000}){1000}'],
    ['counts one after the other', 'a{999}'.repeat(100)],
    ['counts many deep', `${'('.repeat(100)}a${'{9})'.repeat(100)}`],
  ])('is known before it is made: %s (P-1)', (_, pattern) => {
    expect(() => compilePattern(pattern)).toThrow(
      expect.objectContaining({
        name: 'PatternError',
        limit: expect.any(Number),
        observed: expect.any(Number),
      }),
    );
  });

  it('grows with the text, not with the number of ways to match it', () => {
    for (const pattern of [
      '(a+)+$',
      '(a|aa)+$',
      '(a|a?)+$',
      '(.*a){12}$',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '(?i)(\\pL+)+!',
    ]) {
      const once = stepsOf(pattern, `${'a'.repeat(500)}!b`);
      const twice = stepsOf(pattern, `${'a'.repeat(1000)}!b`);

      expect(twice, pattern).toBeLessThanOrEqual(2.05 * once);
    }
  });

  it('does not depend on which characters a class names', () => {
    const narrow = stepsOf('[a-b]{40}!', 'a'.repeat(100));

    expect(stepsOf('[\u0100-\u{1e900}]{40}!', 'ā'.repeat(100))).toBeLessThan(2 * narrow);
  });

  it('ends a test that would take too long, naming limit and observed', () => {
    const budget = new WorkBudget();
    const pattern = compilePattern('(.*a.{100}){5}$');

    expect(() => pattern.test('a'.repeat(1_000_000), budget)).toThrow(
      expect.objectContaining({ name: 'PatternError', limit: 1_000_000 }),
    );
    expect(budget.steps).toBeLessThan(1_010_000);
  });

  it('is paid once under a budget, also when others made the program before (P-2)', () => {
    const pattern = compilePattern('[a-z]{900}');
    const budget = new WorkBudget();

    pattern.test('', budget);
    const first = budget.steps;
    pattern.test('', budget);

    expect(first).toBeGreaterThan(3600);
    expect(budget.steps - first).toBeLessThan(10);
    budget.renew();
    pattern.test('', budget);
    expect(budget.steps).toBe(first);
  });

  it('need not be read again under the budget that has paid for it, and under no other', () => {
    const sources = ['(a|b)*c', '[a-z]{900}', 'word'];
    const budget = new WorkBudget();
    for (const source of sources) compilePattern(source).test('', budget);
    const spent = budget.steps;

    expect(sources.map((source) => paidPattern(source, budget)?.test('word abc', budget))).toEqual([
      true,
      false,
      true,
    ]);
    expect(budget.steps - spent).toBeLessThan(100);
    expect(sources.map((source) => paidPattern(source, new WorkBudget()))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is small for a long text that only has to begin with something', () => {
    expect(stepsOf('^ok', 'x'.repeat(1_000_000))).toBeLessThan(100);
  });
});
