import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLiteralSearch, newAllowance, type LiteralSearch } from './literal-search.ts';

function searchFor(...values: readonly string[]): LiteralSearch<string> {
  const search = createLiteralSearch<string>();
  for (const value of values) search.add(value, value);
  return search;
}

function masked(search: LiteralSearch<string>, text: string): string {
  let result = '';
  let from = 0;
  for (const { start, end } of search.find(text)) {
    result += `${text.slice(from, start)}#`;
    from = end;
  }
  return result + text.slice(from);
}

const VALUE = 'p@ss wörd/"1"+x';
const bytes = Buffer.from(VALUE);

describe('a search for values', () => {
  it.each([
    ['as it is', VALUE],
    ['percent-encoded', encodeURIComponent(VALUE)],
    ['percent-encoded as a form', new URLSearchParams({ '': VALUE }).toString().slice(1)],
    ['percent-encoded byte by byte', bytes.toString('hex').replace(/../g, '%$&')],
    ['escaped for JSON', JSON.stringify(VALUE).slice(1, -1)],
    [
      'escaped character by character',
      [...VALUE].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    ['in hexadecimal', bytes.toString('hex')],
    ['in capital hexadecimal', bytes.toString('hex').toUpperCase()],
    ['in base64', bytes.toString('base64').replace(/=+$/, '')],
    ['in base64 for URLs', bytes.toString('base64url')],
  ])('finds one %s', (_, spelling) => {
    expect(masked(searchFor(VALUE), `before <${spelling}> after`)).toBe('before <#> after');
  });

  it.each(['u', 'us', 'use'])('finds one inside the base64 of something longer, behind %j', (before) => {
    const encoded = Buffer.from(`${before}${VALUE}${VALUE} and more`).toString('base64');

    const shown = masked(searchFor(VALUE), encoded);

    expect(shown).toContain('#');
    for (let phase = 0; phase < 4; phase++) {
      const read = Buffer.from(shown.slice(phase).replace(/#/g, ''), 'base64').toString('latin1');
      expect(read).not.toContain('ss w');
    }
  });

  it('finds one in base64 that is broken into lines', () => {
    const lines = Buffer.from(`${'x'.repeat(50)}${VALUE}${'y'.repeat(50)}`)
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n');

    expect(masked(searchFor(VALUE), lines)).toContain('#');
  });

  it('finds the longest of those that begin alike, and covers all that overlap with one span', () => {
    expect(masked(searchFor('abcdef', 'abcdefghi'), 'abcdefghi abcdefgh')).toBe('# #gh');
    expect(masked(searchFor('12345abc', 'abcdefgh'), '<12345abcdefgh>')).toBe('<#>');
  });

  it('finds a long one as a whole, and pieces of it (R-4)', () => {
    const long = Array.from({ length: 100 }, (_, line) => `line ${line} of a long text`).join('\n');
    const search = searchFor(long);

    expect(masked(search, `a ${long} b`)).toBe('a # b');
    expect(masked(search, `a ${Buffer.from(long).toString('base64')} b`)).toMatch(/^a #=* b$/);
    expect(masked(search, long.slice(0, 1000))).toMatch(/^#.{0,31}$/s);
    expect(masked(search, long.slice(-1000))).toMatch(/^.{0,31}#$/s);
  });

  it('finds a short one where it stands alone, and does not shred what it is a part of (R-5)', () => {
    const search = searchFor('123', 'ab');

    expect(masked(search, 'pin 123, pin:123; (123) 123')).toBe('pin #, pin:#; (#) #');
    expect(masked(search, '1234567 x123 123x abc ab')).toBe('1234567 x123 123x abc #');
    expect(masked(search, `${btoa('123')} 313233 %31%32%33 \\u0031\\u0032\\u0033`)).toBe('# # # #');
    expect(masked(search, `x${btoa('123')} a313233`)).toBe(`x${btoa('123')} a313233`);
  });

  it('finds a short one of signs only where it is all there is', () => {
    const search = searchFor('?!', '-');

    expect(search.find('what?! - no')).toEqual([]);
    expect(search.tagOf('?!')).toBe('?!');
    expect(search.tagOf('-')).toBe('-');
  });

  it('takes all of a text for found in which every place could be the beginning of a value', () => {
    const search = searchFor(...Array.from({ length: 100 }, (_, count) => `${'a'.repeat(count)}b`));
    const hostile = `${'a'.repeat(100_000)} and more`;

    expect(search.find(hostile)).toMatchObject([{ start: 0, end: hostile.length }]);
    expect(search.find('a'.repeat(20))).toEqual([]);
  });

  it('takes no more steps for many short texts of one document than for a long one', () => {
    const search = searchFor(...Array.from({ length: 32 }, (_, count) => `${'a'.repeat(count)}b`));
    const [work, allowance] = [{ steps: 0 }, newAllowance()];
    const texts = Array.from({ length: 3_000 }, () => 'a'.repeat(60));

    const found = texts.map((text) => search.find(text, work, allowance));

    expect(found[0]).toEqual([]);
    expect(found.at(-1)).toMatchObject([{ start: 0, end: 60 }]);
    expect(work.steps).toBeLessThan(30 * 60 * texts.length);
  });

  it('never looks for nothing', () => {
    const search = searchFor('');

    expect(search.size).toBe(0);
    expect(search.find('anything')).toEqual([]);
  });

  const value = fc.oneof(
    fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', '1') }),
    fc.constantFrom('abababab', 'a'.repeat(70), 'ab'.repeat(40), 'b1'.repeat(33)),
  );
  const text = fc
    .array(fc.oneof(value, fc.constantFrom(' ', 'x', 'é')), { maxLength: 20 })
    .map((parts) => parts.join(''));

  it('finds exactly what a search for each of them alone would', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), text, (values, searched) => {
        const covered = new Set<number>();
        for (const one of values)
          for (const { start, end } of searchFor(one).find(searched))
            for (let at = start; at < end; at++) covered.add(at);

        const together = new Set<number>();
        for (const { start, end } of searchFor(...values).find(searched))
          for (let at = start; at < end; at++) together.add(at);

        expect(together).toEqual(covered);
      }),
    );
  });

  it('finds a value wherever it is written out', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 5, maxLength: 300, unit: 'binary' }),
        text,
        text,
        (one, before, after) => {
          const from = before.length + 1;
          const spans = searchFor(one).find(`${before} ${one} ${after}`);

          expect(spans.some(({ start, end }) => start <= from && end >= from + one.length)).toBe(true);
        },
      ),
    );
  });

  it('forgets what is removed, as if it had never been added', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(value, fc.boolean()), { maxLength: 20 }), text, (steps, searched) => {
        const search = createLiteralSearch<string>();
        const left: string[] = [];
        for (const [one, isAdded] of steps) {
          if (isAdded) {
            search.add(one, one);
            left.push(one);
          } else if (left.includes(one)) {
            search.remove(one);
            left.splice(left.indexOf(one), 1);
          }
        }

        const places = ({ find }: LiteralSearch<string>) =>
          find(searched).map(({ start, end }) => [start, end]);

        expect(search.size).toBe(new Set(left).size);
        expect(places(search)).toEqual(places(searchFor(...left)));
      }),
    );
  });
});
