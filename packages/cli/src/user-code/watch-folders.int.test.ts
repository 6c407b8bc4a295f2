import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { watchFolders } from './watch-folders.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

async function watched() {
  const folder = await mkdtemp(join(tmpdir(), 'weft-watch-'));
  await writeFile(join(folder, 'a.ts'), '1');
  const changed = vi.fn();
  const watching = watchFolders([folder], changed, (error) => {
    throw error;
  });
  cleanups.push(
    () => watching.close(),
    () => rm(folder, { recursive: true }),
  );
  const after = async (act: () => Promise<unknown>) => {
    changed.mockClear();
    await act();
    await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 20_000 });
  };
  return { folder, after };
}

it('sees a file that is written to after an editor has replaced it', async () => {
  const { folder, after } = await watched();
  const file = join(folder, 'a.ts');

  await after(() => writeFile(`${file}.new`, '2').then(() => rename(`${file}.new`, file)));
  await after(() => appendFile(file, '3'));
});

it('sees files of folders that were made, and made again, after it began', async () => {
  const { folder, after } = await watched();
  const inner = join(folder, 'deep/er');

  await after(() => mkdir(inner, { recursive: true }));
  await after(() => writeFile(join(inner, 'b.ts'), '1'));
  await after(() => rm(join(folder, 'deep'), { recursive: true }));
  await after(() => mkdir(inner, { recursive: true }));
  await after(() => appendFile(join(inner, 'b.ts'), '2'));
});
