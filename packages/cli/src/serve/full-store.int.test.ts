import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { weft } from '../testing/served.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'weft-full-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

it('a host whose store is full at the start says so, and does not call it a defect', async () => {
  const env = { WEFT_TEST_SQLITE_MAX_PAGES: '1' };

  const { code, err } = await weft(cwd, ['serve', '--conformance', '--port', '0'], env);

  expect(code).toBe(3);
  expect(err).toContain('it has no room left');
  expect(err).not.toContain('defect');
});
