import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServer } from '@weft/storage/postgres-test-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveHere, weft } from '../testing/served.ts';

/** Two processes on one database are one registry. */
const EXAMPLE = new URL('../../../../examples/agent-pack/', import.meta.url).pathname;
const KEY = `weft_live_${'r'.repeat(43)}`;
const SCOPES = 'packs:publish,packs:yank,runs:read';
const NAME = 'private.acme.support';

const { server, newSchema } = testServer();
let folder: string;
let hosts: Served[];
let acme: string;

function run(argv: readonly string[], env: Record<string, string> = {}) {
  return weft(folder, [...argv, '--json'], { WEFT_API_KEY: KEY, ...env });
}

async function build(version: string): Promise<void> {
  const text = await readFile(join(EXAMPLE, 'pack.json'), 'utf8');
  await writeFile(join(folder, 'support/pack.json'), text.replaceAll('vendor.example.support', NAME));
  await run(['pack', 'build', 'support', '--version', version, '-o', `${version}.tgz`]);
}

const urlOf = (index: number) => hosts[index]?.url ?? '';

async function install(wanted: string, key?: string) {
  const { host } = new URL(urlOf(1));
  const { code, out, err } = await run(
    ['pack', 'install', wanted, '--registry', urlOf(1), '--allow-egress', host],
    key === undefined ? {} : { WEFT_REGISTRY_KEY: key },
  );
  return { code, json: JSON.parse(out || err) as Record<string, unknown> };
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-registry-pg-')));
  await cp(EXAMPLE, join(folder, 'support'), { recursive: true });
  await mkdir(join(folder, 'packs'));
  await writeFile(join(folder, 'packs/trust.json'), '{"mode":"allowlist","allow":["private.acme.*"]}');
  const env = { WEFT_API_KEY: KEY, WEFT_STORE: server().url, WEFT_STORE_SCHEMA: newSchema() };
  hosts = [];
  for (let index = 0; index < 2; index += 1) hosts.push(await serveHere(folder, ['--registry'], env));
  const created = await run([
    'keys',
    'create',
    'acme',
    '--tenant',
    'acme',
    '--scope',
    SCOPES,
    '--url',
    urlOf(0),
  ]);
  acme = (JSON.parse(created.out) as { key: string }).key;
});
afterAll(async () => {
  for (const host of hosts) await host.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a registry on PostgreSQL', () => {
  it('gives packs of private.* to their tenant alone, and withdrawn ones to no range, whichever process is asked', async () => {
    for (const version of ['1.0.0', '1.1.0']) {
      await build(version);
      const published = await run(['pack', 'publish', `${version}.tgz`, '--url', urlOf(0)], {
        WEFT_API_KEY: acme,
      });
      expect(JSON.parse(published.out)).toMatchObject({ name: NAME, version, isNew: true });
    }

    expect(await install(NAME)).toMatchObject({ code: 3, json: { error: 'pack_fetch_failed' } });
    expect(await install(NAME, KEY)).toMatchObject({ code: 3, json: { error: 'pack_not_found' } });
    expect(await install(NAME, acme)).toMatchObject({ code: 0, json: { name: NAME, version: '1.1.0' } });
    const yank = await fetch(`${urlOf(0)}/v1/packs/${NAME}/-/1.1.0/yank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme}`, 'content-type': 'application/json' },
      body: '{"reason":"It leaks."}',
    });
    expect(yank.status).toBe(200);
    expect(await install(`${NAME}@^1`, acme)).toMatchObject({ code: 0, json: { version: '1.0.0' } });
    const listed = (await run(['pack', 'ls'])).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(listed).toMatchObject([
      { version: '1.0.0', agents: [`${NAME}.triage`], types: [] },
      { version: '1.1.0' },
    ]);
  });
});
