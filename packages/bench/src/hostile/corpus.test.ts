import {
  HOSTILE_EXPRESSIONS,
  HOSTILE_PATTERNS,
  HOSTILE_SCHEMAS,
  HOSTILE_SOURCES,
} from '@weft/engine/hostile-texts';
import { describe, expect, it } from 'vitest';
import { CORPUS } from './corpus.ts';

const namesOf = (wanted: string): string[] =>
  CORPUS.filter(({ kind }) => kind === wanted).map(({ name }) => name);

describe('the hostile corpus', () => {
  it('has at least sixty cases, of every kind, each under a name of its own', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(CORPUS.map(({ kind }) => kind)).size).toBe(11);
    expect(new Set(CORPUS.map(({ kind, name }) => `${kind}: ${name}`)).size).toBe(CORPUS.length);
  });

  it('sends the texts whose work is counted by tests, all of them and no others', () => {
    const names = (rows: readonly { readonly name: string }[]): string[] => rows.map(({ name }) => name);

    expect(namesOf('expression')).toEqual(names([...HOSTILE_SOURCES, ...HOSTILE_EXPRESSIONS]));
    expect(namesOf('pattern')).toEqual(names(HOSTILE_PATTERNS));
    expect(namesOf('schema')).toEqual(names(HOSTILE_SCHEMAS));
  });
});
