import {
  HOSTILE_EXPRESSIONS,
  HOSTILE_PATTERNS,
  HOSTILE_SCHEMAS,
  HOSTILE_SOURCES,
} from '@weft/engine/hostile-texts';
import { describe, expect, it } from 'vitest';
import { CORPUS } from './corpus.ts';
import { FUNCTIONS, MODULES } from './installed-packs.ts';
import { moduleBytes } from './wasm-bytes.ts';

interface Engine {
  readonly WebAssembly: { validate(bytes: Uint8Array): boolean };
}
/** The types of Node do not name it. */
const engine = globalThis as object as Engine;

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

  it('calls all code that it installs, and says how every call must end', () => {
    const installed = CORPUS.filter(({ name }) => name.startsWith('installed '));
    const words = (kind: string): string[] =>
      installed.flatMap(({ name }) => new RegExp(`^installed ${kind} that (\\w+)$`).exec(name)?.[1] ?? []);

    expect(words('WASM').toSorted()).toEqual(Object.keys(MODULES).toSorted());
    expect(words('JavaScript').toSorted()).toEqual(Object.keys(FUNCTIONS).toSorted());
    expect(CORPUS.filter(({ name, ends }) => name.startsWith('install') && ends === undefined)).toEqual([]);
  });

  it.each(Object.entries(MODULES))('writes a module that %s, which compiles', (word, parts) => {
    const bytes = moduleBytes({ name: `vendor.hostile.${word}`, typeId: `hostile.wasm.${word}`, ...parts });

    expect(engine.WebAssembly.validate(bytes)).toBe(true);
  });
});
