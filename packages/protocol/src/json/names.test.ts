import { describe, expect, it } from 'vitest';
import { isName, nameProblem, shownName } from './names.ts';
import { closed, mapOf, name, uri } from '../documents/schema-parts.ts';
import { Type } from 'typebox';
import { WorkBudget } from '../validation/budget.ts';
import { compileClientSchema } from '../validation/client-schema/client-schema.ts';
import { compileValidator } from '../validation/validate.ts';

const EDGES = [0x00, 0x07, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0x202a, 0x202e, 0x2066, 0x2069];
const NEIGHBOURS = [0x20, 0x7e, 0xa0, 0x2029, 0x202f, 0x2065, 0x206a, 0xd7ff, 0xe000];

describe('a name', () => {
  it.each(EDGES.map((code) => [`U+${code.toString(16).toUpperCase().padStart(4, '0')}`, code] as const))(
    'does not hold %s, wherever it stands',
    (shown, code) => {
      const sign = String.fromCharCode(code);

      for (const text of [sign, `${sign}a`, `a${sign}b`, `a${sign}`]) {
        expect(isName(text)).toBe(false);
        expect(nameProblem(text)).toBe(`must not hold the control character ${shown}`);
      }
    },
  );

  it('does not hold half of a surrogate pair, which no database can keep', () => {
    expect(nameProblem('d\ud800')).toBe('must not hold half of a surrogate pair U+D800');
    expect(nameProblem('\udfffd')).toBe('must not hold half of a surrogate pair U+DFFF');
    expect(nameProblem('\ude00\ud83d')).toContain('U+DE00');
  });

  it('may hold every other character, whole pairs included', () => {
    for (const code of NEIGHBOURS) expect(isName(`a${String.fromCodePoint(code)}b`)).toBe(true);
    expect(isName('Bestellung 😀 №7 — «ок» שלום')).toBe(true);
    expect(isName('')).toBe(true);
  });

  it('is shown without what it must not hold', () => {
    expect(shownName('a\u001b]0;x\u0007\u202eb\u009b\ud800')).toBe(
      'a\\u001b]0;x\\u0007\\u202eb\\u009b\\ud800',
    );
    expect(shownName('plain 😀')).toBe('plain 😀');
  });
});

describe('a schema of ours', () => {
  const validate = compileValidator(
    closed({
      id: Type.Optional(name),
      tags: Type.Optional(Type.Array(name)),
      ports: Type.Optional(mapOf<string>(Type.String())),
      url: Type.Optional(uri),
    }),
  );

  it('names the field and the character', () => {
    expect(validate({ tags: ['a', 'b\u0007'] })).toEqual([
      { path: '/tags/1', message: 'must not hold the control character U+0007', keyword: 'format' },
    ]);
  });

  it('holds the names of members to the same', () => {
    expect(validate({ ports: { 'a\nb': 'x' } })).toEqual([
      {
        path: '/ports/a\nb',
        message: 'its name must not hold the control character U+000A',
        keyword: 'format',
      },
    ]);
    expect(validate({ ports: { plain: 'free\u0000text' } })).toEqual([]);
  });

  it('takes no address with a control character', () => {
    expect(validate({ url: 'https://a.example/\u0000' })).toHaveLength(1);
    expect(validate({ url: 'https://a.example/\u202e' })).toHaveLength(1);
    expect(validate({ url: 'https://a.example/x?y=z' })).toEqual([]);
  });

  it('shows an unknown field without its control characters', () => {
    expect(validate({ 'i\u001b[2Jd\u202e': 1 })[0]?.message).toContain('unknown field "i\\u001b[2Jd\\u202e"');
  });

  it('leaves the formats of clients’ schemas alone', () => {
    expect(compileClientSchema({ type: 'string', format: 'name' })('a\u0000', new WorkBudget())).toEqual([]);
  });
});
