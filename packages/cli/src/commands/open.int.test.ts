import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@weft/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../main.ts';
import { recordedIo } from '../testing/recorded-io.ts';
import { type Served, serveHere, weft } from '../testing/served.ts';

let folder: string;
let hosts: Served[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-open-'));
  await mkdir(join(folder, 'page'));
  await writeFile(join(folder, 'page/index.html'), '<!doctype html><title>the page</title>');
  hosts = [];
});

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function serve(flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Served> {
  const host = await serveHere(folder, flags, { WEFT_STUDIO_DIR: 'page', ...env });
  hosts.push(host);
  return host;
}

function codeIn(text: string): string {
  return /\/studio\/#code=([A-Za-z0-9_-]{43})\b/.exec(text)?.[1] ?? '';
}

describe('the web page of a host', () => {
  it('is opened by the link in the banner, whose code signs in once', async () => {
    const { url, io } = await serve();
    const code = codeIn(io.out());

    const session = await createClient({ baseUrl: url }).sessions.open(code);

    const client = createClient({ baseUrl: url, apiKey: session.key });
    expect(await client.sessions.current()).toMatchObject({ principal: 'operator', keyId: session.keyId });
    expect(await (await fetch(`${url}/studio/runs`)).text()).toContain('the page');
    await expect(createClient({ baseUrl: url }).sessions.open(code)).rejects.toMatchObject({
      code: 'sign_in_code_invalid',
    });
    await client.sessions.end();
    await expect(client.sessions.current()).rejects.toMatchObject({ code: 'key_revoked' });
  });

  it('is opened by weft open in the browser, or by the link that it prints', async () => {
    const { url } = await serve();
    const desktop = recordedIo({ cwd: folder, hasBrowser: true });

    expect(await main(['open'], desktop)).toBe(0);
    const printed = await weft(folder, ['open']);
    const asJson = JSON.parse((await weft(folder, ['open', '--json'])).out) as { url: string };

    const links = [...desktop.opened, printed.out.trim(), asJson.url];
    expect(links).toHaveLength(3);
    expect(desktop.out()).toBe('');
    for (const link of links) {
      expect(link.startsWith(`${url}/studio/#code=`)).toBe(true);
      expect(await createClient({ baseUrl: url }).sessions.open(codeIn(link))).toMatchObject({
        principal: 'operator',
      });
    }
  });

  it('is not served where it is turned off, and no link is printed', async () => {
    const { url, io } = await serve([], { WEFT_NO_STUDIO: 'true' });

    expect(io.out()).not.toContain('studio');
    expect((await fetch(`${url}/studio/`)).status).toBe(400);
  });

  it('is printed without a code where others may read the output', async () => {
    const { io } = await serve(['--host', '0.0.0.0'], { WEFT_API_KEY: 'weft_live_from_env_0123456789' });

    expect(io.out()).toMatch(/Open http:\S+\/studio\/ /);
    expect(io.out()).not.toContain('#code=');
  });

  it('that is to be served from a folder without one ends the start', async () => {
    const failed = await weft(folder, ['serve', '--port', '0'], { WEFT_STUDIO_DIR: 'nowhere' });

    expect(failed.code).not.toBe(0);
    expect(failed.err).toContain('there is no index.html in');
  });
});
