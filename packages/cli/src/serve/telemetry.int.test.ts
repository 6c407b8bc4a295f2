import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveHere, weft } from '../testing/served.ts';

const EXAMPLES = new URL('../../../../examples/workflows/', import.meta.url).pathname;

let folder: string;
let collector: Server;
let received: { readonly path: string; readonly body: string; readonly team: unknown }[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-telemetry-'));
  received = [];
  collector = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      received.push({ path: request.url ?? '', body, team: request.headers['x-team'] });
      response.end('{}');
    });
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
});

afterEach(async () => {
  collector.closeAllConnections();
  collector.close();
  await once(collector, 'close');
  await rm(folder, { recursive: true, force: true });
});

describe('serve with a collector', () => {
  it('sends spans there, also those of a run that ends just before the host does', async () => {
    const { port } = collector.address() as AddressInfo;
    const host = await serveHere(
      folder,
      ['--workflows', EXAMPLES, '--otlp-endpoint', `http://127.0.0.1:${port}`],
      {
        OTEL_EXPORTER_OTLP_HEADERS: 'x-team=weft',
      },
    );
    const key = (await readFile(join(folder, '.weft', 'key'), 'utf8')).trim();

    const ran = await weft(folder, ['run', 'batch-totals', '--watch']);
    const metrics = await fetch(`${host.url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
    const discovery = await fetch(`${host.url}/.well-known/openwop`);
    await host.stop();

    expect(ran.code).toBe(0);
    expect(await metrics.text()).toContain('openwop_run_created_total{');
    expect(await discovery.json()).toMatchObject({
      capabilities: { observability: { namespace: 'openwop' } },
    });
    expect(
      received.filter(({ path, body }) => path === '/v1/traces' && body.includes('openwop.run_id')),
    ).not.toEqual([]);
    expect(received[0]?.team).toBe('weft');
  });

  it('serves metrics without a key where it is configured to', async () => {
    const flags = ['--log-level', 'info', '--log-format', 'json'];
    const host = await serveHere(folder, flags, { WEFT_METRICS_BIND: '127.0.0.1:0' });
    const url = /"url":"([^"]+\/metrics)"/.exec(host.io.err())?.[1] ?? '';

    const answer = await fetch(url);
    const text = await answer.text();
    await host.stop();

    expect(answer.status).toBe(200);
    expect(text).toContain('weft_claim_age_seconds');
    await expect(fetch(url)).rejects.toThrow();
  });
});
