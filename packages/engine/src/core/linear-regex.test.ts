import { describe, expect, it } from 'vitest';
import { compileLinearRegex } from './linear-regex.ts';
import { ExpressionError } from './plan.ts';

describe('a linear regular expression', () => {
  it('finds its pattern anywhere in the text, as JavaScript does', () => {
    const cases: [pattern: string, text: string][] = [
      ['b+', 'aabbcc'],
      ['^b', 'ab'],
      ['c$', 'abc'],
      ['c$', 'abc\n'],
      ['\\bfox\\b', 'the fox.'],
      ['[a-f0-9]{8}-', 'x 0123abcd-'],
      ['\\u00e9', 'café'],
      ['(?<year>\\d{4})', 'in 2024'],
      ['a/b', 'a/b'],
      ['', ''],
      ['^.$', '😀'],
    ];

    for (const [pattern, text] of cases) {
      expect(compileLinearRegex(pattern).test(text), `${pattern} on ${text}`).toBe(
        new RegExp(pattern, 'u').test(text),
      );
    }
  });

  it('says that lookaround is not supported', () => {
    for (const pattern of ['(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b']) {
      expect(() => compileLinearRegex(pattern), pattern).toThrow(/lookaround/);
    }
  });

  it('says that backreferences are not supported', () => {
    expect(() => compileLinearRegex('(a)\\1')).toThrow(/backreference/);
    expect(() => compileLinearRegex('(?<n>a)\\k<n>')).toThrow(/backreference/);
  });

  it('refuses broken, long and exploding patterns', () => {
    for (const pattern of [
      '[',
      '(',
      'a{1001}',
      '(a{1000}){1000}',
      'a'.repeat(1025),
      'a{999}'.repeat(100),
      '('.repeat(1024),
    ]) {
      expect(() => compileLinearRegex(pattern), pattern.slice(0, 30)).toThrow(ExpressionError);
    }
  });

  it('answers the classic bombs quickly', () => {
    const text = `${'a'.repeat(50_000)}!`;
    const startedAt = performance.now();

    for (const pattern of ['(a+)+$', '(a|aa)+$', '(a|a?)+$', '(.*a){12}$', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
      compileLinearRegex(pattern).test(text);
    }

    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('refuses a text too long for a costly pattern instead of taking minutes', () => {
    const regex = compileLinearRegex('(.*a.{100}){5}$');

    expect(() => regex.test('a'.repeat(1_000_000))).toThrow(/at most \d+/);
  });
});
