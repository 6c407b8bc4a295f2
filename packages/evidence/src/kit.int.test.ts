import { describe, expect, it } from 'vitest';
import { check } from './check/check.ts';
import { cross } from './contract/cross.ts';
import { diff } from './contract/diff.ts';
import { renderDiff } from './contract/render.ts';
import { evidenceFromFiles } from './from-files.ts';
import { filesOf, KIT_CASES } from './testing/kit-cases.ts';
import { plainText } from './testing/plain-projector.ts';

describe('the conformance kit', () => {
  it.each(KIT_CASES.map((item) => [item.id, item] as const))('%s', (_, item) => {
    const base = evidenceFromFiles(filesOf(item.base), { workDirPrefix: item.declared?.basePrefix });
    const head = evidenceFromFiles(filesOf(item.head), { workDirPrefix: item.declared?.headPrefix });

    const found = item.declared === undefined ? diff(base, head).diff : cross(base, head, item.declared).diff;

    expect(found.status).toBe(item.expect.status);
    if (item.expect.output !== null) expect(renderDiff(found)).toBe(item.expect.output);
  });

  it.each(
    KIT_CASES.flatMap((item) =>
      item.expect.output === null ? [] : [[item.id, item.expect.output] as const],
    ),
  )('expects a sound document for %s', (_, output) => {
    expect(check(new TextEncoder().encode(output)).problems).toEqual([]);
    expect(plainText(JSON.parse(output))).toBe(output);
  });
});
