import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Served, serveHere, weft } from '../../testing/served.ts';

let cwd: string;
let served: Served;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-audit-'));
  // A sign-in link is an entry of its own.
  served = await serveHere(cwd, [], { WEFT_NO_STUDIO: 'true' });
  await weft(cwd, ['keys', 'create', 'ci', '--scope', 'runs:read']);
  await vi.waitFor(async () => {
    const { out } = await weft(cwd, ['audit', 'verify', '--json']);
    expect(JSON.parse(out)).toMatchObject({ toSeq: 1, chainValid: true });
  }, 5_000);
});

afterAll(async () => {
  await served.stop();
  await rm(cwd, { recursive: true, force: true });
});

async function exported(name: string): Promise<string[]> {
  const saved = await weft(cwd, ['audit', 'export', '-o', name]);
  expect(saved).toMatchObject({ code: 0, err: '' });
  return (await readFile(join(cwd, name), 'utf8')).trimEnd().split('\n');
}

async function publicKey(): Promise<string> {
  const response = await fetch(`${served.url}/.well-known/openwop`);
  const { auth } = (await response.json()) as {
    auth: { auditLogIntegrity: { checkpointPublicKey: string } };
  };
  return auth.auditLogIntegrity.checkpointPublicKey;
}

describe('weft audit', () => {
  it('verifies the log of a host', async () => {
    const { code, out } = await weft(cwd, ['audit', 'verify']);

    expect(code).toBe(0);
    expect(out).toContain('intact  sequences 0 to 1');
  });

  it('exports a file for its owner, which verifies without the host under the key of discovery', async () => {
    await exported('log.ndjson');

    const key = await publicKey();
    const args = [
      'audit',
      'verify',
      '--offline',
      'log.ndjson',
      '--public-key',
      key,
      '--url',
      'http://127.0.0.1:1',
    ];
    const { code, out } = await weft(cwd, [...args, '--json']);

    expect((await stat(join(cwd, 'log.ndjson'))).mode & 0o777).toBe(0o600);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      chainValid: true,
      checkpointsValid: true,
      entries: 2,
      publicKey: key,
      problems: [],
    });
  });

  it('says with exit code 1 where a file was changed', async () => {
    const lines = await exported('changed.ndjson');
    const text = lines.map((line) => line.replace('"actor":"operator"', '"actor":"stranger"')).join('\n');
    await writeFile(join(cwd, 'changed.ndjson'), text);

    const { code, out } = await weft(cwd, ['audit', 'verify', '--offline', 'changed.ndjson']);

    expect(code).toBe(1);
    expect(out).toContain('tampered with');
    expect(out).toContain('before sequence 2: changed, removed or inserted');
    expect(out).toContain('The key came with the file');
  });

  it('says what a file is that cannot be read, is cut or is none', async () => {
    const lines = await exported('cut.ndjson');
    await writeFile(join(cwd, 'cut.ndjson'), lines.slice(0, -1).join('\n'));

    const missing = await weft(cwd, ['audit', 'verify', '--offline', 'missing.ndjson']);
    const cut = await weft(cwd, ['audit', 'verify', '--offline', 'cut.ndjson']);

    expect(missing).toMatchObject({ code: 3, err: expect.stringContaining('missing.ndjson cannot be read') });
    expect(cut).toMatchObject({
      code: 1,
      out: expect.stringContaining('The file: the file has no end; it was cut.'),
    });
  });

  it('refuses flags that do not go together', async () => {
    const range = await weft(cwd, ['audit', 'verify', '--offline', 'x', '--from', '1']);
    const number = await weft(cwd, ['audit', 'verify', '--from', 'one']);

    expect([range.code, number.code]).toEqual([2, 2]);
  });
});
