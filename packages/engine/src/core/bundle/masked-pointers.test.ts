import { describe, expect, it } from 'vitest';
import { maskedPointers } from './masked-pointers.ts';

const options = { base: '/run', hashes: false, shownName: (name: string) => name };

describe('pointers to what was masked', () => {
  it('name values that were changed, at any depth, with names escaped', () => {
    const before = { 'a/b': { 'c~d': ['x', 'secret'] }, same: 1 };
    const after = { 'a/b': { 'c~d': ['x', '[REDACTED]'] }, same: 1 };

    expect(maskedPointers(before, after, options)).toEqual(['/run/a~1b/c~0d/1']);
  });

  it('name values that were masked before', () => {
    expect(maskedPointers({ a: 'x [REDACTED] y' }, { a: 'x [REDACTED] y' }, options)).toEqual(['/run/a']);
  });

  it('name what is no longer there, and do not tell a name that is a secret', () => {
    const shownName = (name: string): string => name.replace('secret', '[REDACTED]');

    expect(maskedPointers({ secret: 1 }, { '[REDACTED]': 1 }, { ...options, shownName })).toEqual([
      '/run/[REDACTED]',
    ]);
  });

  it('take a digest for a mark only where marks are digests', () => {
    const value = { sum: `sha256:${'0'.repeat(64)}` };

    expect(maskedPointers(value, value, options)).toEqual([]);
    expect(maskedPointers(value, value, { ...options, hashes: true })).toEqual(['/run/sum']);
  });
});
