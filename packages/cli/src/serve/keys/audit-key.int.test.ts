import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DataFolder, dataFolder } from '../../connecting/data-folder.ts';
import { auditKeyFile, provideAuditKey } from './audit-key.ts';

let root: string;
let folder: DataFolder;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'weft-audit-key-'));
  folder = dataFolder(root, '.');
});

afterEach(() => rm(root, { recursive: true, force: true }));

describe('the key for the audit log', () => {
  it('is made once, closed to others, the same for all who make it at once, and nothing else is left', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => provideAuditKey({}, folder)));

    const [first] = keys;
    expect(first?.asymmetricKeyType).toBe('ed25519');
    expect(keys.every((key) => first !== undefined && key.equals(first))).toBe(true);
    expect((await stat(auditKeyFile(folder))).mode & 0o777).toBe(0o600);
    expect(await readdir(root)).toEqual(['audit.key']);
  });

  it('is refused when others can read it, with the way out', async () => {
    await provideAuditKey({}, folder);
    await chmod(auditKeyFile(folder), 0o604);

    await expect(provideAuditKey({}, folder)).rejects.toMatchObject({
      exitCode: 4,
      code: 'audit_key_exposed',
      message: expect.stringContaining(`chmod 600 ${auditKeyFile(folder)}`),
    });
  });

  it('is refused when it is of another kind', async () => {
    const { privateKey } = generateKeyPairSync('x25519');
    await writeFile(auditKeyFile(folder), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
    });

    await expect(provideAuditKey({}, folder)).rejects.toMatchObject({ code: 'audit_key_invalid' });
  });

  it.each(['pem', 'der'] as const)(
    'comes from WEFT_AUDIT_KEY as %s, and then no file is made',
    async (format) => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const text =
        format === 'pem'
          ? privateKey.export({ type: 'pkcs8', format }).toString()
          : privateKey.export({ type: 'pkcs8', format }).toString('base64');

      const taken = await provideAuditKey({ WEFT_AUDIT_KEY: text }, folder);

      expect(createPublicKey(taken).equals(publicKey)).toBe(true);
      expect(await readdir(root)).toEqual([]);
    },
  );

  it('is refused from WEFT_AUDIT_KEY when it is none, without an echo', async () => {
    await expect(provideAuditKey({ WEFT_AUDIT_KEY: 'c2hvcnQ' }, folder)).rejects.toMatchObject({
      code: 'audit_key_invalid',
      message: expect.not.stringContaining('c2hvcnQ'),
    });
  });
});
