import { describe, expect, it } from 'vitest';
import { matchesAny } from './name-pattern.ts';

describe('a pattern of names', () => {
  it.each([
    ['*', 'anything', true],
    ['read_file', 'read_file', true],
    ['read_file', 'read_files', false],
    ['read_*', 'read_file', true],
    ['read_*', 'write_file', false],
    ['*_file', 'read_file', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['a.c', 'abc', false],
    ['', 'a', false],
  ])('%s for %s: %s', (pattern, name, expected) => {
    expect(matchesAny([pattern], name)).toBe(expected);
  });

  it('is one of several', () => {
    expect(matchesAny(['a', 'b*'], 'bc')).toBe(true);
    expect(matchesAny([], 'bc')).toBe(false);
  });
});
