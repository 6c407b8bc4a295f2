import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStallingProxy, type StallingProxy } from './stalling-proxy.ts';

let asked: number;
let proxy: StallingProxy;
const server = createServer((_, response) => {
  asked += 1;
  response.end('here');
});

beforeEach(async () => {
  asked = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy = await openStallingProxy(() => (server.address() as AddressInfo).port);
});

afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('holds what comes while it stalls, and brings it afterwards', async () => {
  await (await fetch(proxy.url)).text();

  proxy.stall();
  const waiting = fetch(proxy.url);
  const direct = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await direct.text();
  const askedBefore = asked;
  proxy.resume();

  expect(await (await waiting).text()).toBe('here');
  expect(askedBefore).toBe(2);
  expect(asked).toBe(3);
});
