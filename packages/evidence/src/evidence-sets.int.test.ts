import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diff } from './contract/diff.ts';
import { renderDiff } from './contract/render.ts';
import { readRun } from './node/read-run.ts';
import { filesOf, KIT_CASES } from './testing/kit-cases.ts';
import { projectCross } from './testing/project-cross.ts';
import { referenceChecks } from './testing/reference-checks.ts';
import { hasReferenceData } from './testing/reference-data.ts';
import { entriesOf, tarOf } from './testing/tar.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-evidence-sets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The files of one side of a case, as a runner leaves them and as it sends them. */
const FORMS = {
  folders(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
    for (const [file, content] of Object.entries(files)) {
      const path = join(folder, name, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    return join(folder, name);
  },
  archives(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
    const runId = /"run_id": *"(\w+)"/.exec(String(files['correlation-report.json']))?.[1] ?? name;
    const path = join(folder, `${name}.tar.gz`);
    writeFileSync(path, gzipSync(tarOf(entriesOf(files, runId))));
    return path;
  },
};

describe.each(['folders', 'archives'] as const)('the cases of the kit, read from %s', (form) => {
  it.each(KIT_CASES.map((item) => [item.id, item] as const))('%s', async (_, item) => {
    const { declared } = item;
    const base = FORMS[form]('base', filesOf(item.base));
    const head = FORMS[form]('head', filesOf(item.head));

    const found =
      declared === undefined
        ? diff(await readRun(base), await readRun(head)).diff
        : await projectCross(
            base,
            head,
            [declared.baseRuntime ?? '', declared.headRuntime ?? ''],
            [declared.basePrefix ?? '', declared.headPrefix ?? ''],
          );

    expect(found.status).toBe(item.expect.status);
    if (item.expect.output !== null) expect(renderDiff(found)).toBe(item.expect.output);
  });
});

if (hasReferenceData) describe('extra check: the published reference', referenceChecks);
