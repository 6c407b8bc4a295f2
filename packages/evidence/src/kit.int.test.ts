import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { check } from './check/check.ts';
import { cross } from './contract/cross.ts';
import type { Declared } from './contract/declared.ts';
import { diff } from './contract/diff.ts';
import { renderDiff } from './contract/render.ts';
import { evidenceFromFiles } from './from-files.ts';
import { plainText } from './testing/plain-projector.ts';

interface KitCase {
  readonly id: string;
  readonly contract: 'capability' | 'cross';
  readonly declared?: Declared;
  readonly base: Record<string, string | { readonly base64: string }>;
  readonly head: Record<string, string | { readonly base64: string }>;
  readonly expect: { readonly status: string; readonly output: string | null };
}

const FOLDER = new URL('../kit/cases/', import.meta.url);
const CASES = readdirSync(FOLDER).map(
  (file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as KitCase,
);

function filesOf(side: KitCase['base']): Record<string, Uint8Array | string> {
  return Object.fromEntries(
    Object.entries(side).map(([name, content]) => [
      name,
      typeof content === 'string' ? content : new Uint8Array(Buffer.from(content.base64, 'base64')),
    ]),
  );
}

describe('the conformance kit', () => {
  it.each(CASES.map((item) => [item.id, item] as const))('%s', (_, item) => {
    const base = evidenceFromFiles(filesOf(item.base), { workDirPrefix: item.declared?.basePrefix });
    const head = evidenceFromFiles(filesOf(item.head), { workDirPrefix: item.declared?.headPrefix });

    const found = item.declared === undefined ? diff(base, head).diff : cross(base, head, item.declared).diff;

    expect(found.status).toBe(item.expect.status);
    if (item.expect.output !== null) expect(renderDiff(found)).toBe(item.expect.output);
  });

  it.each(
    CASES.flatMap((item) => (item.expect.output === null ? [] : [[item.id, item.expect.output] as const])),
  )('expects a sound document for %s', (_, output) => {
    expect(check(new TextEncoder().encode(output)).problems).toEqual([]);
    expect(plainText(JSON.parse(output))).toBe(output);
  });
});
