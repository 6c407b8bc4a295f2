import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readStudioFiles } from './studio-files.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-studio-files-'));
});

afterEach(() => rm(folder, { recursive: true }));

it('reads a built page with what is packed next to it, and nothing that lies elsewhere', async () => {
  await mkdir(join(folder, 'assets'));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('index.html', '<html>');
  await write('index.html.gz', 'packed page');
  await write('assets/app-a1B2_c-4.js', 'run()');
  await write('assets/app-a1B2_c-4.js.br', 'packed script');
  await write('assets/notes.xyz', 'of no known type');
  await symlink('/etc/passwd', join(folder, 'assets/link.txt'));

  const files = await readStudioFiles(folder);

  expect([...(files?.keys() ?? [])].sort()).toEqual(['assets/app-a1B2_c-4.js', 'index.html']);
  expect(files?.get('assets/app-a1B2_c-4.js')).toMatchObject({
    type: 'text/javascript; charset=utf-8',
    isImmutable: true,
    packed: { br: Buffer.from('packed script') },
  });
  expect(files?.get('index.html')).toMatchObject({
    isImmutable: false,
    packed: { gzip: Buffer.from('packed page') },
    etag: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/) as unknown,
  });
});

it('finds no page where none was built', async () => {
  expect(await readStudioFiles(folder)).toBeUndefined();
  expect(await readStudioFiles(join(folder, 'none'))).toBeUndefined();
});
