import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { testServer } from '@weft/storage/postgres-test-server';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';

/** What one process has registered is known to all, and after a restart, on both stores. */

const { server } = testServer();
const KEY = `weft_test_${'r'.repeat(43)}`;
const SHARED = {
  WEFT_SECRETS_KEY: randomBytes(32).toString('base64url'),
  WEFT_AUDIT_KEY: generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
};
const folder = mkdtempSync(join(tmpdir(), 'weft-registry-'));
const hosts: HostProcess[] = [];

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.kill()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(flags: readonly string[], env: Record<string, string> = {}): Promise<HostProcess> {
  const port = await freePort();
  const dataFolder = join(folder, flags.length === 0 ? 'data' : `data-${port}`);
  const host = await startHostProcess({ dataFolder, port, apiKey: KEY, flags, env });
  hosts.push(host);
  return host;
}

const onPostgres = (): Promise<HostProcess> =>
  start(['--store', server().url], { ...SHARED, WEFT_STORE_SCHEMA: 'registry' });

async function ask(
  host: HostProcess,
  path: string,
  body?: object,
): Promise<{ status: number; json: JsonObject }> {
  const response = await fetch(`${host.url}/v1/host/weft/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as JsonObject };
}

const typeOf = (version: string, port: string): JsonObject => ({
  ...{ typeId: 'acme.charge', version },
  inputs: { type: 'object', properties: { [port]: { type: 'number' } } },
});

const register = (host: HostProcess, ...types: JsonObject[]) =>
  ask(host, 'workers', { name: 'w', capacity: 1, types });

async function versionsAt(host: HostProcess): Promise<unknown[]> {
  const { json } = await ask(host, 'node-types?typeId=acme.charge');
  return (json['types'] as JsonObject[]).map(({ version }) => version);
}

const DEFINITION = { id: 'charging', version: '1', nodes: [{ id: 'n', typeId: 'acme.charge' }], edges: [] };

describe('node types', () => {
  it('are one registry for several processes on PostgreSQL (N-1, N-2, N-3)', async () => {
    const [first, second] = [await onPostgres(), await onPostgres()];
    const unknown = await ask(second, 'workflows', DEFINITION);

    const accepted = await register(first, typeOf('1.0.0', 'amount'));
    const seen = await versionsAt(second);
    const other = await register(second, typeOf('1.0.0', 'sum'), typeOf('1.1.0', 'sum'));
    const atOnce = await Promise.all(
      [first, second].map((host, index) => register(host, typeOf('2.0.0', `port${index}`))),
    );
    const defined = await ask(second, 'workflows', DEFINITION);
    await first.kill();
    await second.kill();
    const third = await onPostgres();

    expect([unknown.status, JSON.stringify(unknown.json)]).toEqual([
      400,
      expect.stringContaining('acme.charge'),
    ]);
    expect([accepted.status, seen]).toEqual([201, ['1.0.0']]);
    expect([other.status, other.json['error']]).toEqual([409, expect.any(String)]);
    expect(atOnce.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409]);
    expect(defined.status).toBe(201);
    expect(await versionsAt(third)).toEqual(['1.0.0', '2.0.0']);
  });

  it('are known again after a restart on SQLite (N-2)', async () => {
    const first = await start([]);
    const accepted = await register(first, typeOf('1.0.0', 'amount'));
    await first.kill();

    const second = await start([]);

    expect(accepted.status).toBe(201);
    expect(await versionsAt(second)).toEqual(['1.0.0']);
    expect((await register(second, typeOf('1.0.0', 'sum'))).status).toBe(409);
    expect((await ask(second, 'workflows', DEFINITION)).status).toBe(201);
  });
});
