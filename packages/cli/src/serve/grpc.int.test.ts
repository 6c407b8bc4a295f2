import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGrpcClient } from '@weft/conformance/grpc-client';
import type { JsonObject } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serveHere, weft } from '../testing/served.ts';

const KEY = `weft_live_${'g'.repeat(43)}`;
const env = { WEFT_API_KEY: KEY };

let folder: string;
let host: Served | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-grpc-'));
});
afterEach(async () => {
  await host?.stop();
  host = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function discovery(): Promise<JsonObject> {
  return (await (await fetch(`${host?.url}/.well-known/openwop`)).json()) as JsonObject;
}

describe('weft serve --grpc-port', () => {
  it('serves gRPC, and says so in discovery and at the start', async () => {
    host = await serveHere(folder, ['--grpc-port', '0'], env);

    const { grpc, supportedTransports, capabilities } = await discovery();
    const { endpoint } = grpc as { endpoint: string };
    const client = createGrpcClient({ endpoint, key: KEY, timeoutMs: 10_000 });
    const { code } = await client.call('GetRun', { runId: 'unknown' });
    const described = await client.call('GetCapabilities', {}, { key: null });
    client.close();

    expect(grpc).toEqual({ supported: true, service: 'openwop.v1.Engine', tls: 'disabled', endpoint });
    expect(endpoint).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+$/);
    expect(supportedTransports).toEqual(['rest', 'grpc', 'a2a']);
    expect((capabilities as JsonObject)['grpc']).toEqual(grpc);
    expect(host.io.out()).toContain(endpoint);
    expect(code).toBe(5);
    expect(described.message['grpc']).toEqual(grpc);
  });

  it('is not advertised where it is not served, but its .proto is there', async () => {
    host = await serveHere(folder, [], env);

    const { grpc, supportedTransports } = await discovery();
    const proto = await fetch(`${host.url}/v1/openwop.proto`);

    expect(grpc).toBeUndefined();
    expect(supportedTransports).toEqual(['rest', 'a2a']);
    expect(await proto.text()).toContain('service Engine {');
  });

  it('is refused on an address that others reach, and says why and what to do', async () => {
    const { code, err } = await weft(
      folder,
      ['serve', '--port', '0', '--grpc-port', '0', '--host', '0.0.0.0'],
      env,
    );

    expect(code).toBe(2);
    expect(err).toMatch(/without TLS.*loopback only.*--grpc-port cannot be combined with --host 0\.0\.0\.0/);
  });

  it('names the flag when its port is taken, and leaves nothing behind', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;

    const { code, err } = await weft(folder, ['serve', '--port', '0', '--grpc-port', String(port)], env);
    taken.close();

    expect(code).toBe(3);
    expect(err).toContain('Choose another one with --grpc-port');
    host = await serveHere(folder, [], env);
  });
});
