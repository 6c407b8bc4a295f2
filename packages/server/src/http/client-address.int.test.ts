import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openMemoryStore } from '@weft/engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, openHarness } from '../testing/harness.ts';

const store = openMemoryStore();
/** All requests of it go over one connection, as those of many clients do behind a proxy. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let at: Harness;

beforeAll(async () => {
  at = await openHarness(
    { trustedProxies: ['127.0.0.1'] },
    (host) => host,
    () => undefined,
    { store },
  );
  await at.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  agent.destroy();
  await at.close();
});

/** Creates a key; answers the port of this end of the connection. */
async function createKey(key: string, client: string): Promise<number | undefined> {
  const { port } = at.app.server.address() as AddressInfo;
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'x-forwarded-for': client,
  };
  const outgoing = request({ port, agent, headers, method: 'POST', path: '/v1/host/weft/keys' });
  outgoing.end(JSON.stringify({ principal: 'operator', kind: 'service', scopes: ['runs:read'] }));
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { localPort } = answer.socket;
  await once(answer.resume(), 'end');
  expect(answer.statusCode).toBe(201);
  return localPort;
}

it('tells clients and addresses apart that come over one connection', async () => {
  const scopes = ['keys:manage', 'keys:impersonate', 'runs:read'];
  const [one, other] = [await at.createKey({ scopes }), await at.createKey({ scopes })];

  const ports = [
    await createKey(one.key, '203.0.113.1'),
    await createKey(one.key, '203.0.113.2'),
    await createKey(other.key, '203.0.113.2'),
    await createKey(one.key, '203.0.113.1'),
  ];

  expect(new Set(ports).size).toBe(1);
  const created = (await store.readAudit(0, 100)).filter(({ action }) => action === 'key.create').slice(-4);
  expect(created.map(({ details }) => [details?.['keyId'], details?.['address']])).toEqual([
    [one.keyId, '203.0.113.1'],
    [one.keyId, '203.0.113.2'],
    [other.keyId, '203.0.113.2'],
    [one.keyId, '203.0.113.1'],
  ]);
});
