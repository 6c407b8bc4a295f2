import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { credentialSpans } from './credential-text.ts';
import { CREDENTIAL_SHAPES } from './credential-table.ts';
import { createLiteralSearch, type LiteralSearch } from './literal-search.ts';
import { createPieceMask } from './piece-mask.ts';
import { HOSTILE_TEXTS, HOSTILE_VALUES } from './testing/hostile-texts.ts';
import type { Work } from './work.ts';

/** What every scan may cost at most, in steps per character. */
const PER_CHARACTER = { credentials: 60, deep: 240, values: 30, pieces: 1_000 };
/** Runs that are too short to be looked at become long enough when a text is doubled, and pieces are held back. */
const SLACK = 150_000;
const LENGTH = { credentials: 4_096, deep: 4_096, values: 4_096, pieces: 1_024 };

function stepsOf(scan: (work: Work) => void): number {
  const work: Work = { steps: 0 };
  scan(work);
  return work.steps;
}

function searchFor(values: readonly string[]): LiteralSearch<string> {
  const search = createLiteralSearch<string>();
  for (const value of values) search.add(value, value);
  return search;
}

function inPieces(search: LiteralSearch<string>, text: string, size: number, work: Work): void {
  const mask = createPieceMask(search, () => '[REDACTED]', work);
  for (let at = 0; at < text.length; at += size) mask.next(text.slice(at, at + size), false);
  mask.next('', true);
}

const search = searchFor(HOSTILE_VALUES);

const SCANS: Readonly<Record<keyof typeof PER_CHARACTER, (text: string, work: Work) => void>> = {
  credentials: (text, work) => void credentialSpans(text, 'plain', work),
  deep: (text, work) => void credentialSpans(text, 'deep', work),
  values: (text, work) => void search.find(text, work),
  pieces: (text, work) => inPieces(search, text, 1, work),
};

/** Texts put together from what shapes begin with, what separates them, and parts of the values. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...CREDENTIAL_SHAPES.flatMap(({ begins }) => begins)),
      fc.constantFrom('.', '-', '_', ' ', ':', '=', '/', '@', '"', '\\', '\n', '%41', '\\u0041', '='),
      fc.constantFrom('a', 'aaaaaaaaaaaaaaaa', 'aab', 'eyJ-', 'user-', '0123456789abcdef', 'QUFB', 'Zz9'),
      fc.string({ maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 20 },
  )
  .chain((parts) => fc.nat({ max: 60 }).map((times) => parts.join('').repeat(1 + times)));

describe.each(Object.entries(SCANS))('the work of a scan (%s)', (name, scan) => {
  const perCharacter = PER_CHARACTER[name as keyof typeof PER_CHARACTER];
  const length = LENGTH[name as keyof typeof LENGTH];

  it('at most doubles when a hostile text is doubled', () => {
    for (const { name: what, text } of HOSTILE_TEXTS) {
      const once = stepsOf((work) => scan(text(length), work));
      const twice = stepsOf((work) => scan(text(length).repeat(2), work));

      expect(twice, what).toBeLessThanOrEqual(2 * once + SLACK);
      expect(once, what).toBeLessThanOrEqual(perCharacter * length + SLACK);
    }
  });

  it('at most doubles when any text is doubled', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const once = stepsOf((work) => scan(text, work));
        const twice = stepsOf((work) => scan(text + text, work));

        expect(twice).toBeLessThanOrEqual(2 * once + SLACK);
        expect(once).toBeLessThanOrEqual(perCharacter * text.length + SLACK);
      }),
      { numRuns: name === 'pieces' ? 30 : 120 },
    );
  });
});

describe('the work of a search for values', () => {
  it('does not grow with their number', () => {
    const text = 'user user-x a customer of ours '.repeat(1_000);
    const few = searchFor(Array.from({ length: 100 }, (_, count) => `user-${count}`));
    const many = searchFor(Array.from({ length: 50_000 }, (_, count) => `user-${count}`));

    const ofFew = stepsOf((work) => few.find(text, work));
    const ofMany = stepsOf((work) => many.find(text, work));

    expect(ofMany).toBeLessThanOrEqual(2 * ofFew);
  });

  it('does not grow with the number of pieces (R-8)', () => {
    const text = `${'a'.repeat(60)} b `.repeat(100);
    const value = searchFor([`${'a'.repeat(59)}c`, 'a b c']);

    const inOne = stepsOf((work) => inPieces(value, text, text.length, work));
    const inMany = stepsOf((work) => inPieces(value, text, 1, work));

    expect(inMany).toBeLessThanOrEqual(6 * inOne);
  });
});
