import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../start-server.ts';
import { type Harness, openHarness } from '../testing/harness.ts';

/** Over a socket, because clients tidy up paths before they send them. */

let at: Harness;
let server: RunningServer;

beforeEach(async () => {
  const page = { type: 'text/html', bytes: Buffer.from('page'), etag: 't', isImmutable: false, packed: {} };
  at = await openHarness({ studio: new Map([['index.html', page]]) });
  server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  await server.shutdown();
  await at.close();
});

async function statusOf(path: string, host = 'localhost'): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.end(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return (await text(socket)).split(' ', 2)[1] ?? '';
}

it.each([
  '/studio/../package.json',
  '/studio/../../../../etc/passwd',
  '/studio/%2e%2e/%2e%2e/etc/passwd',
  '/studio/..%2f..%2fetc%2fpasswd',
  '/studio/%252e%252e/x/../../y',
  '/studio/./index.html',
  '/studio/..;/v1/runs',
])('serves no file for %s as it is sent (K-14)', async (path) => {
  const status = await statusOf(path);

  // The last is a page that the router of the page does not know.
  expect(status).toBe(path.includes('..;') ? '200' : '404');
});

it('is served under the address that was reached, and not under any other name (K-12)', async () => {
  expect(await statusOf('/studio/', `127.0.0.1:${server.port}`)).toBe('200');
  expect(await statusOf('/studio/', `rebound.example:${server.port}`)).toBe('403');
  expect(await statusOf('/studio/', '')).toBe('403');
});
