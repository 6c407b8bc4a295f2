import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FIXTURES } from '@weft/conformance/fixtures';
import type { Json, JsonObject } from '@weft/protocol';
import { testServer } from '@weft/storage/postgres-test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serveHere } from '../../testing/served.ts';

const API_KEY = `weft_test_${'b'.repeat(43)}`;
const NOOP = FIXTURES.find(({ id }) => id === 'conformance-noop') as JsonObject;

const { server, newSchema } = testServer();
let folder: string;
let hosts: Served[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-built-in-'));
});

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
  hosts = [];
  await rm(folder, { recursive: true, force: true });
});

async function serve(flags: readonly string[], env: Record<string, string> = {}): Promise<Served> {
  const host = await serveHere(folder, flags, { WEFT_API_KEY: API_KEY, ...env });
  hosts.push(host);
  return host;
}

async function call(host: Served, method: string, path: string, body?: Json): Promise<JsonObject> {
  const response = await fetch(`${host.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.ok).toBe(true);
  return (await response.json()) as JsonObject;
}

const listed = async (host: Served) => (await call(host, 'GET', '/.well-known/openwop'))['fixtures'];
const noop = async (host: Served) => (await call(host, 'GET', '/v1/workflows/conformance-noop'))['version'];

/** A folder for --workflows with another workflow under the id of a fixture. */
async function ownNoop(version = '1.0'): Promise<string> {
  const path = join(folder, 'own');
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'noop.json'), JSON.stringify({ ...NOOP, version, name: 'Ours' }));
  return path;
}

describe('the built-in fixtures', () => {
  it('are registered on a test host', async () => {
    const host = await serve(['--conformance']);

    expect(host.io.out()).toMatch(new RegExp(`fixtures +${FIXTURES.length} built in`));
    expect(host.io.out()).not.toContain('Not loaded');
    expect(host.io.out()).toContain('weft run conformance-noop --watch');
    // How a host without conversations refuses is not for this host to show.
    expect(await listed(host)).toHaveLength(FIXTURES.length - 3);
    expect(await noop(host)).toMatch(/^1\.0\+weft\.[0-9a-f]{8}$/);
  });

  it('are not on a live host', async () => {
    const host = await serve([], { WEFT_API_KEY: API_KEY.replace('test', 'live') });

    expect(host.io.out()).not.toContain('fixtures');
    expect(await listed(host)).toEqual([]);
  });

  it('are there after a restart, as they were', async () => {
    const first = await serve(['--conformance']);
    const registered = await call(first, 'GET', '/v1/host/weft/workflows?limit=100');
    await first.stop();

    const second = await serve(['--conformance']);

    expect(await call(second, 'GET', '/v1/host/weft/workflows?limit=100')).toEqual(registered);
    expect(second.io.out()).toMatch(new RegExp(`fixtures +${FIXTURES.length} built in`));
  });

  it('give way to a file of the same id, whichever was there first, for as long as it is registered', async () => {
    const before = await serve(['--conformance']);
    await before.stop();

    const host = await serve(['--conformance', '--workflows', await ownNoop()]);
    const withFile = await noop(host);
    await host.stop();
    const after = await serve(['--conformance']);

    expect(host.io.out()).toMatch(/workflows +conformance-noop@1\.0\n/);
    expect(host.io.out()).toMatch(new RegExp(`fixtures +${FIXTURES.length - 1} built in`));
    expect([withFile, await noop(after)]).toEqual(['1.0', '1.0']);
  });

  it('give way to those of a newer release', async () => {
    const old = await serve(['--conformance', '--workflows', await ownNoop('1.0+weft.00000000')]);
    const oldVersion = await noop(old);
    await old.stop();

    const host = await serve(['--conformance']);

    expect(oldVersion).toBe('1.0+weft.00000000');
    expect(await noop(host)).toMatch(/^1\.0\+weft\.(?!0{8})[0-9a-f]{8}$/);
  });

  it('that a limit keeps out are named, and the others are there', async () => {
    const host = await serve(['--conformance'], { WEFT_MAX_DEFINITION_NODES: '5' });

    expect(host.io.out()).toMatch(/! built-in conformance-cap-breach: /);
    expect(await listed(host)).toHaveLength(FIXTURES.length - 4);
  });

  it('are listed by each of several processes that start at once', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const env = {
      WEFT_STORE: server().url,
      WEFT_STORE_SCHEMA: newSchema(),
      WEFT_SECRETS_KEY: randomBytes(32).toString('base64url'),
      WEFT_AUDIT_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };

    const started = await Promise.all([1, 2, 3].map(() => serve(['--conformance'], env)));

    for (const host of started) {
      expect(host.io.out()).toMatch(new RegExp(`fixtures +${FIXTURES.length} built in`));
      expect(await listed(host)).toHaveLength(FIXTURES.length - 3);
    }
  });
});
