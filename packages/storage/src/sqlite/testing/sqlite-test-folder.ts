import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder that belongs to the calling test file, and names for databases in it. */
export function testFolder(): { readonly folder: string; newPath(): string } {
  const folder = mkdtempSync(join(tmpdir(), 'weft-sqlite-'));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    newPath() {
      count += 1;
      return join(folder, `store-${count}.db`);
    },
  };
}
