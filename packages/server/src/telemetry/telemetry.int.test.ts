import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgress } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../testing/harness.ts';
import { startMetricsServer } from './metrics-server.ts';
import { createTelemetry, type OtlpOptions, type Telemetry } from './telemetry.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly document: JsonObject;
}

interface Collector {
  readonly endpoint: string;
  readonly authority: string;
  readonly received: readonly Received[];
  spans(): readonly CollectedSpan[];
}

interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: string } }[];
}

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** Answers with the first status once, then with the next; the last one for ever. */
async function openCollector(statuses: readonly number[] = [200]): Promise<Collector> {
  const received: Received[] = [];
  let asked = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const status = statuses[Math.min(asked, statuses.length - 1)] ?? 200;
      asked += 1;
      if (status === 200) {
        const document = JSON.parse(text) as JsonObject;
        received.push({ path: request.url ?? '', headers: request.headers, document });
      }
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const port = await listen(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    authority: `127.0.0.1:${port}`,
    received,
    spans: () =>
      received.filter(({ path }) => path === '/v1/traces').flatMap(({ document }) => spansIn(document)),
  };
}

function spansIn(document: JsonObject): CollectedSpan[] {
  const { resourceSpans } = document as unknown as {
    resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function attribute(span: CollectedSpan | undefined, key: string): string | undefined {
  const value = span?.attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
}

async function observed(
  collector: Pick<Collector, 'endpoint' | 'authority'>,
  options: Partial<OtlpOptions> = {},
): Promise<{ at: Harness; telemetry: Telemetry }> {
  const at = await openHarness({}, undefined, undefined, { exportsTelemetry: true });
  const telemetry = createTelemetry({
    host: at.host,
    version: '0.0.0-test',
    log: () => undefined,
    otlp: {
      endpoint: collector.endpoint,
      headers: { 'x-api-key': 'collector-key' },
      egress: createEgress({ allow: [collector.authority], connectTimeoutMs: 2_000 }),
      ...options,
    },
  });
  closing.push(async () => {
    await telemetry.stop(200);
    await at.close();
  });
  return { at, telemetry };
}

async function until(isReached: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(isReached, { timeout: 10_000, interval: 20 }).toBe(true);
}

describe('a host with a collector', () => {
  it('sends the spans of a run within five seconds of its end, under the caller’s trace', async () => {
    const collector = await openCollector();
    const { at } = await observed(collector);
    const traceId = '0af7651916cd43dd8448eb211c80319c';

    const created = await at.call('POST', '/v1/runs', {
      body: { workflowId: 'fail' },
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    await at.reaches(String(created.json['runId']), 'failed');

    await expect.poll(() => collector.spans().length, { timeout: 5_000, interval: 20 }).toBe(2);
    const [run, node] = collector.spans();
    expect(run).toMatchObject({ name: 'openwop.run', traceId, parentSpanId: 'b7ad6b7169203331' });
    expect(node).toMatchObject({ name: 'openwop.node.core.fail', traceId, parentSpanId: run?.spanId });
    expect(attribute(run, 'openwop.run_id')).toBe(String(created.json['runId']));
    expect(attribute(node, 'openwop.run_id')).toBe(String(created.json['runId']));
    expect(attribute(node, 'openwop.node_attempt')).toBe('0');
    expect(collector.received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-api-key': 'collector-key',
    });
  });

  it('says so in discovery, and says nothing without one', async () => {
    const { at } = await observed(await openCollector());
    const plain = await openHarness();
    closing.push(() => plain.close());

    expect(at.host.capabilities()).toMatchObject({
      observability: { namespace: 'openwop', otel: { exportProtocols: ['http/json'] } },
      capabilities: { observability: { namespace: 'openwop' } },
    });
    expect(plain.host.capabilities()).not.toHaveProperty('observability');
  });

  it('has a span for a question and sends nothing before the run has ended', async () => {
    const collector = await openCollector();
    const { at } = await observed(collector);
    const { runId } = await at.start('gate');
    await at.reaches(runId, 'waiting-approval');
    const before = collector.spans().length;

    await at.call('POST', `/v1/runs/${runId}/interrupts/gate`, {
      body: { resumeValue: { action: 'accept' } },
    });
    await at.reaches(runId, 'completed');

    await until(() => collector.spans().length === 3);
    const asked = collector.spans().find(({ name }) => name === 'openwop.interrupt');
    expect(before).toBe(0);
    expect(attribute(asked, 'openwop.interrupt_kind')).toBe('approval');
    expect(attribute(asked, 'openwop.interrupt_id')).toBe('gate:0');
  });

  it('sends its metrics as well', async () => {
    const collector = await openCollector();
    const { at } = await observed(collector, { metricsEveryMs: 20 });
    await at.start('noop');

    await until(() => JSON.stringify(collector.received).includes('openwop.run.completed'));

    const paths = new Set(collector.received.map(({ path }) => path));
    expect(paths).toContain('/v1/metrics');
  });

  it('leaves out runs whose caller does not sample', async () => {
    const collector = await openCollector();
    const { at } = await observed(collector);

    for (const flags of ['00', '01']) {
      await at.call('POST', '/v1/runs', {
        body: { workflowId: 'noop' },
        headers: {
          traceparent: `00-${flags.repeat(16)}-b7ad6b7169203331-${flags}`.replace(
            '0'.repeat(32),
            'a'.repeat(32),
          ),
        },
      });
    }

    await until(() => collector.spans().length === 2);
    expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set(['01'.repeat(16)]));
  });

  it('tries again when the collector was busy', async () => {
    const collector = await openCollector([503, 503, 200]);
    const { at, telemetry } = await observed(collector, { retryMs: [10, 10, 10] });

    await at.start('noop');

    // The collector has the spans a moment before its answer is counted.
    await until(async () =>
      (await telemetry.metrics()).includes('weft_telemetry_spans_total{outcome="sent"} 2\n'),
    );
    expect(collector.spans()).toHaveLength(2);
  });
});

describe('a host whose collector is away', () => {
  it('ends its runs all the same, and counts what it could not send', async () => {
    const gone = await openCollector();
    for (const close of closing.splice(0)) await close();
    const { at, telemetry } = await observed(gone, { retryMs: [10], maxQueuedRuns: 4 });

    const runIds = await Promise.all(Array.from({ length: 50 }, async () => (await at.start('noop')).runId));
    await Promise.all(runIds.map((runId) => at.reaches(runId, 'completed')));

    await until(async () =>
      /^weft_telemetry_spans_total\{outcome="dropped"\} [1-9]/m.test(await telemetry.metrics()),
    );
    expect(await telemetry.metrics()).toMatch(/^weft_telemetry_runs_dropped_total [1-9]/m);
    expect(await telemetry.metrics()).toContain(
      'openwop_run_completed_total{run_status="completed",workflow_id="noop"} 50\n',
    );
  });

  it('makes no run wait for an answer that does not come', async () => {
    const asked: string[] = [];
    const port = await listen(createServer((request) => void asked.push(request.url ?? '')));
    const authority = `127.0.0.1:${port}`;
    const { at } = await observed({ endpoint: `http://${authority}`, authority });
    await at.start('noop');
    await until(() => asked.length === 1);

    const { runId } = await at.start('noop');

    await at.reaches(runId, 'completed');
    expect(asked).toEqual(['/v1/traces']);
  });

  it('is not asked for by a policy that does not name it', async () => {
    const collector = await openCollector();
    const logged: string[] = [];
    const at = await openHarness();
    const telemetry = createTelemetry({
      host: at.host,
      version: '0',
      log: (_level, fields) => logged.push(JSON.stringify(fields)),
      otlp: {
        endpoint: collector.endpoint,
        headers: { authorization: 'Bearer hunter2' },
        egress: createEgress({ allow: [], connectTimeoutMs: 2_000 }),
        retryMs: [],
      },
    });
    closing.push(async () => {
      await telemetry.stop(0);
      await at.close();
    });

    await at.start('noop');

    await until(() => logged.some((line) => line.includes('loopback')));
    expect(collector.received).toEqual([]);
    expect(logged.join('\n')).not.toContain('hunter2');
  });
});

describe('the port for scrapers', () => {
  it('serves GET /metrics without a key, and nothing else', async () => {
    const server = await startMetricsServer(
      { metrics: async () => 'up 1\n' },
      { host: '127.0.0.1', port: 0 },
    );
    closing.push(() => server.close());

    const metrics = await fetch(server.url);
    const other = await fetch(server.url.replace('/metrics', '/v1/runs'));
    const posted = await fetch(server.url, { method: 'POST' });

    expect([metrics.status, await metrics.text()]).toEqual([200, 'up 1\n']);
    expect([other.status, posted.status]).toEqual([404, 404]);
  });
});
