import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { holdsText } from './in-clear.ts';

const SECRET = 'correct horse battery';
const SHA256 = createHash('sha256').update(SECRET).digest('hex');
const holds = (document: Parameters<typeof holdsText>[0]) => holdsText(document, SHA256, SECRET.length);

describe('a secret that is known by its hash alone', () => {
  it.each([
    ['a text of its own', { a: [1, null, SECRET] }],
    ['the middle of a text', { a: { b: `It is ${SECRET}, as told.` } }],
    ['the name of a member', { [SECRET]: true }],
    ['a bare text', SECRET],
  ])('is found as %s', (_where, document) => {
    expect(holds(document)).toBe(true);
  });

  it.each([
    ['a part of it', { a: SECRET.slice(1) }],
    ['nothing', null],
    ['its hash', { sha256: SHA256, length: SECRET.length }],
  ])('is not found in %s', (_what, document) => {
    expect(holds(document)).toBe(false);
  });
});
