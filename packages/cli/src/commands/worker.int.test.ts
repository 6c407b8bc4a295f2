import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFile } from '../testing/own-code.ts';
import { weft } from '../testing/served.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-worker-')));
  await mkdir(join(folder, 'nodes'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const KEY = { WEFT_API_KEY: 'a-key-that-no-host-knows-of' };
const worker = (...flags: string[]) => weft(folder, ['worker', './nodes', ...flags], KEY);

async function define(file: string): Promise<void> {
  await writeFile(join(folder, 'nodes', file), nodeFile('test.echo', '    return { value: 1 };'));
}

describe('weft worker', () => {
  it('refuses a folder without node types, and names the files that have none', async () => {
    await writeFile(join(folder, 'nodes/helper.ts'), 'export const one = 1;');

    const ended = await worker();

    expect(ended.code).toBe(1);
    expect(ended.err).toContain('nodes/helper.ts exports no node type');
    expect(ended.err).toContain('./nodes defines no node types');
  });

  it('refuses a type that is defined twice, with both files', async () => {
    await define('a.ts');
    await define('b.ts');

    const ended = await worker();

    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('in nodes/a.ts and in nodes/b.ts') });
  });

  it.each([
    [['--concurrency', '0'], 2, '--concurrency takes a whole number up to 1000, not "0"'],
    [['--concurrency', 'many'], 2, 'not "many"'],
    [['--key-file', 'none.key'], 3, 'none.key is missing or empty'],
  ])('refuses %j', async (flags, code, message) => {
    await define('a.ts');

    expect(await worker(...flags)).toMatchObject({ code, err: expect.stringContaining(message) });
  });

  it('refuses a key file that others may read', async () => {
    await define('a.ts');
    await writeFile(join(folder, 'open.key'), 'a key', { mode: 0o644 });

    expect(await worker('--key-file', 'open.key')).toMatchObject({
      code: 4,
      err: expect.stringContaining('chmod 600'),
    });
  });
});
