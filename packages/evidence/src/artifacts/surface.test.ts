import { describe, expect, it } from 'vitest';
import { valuesOf } from '../bytes/value-table.ts';
import { CATEGORIES, SURFACE_SCHEMA } from '../contract/vocabulary.ts';
import { type Surface, surfaceSink } from './surface.ts';

function read(document: string, workDirPrefix: string, chunkSize: number): Surface | undefined {
  const bytes = new TextEncoder().encode(document);
  let surface: Surface | undefined;
  const sink = surfaceSink(
    { workDirPrefix, keepRawPaths: false, size: bytes.length },
    (problem) => {
      throw new Error(JSON.stringify(problem));
    },
    (done) => {
      surface = done;
    },
  );
  for (let from = 0; from < bytes.length; from += chunkSize)
    sink.write(bytes.subarray(from, Math.min(from + chunkSize, bytes.length)));
  sink.end();
  return surface;
}

function documentOf(paths: readonly string[]): string {
  const empty = Object.fromEntries(CATEGORIES.map((category) => [category, []]));
  return JSON.stringify({ schema: SURFACE_SCHEMA, run_id: 'r', ...empty, filesystem_paths: paths });
}

const PATHS = ['/w/a', '/w/b/c', '/w', '/etc/x', '<work>/d', '/w/\u00e9', '/w/"q"'];

describe('paths under the declared prefix', () => {
  it.each([
    ['in one piece', 10_000],
    ['cut everywhere', 1],
    ['cut inside prefixes', 7],
  ])('are the same from a file that comes %s', (_, chunkSize) => {
    const document = documentOf(PATHS);

    const surface = read(document, '/w/', chunkSize);

    expect([...valuesOf(surface?.canonicalPaths ?? expect.fail())]).toEqual([
      '/etc/x',
      '/w',
      '<work>/"q"',
      '<work>/a',
      '<work>/b/c',
      '<work>/d',
      '<work>/\u00e9',
    ]);
    expect(surface?.pathCounts).toEqual({ matched: 4, withoutSlash: 1, literal: 1, total: 7 });
  });

  it('are found where a prefix can be written in several ways', () => {
    const document = documentOf(['/q"/a', '/q"/b']);

    const surface = read(document, '/q"/', 10_000);

    expect([...valuesOf(surface?.canonicalPaths ?? expect.fail())]).toEqual(['<work>/a', '<work>/b']);
  });
});
