import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLiteralSearch } from './literal-search.ts';
import { createPieceMask, type PieceMask } from './piece-mask.ts';

function maskOf(...values: readonly string[]): () => PieceMask {
  const search = createLiteralSearch<string>();
  for (const value of values) search.add(value, value);
  return () => createPieceMask(search, (tag) => `[${tag.slice(0, 3)}]`);
}

function say(mask: PieceMask, pieces: readonly string[]): string[] {
  return pieces.map((piece, at) => mask.next(piece, at === pieces.length - 1));
}

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return [...pieces, text.slice(at)];
}

describe('a mask of text in pieces', () => {
  it('does not leak a value that is split over several pieces (R-6)', () => {
    expect(say(maskOf('abcdefgh')(), ['say abc', 'de', 'fgh now', '!'])).toEqual([
      'say ',
      '',
      '[abc] ',
      'now!',
    ]);
  });

  it('lets go of a word that only looked like the beginning of a value', () => {
    expect(say(maskOf('abcdefgh')(), ['ab', 'x ', 'abc'])).toEqual(['', 'abx ', 'abc']);
  });

  it('waits for the longer one of two values that begin alike', () => {
    expect(say(maskOf('abcdefgh', 'abcdefghijkl')(), ['abcdefgh', 'ijkl.', ''])).toEqual(['', '[abc].', '']);
  });

  it('shows nothing more once it had to give up', () => {
    const mask = maskOf(...Array.from({ length: 100 }, (_, count) => `${'a'.repeat(count)}b`))();

    expect(say(mask, ['fine ', 'a'.repeat(200_000), ' more', ' and more'])).toEqual(['fine ', '[b]', '', '']);
  });

  it('holds nothing back while there is nothing to look for', () => {
    expect(say(maskOf()(), ['ab', 'c', 'd'])).toEqual(['ab', 'c', 'd']);
  });

  it('holds back no more than the longest spelling of a part of a value', () => {
    const mask = maskOf('abcdefgh')();
    const text = 'A'.repeat(10_000);
    let shown = 0;
    let most = 0;

    for (let at = 0; at < text.length; at++) {
      shown += mask.next('A', false).length;
      most = Math.max(most, at + 1 - shown);
    }

    expect(most).toBeLessThan(1_000);
  });

  it('shows a long value as one mark, however it is cut', () => {
    const long = Array.from({ length: 60 }, (_, line) => `${line}. line of a key`).join('\n');
    const text = `before ${long}${long} after`;

    for (const size of [1, 7, 64, 100, 5_000]) {
      const pieces = cut(
        text,
        Array.from({ length: Math.ceil(text.length / size) }, () => size),
      );
      expect(say(maskOf(long)(), pieces).join('')).toBe('before [0. ] after');
    }
  });

  it('shows, however it is cut, what would be shown of the whole (R-7)', () => {
    const values = ['abcabcabd', 'dabcabca', '123', `x${'yz'.repeat(60)}`];
    const encoded = (value: string): string[] => [
      value,
      encodeURIComponent(value).replaceAll('a', '%61'),
      value.replaceAll('b', '\\u0062'),
      Buffer.from(`..${value}..`).toString('base64'),
      Buffer.from(value).toString('hex'),
    ];
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom('abcab', 'd', ' ', 'x', '12', '3', '%6', '\\u00', '\n', 'yzyz', '.', '='),
          fc.constantFrom(...values.flatMap(encoded)),
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join(''));
    const mask = maskOf(...values);

    fc.assert(
      fc.property(text, fc.array(fc.nat(12), { maxLength: 40 }), (whole, sizes) => {
        expect(say(mask(), cut(whole, sizes)).join('')).toBe(mask().next(whole, true));
      }),
      { numRuns: 1_000 },
    );
  });
});
