import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DataFolder, dataFolder } from '../../connecting/data-folder.ts';
import { provideSecretsKey, secretsKeyFile } from './secrets-key.ts';

let root: string;
let folder: DataFolder;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'weft-secrets-key-'));
  folder = dataFolder(root, '.');
});

afterEach(() => rm(root, { recursive: true, force: true }));

describe('the key for secrets', () => {
  it('is made once, closed to others, and nothing else is left in the folder', async () => {
    const first = await provideSecretsKey({}, folder);
    const second = await provideSecretsKey({}, folder);

    expect(first).toHaveLength(32);
    expect(Buffer.from(second).equals(first)).toBe(true);
    expect((await stat(secretsKeyFile(folder))).mode & 0o777).toBe(0o600);
    expect(await readdir(root)).toEqual(['secrets.key']);
  });

  it('is the same for all processes that make it at the same moment', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => provideSecretsKey({}, folder)));

    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex')))).toHaveProperty('size', 1);
  });

  it('is refused when others can read it, with the way out', async () => {
    await provideSecretsKey({}, folder);
    await chmod(secretsKeyFile(folder), 0o640);

    await expect(provideSecretsKey({}, folder)).rejects.toMatchObject({
      exitCode: 4,
      code: 'secrets_key_exposed',
      message: expect.stringContaining(`mode 0640). Fix it with: chmod 600 ${secretsKeyFile(folder)}`),
    });
  });

  it('is refused when the file holds something else, and the file stays as it is', async () => {
    await writeFile(secretsKeyFile(folder), 'not a key\n', { mode: 0o600 });

    await expect(provideSecretsKey({}, folder)).rejects.toMatchObject({ code: 'secrets_key_invalid' });
    expect(await readFile(secretsKeyFile(folder), 'utf8')).toBe('not a key\n');
  });

  it('comes from WEFT_SECRETS_KEY when that is set, and then no file is made', async () => {
    const key = randomBytes(32);

    const taken = await provideSecretsKey({ WEFT_SECRETS_KEY: key.toString('base64url') }, folder);

    expect(Buffer.from(taken).equals(key)).toBe(true);
    expect(await readdir(root)).toEqual([]);
  });

  it('is refused from WEFT_SECRETS_KEY when it is too short, without an echo', async () => {
    const refused = provideSecretsKey({ WEFT_SECRETS_KEY: 'c2hvcnQ' }, folder);

    await expect(refused).rejects.toMatchObject({
      code: 'secrets_key_invalid',
      message: expect.not.stringContaining('c2hvcnQ'),
    });
  });
});
