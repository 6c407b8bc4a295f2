import { Agent } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerOptions } from '../options.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { type Harness, openHarness } from '../testing/harness.ts';
import { openSse, type SseClient } from '../testing/sse-client.ts';

let at: Harness;
let server: RunningServer;

async function open(options: ServerOptions = {}): Promise<void> {
  at = await openHarness(options);
  server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
}

afterEach(async () => {
  await server.shutdown();
  await at.close();
});

function follow(runId: string, query = '', headers: Record<string, string> = {}): Promise<SseClient> {
  return openSse({ url: `${server.url}/v1/runs/${runId}/events${query}`, key: at.key, headers });
}

async function running(workflowId = 'steps'): Promise<string> {
  const { runId } = await at.start(workflowId);
  await at.reaches(runId, 'running');
  return runId;
}

const cancel = (runId: string) => at.call('POST', `/v1/runs/${runId}/cancel`);
const sequences = (client: SseClient) => client.frames.map((frame) => Number(frame.id));
const counted = (length: number, from = 0) => Array.from({ length }, (_, index) => from + index);

describe('a live stream', () => {
  it('shows history, then what happens, with the bytes of a poll, and ends with the run', async () => {
    await open();
    const runId = await running();
    const client = await follow(runId, '?streamMode=debug');
    await client.until((frames) => frames.some((frame) => frame.event === 'node.started'));

    await cancel(runId);
    await client.ended;

    const poll = await at.call('GET', `/v1/runs/${runId}/events/poll`);
    expect(sequences(client)).toEqual(counted(client.frames.length));
    expect(client.frames.at(-1)?.event).toBe('run.cancelled');
    expect(poll.text).toContain(`"events":[${client.frames.map((frame) => frame.data).join(',')}]`);
  });

  it('resumes where the reader was, without a gap or a repetition', async () => {
    await open();
    const runId = await running();
    const first = await follow(runId, '?streamMode=debug');
    await first.until((frames) => frames.length >= 2);
    first.disconnect();
    const last = Number(first.frames.at(-1)?.id);

    const second = await follow(runId, '?streamMode=debug', { 'last-event-id': String(last) });
    await cancel(runId);
    await second.ended;

    expect(sequences(second)).toEqual(counted(second.frames.length, last + 1));
    expect(second.frames.at(-1)?.event).toBe('run.cancelled');
  });

  it('gives every subscriber its own modes', async () => {
    await open();
    const runId = await running();
    const queries = ['', '?streamMode=debug', '?streamMode=updates,messages', '?streamMode=values'];
    const clients = await Promise.all(queries.map((query) => follow(runId, query)));

    await cancel(runId);
    await Promise.all(clients.map((client) => client.ended));

    const [updates, debug, mixed, values] = clients.map((client) => client.frames);
    expect(updates?.map((frame) => frame.event)).not.toContain('node.started');
    expect(debug?.map((frame) => frame.event)).toContain('node.started');
    expect(mixed).toEqual(updates);
    expect(debug).toEqual(expect.arrayContaining([...(updates ?? [])]));
    expect(new Set(values?.map((frame) => frame.event))).toEqual(new Set(['state.snapshot']));
    expect(JSON.parse(values?.at(-1)?.data ?? '{}')).toMatchObject({ runId, status: 'cancelled' });
  });

  it('resumed in values begins with the run as it was at that point', async () => {
    await open();
    const runId = await running();

    const client = await follow(runId, '?streamMode=values', { 'last-event-id': '0' });
    await client.until((frames) => frames.length >= 1);

    expect(client.frames[0]?.id).toBe('0');
    expect(JSON.parse(client.frames[0]?.data ?? '{}')).toMatchObject({ runId, atSeq: 0 });
  });

  it('in values names the node that a run waits at, as the snapshot of the run does', async () => {
    await open();
    const { runId } = await at.start('gate');
    await at.reaches(runId, 'waiting-approval');

    const client = await follow(runId, '?streamMode=values');
    await client.until((frames) => frames.some((frame) => frame.data.includes('"waiting-approval"')));

    const snapshot = await at.call('GET', `/v1/runs/${runId}`);
    const shown = JSON.parse(client.frames.at(-1)?.data ?? '{}');
    expect(snapshot.json).toMatchObject({ currentNodeId: 'gate' });
    expect(shown).toMatchObject({ status: 'waiting-approval', currentNodeId: 'gate' });
  });

  it('in values shows what the fold knows, masked, and ends like the snapshot of the run', async () => {
    await open();
    const runId = await running('secret');
    const client = await follow(runId, '?streamMode=values');
    await client.until((frames) => frames.some((frame) => frame.data.includes('"wait"')));

    await cancel(runId);
    await client.ended;

    const { atSeq, ...last } = JSON.parse(client.frames.at(-1)?.data ?? '{}') as Record<string, unknown>;
    const snapshot = await at.call('GET', `/v1/runs/${runId}`);
    expect(last).toEqual(snapshot.json);
    expect(last).toMatchObject({ variables: { token: '[REDACTED]', length: 16 } });
    expect(atSeq).toBeGreaterThan(0);
    expect(client.frames.map((frame) => frame.data).join()).not.toContain('top-secret-value');
  });

  it('with a buffer sends batches, and the end of the run at once', async () => {
    await open();
    const runId = await running();
    const client = await follow(runId, '?streamMode=debug&bufferMs=5000');
    const asked = performance.now();

    await cancel(runId);
    await client.ended;

    expect(performance.now() - asked).toBeLessThan(2_500);
    expect(new Set(client.frames.map((frame) => frame.event))).toEqual(new Set(['batch']));
    const events = client.frames.flatMap(
      (frame) => JSON.parse(frame.data) as { sequence: number; type: string }[],
    );
    expect(events.map((event) => event.sequence)).toEqual(counted(events.length));
    expect(events.at(-1)?.type).toBe('run.cancelled');
    expect(Number(client.frames.at(-1)?.id)).toBe(events.length - 1);
  });

  it('with a short buffer does not wait for the end of the run', async () => {
    await open();
    const client = await follow(await running(), '?streamMode=debug&bufferMs=50');

    await client.until((frames) => frames.some((frame) => frame.event === 'batch'));

    expect(JSON.parse(client.frames[0]?.data ?? '[]')[0]).toMatchObject({ sequence: 0 });
  });

  it('is kept alive by comments that move no position', async () => {
    await open({ keepaliveMs: 20 });
    const client = await follow(await running(), '?streamMode=messages');

    await client.until((_frames, text) => text.split(':keepalive\n\n').length > 3);

    expect(client.frames).toEqual([]);
    expect(client.text()).not.toContain('id:');
  });
});

describe('the place of a stream', () => {
  it('is limited, and free again when the reader disconnects', async () => {
    await open({ maxStreamsPerTenant: 1 });
    const runId = await running();
    const first = await follow(runId);

    const refused = await follow(runId);
    await refused.ended;
    first.disconnect();

    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    expect(JSON.parse(refused.text())).toMatchObject({
      error: 'rate_limited',
      details: { scope: 'tenant', limit: 1 },
    });
    await expect.poll(async () => (await follow(runId)).status, { timeout: 5_000 }).toBe(200);
    expect(at.host.stats()['listeners']).toBe(1);
  });

  it('is not taken by a refused one: 404 comes as an ordinary answer', async () => {
    await open({ maxStreamsPerTenant: 1 });

    for (let i = 0; i < 3; i++) {
      const client = await follow('no-such-run');
      await client.ended;

      expect([client.status, client.headers['content-type']]).toEqual([
        404,
        'application/json; charset=utf-8',
      ]);
    }
  });

  it('of a run that has ended leaves the connection for the next request', async () => {
    await open();
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const url = `${server.url}/v1/runs/${runId}/events`;

    const ports: unknown[] = [];
    agent.on('free', (socket: { localPort?: number }) => ports.push(socket.localPort));
    for (let i = 0; i < 3; i++) await (await openSse({ url, key: at.key, agent })).ended;

    await expect.poll(() => ports.length).toBe(3);
    agent.destroy();
    expect(new Set(ports).size).toBe(1);
  });
});
