import { connect, type Socket } from 'node:net';
import { type EffectNodeType, openMemoryStore } from '@weft/engine';
import type { JsonObject, TaskMessage, WorkerMessage } from '@weft/protocol';
import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerOptions } from '../../options.ts';
import { type RunningServer, startServer } from '../../start-server.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';

const WORKERS = '/v1/host/weft/workers';

/** A node type of the host whose tasks go to workers that serve `acme.work`. */
const SERVED: EffectNodeType = {
  kind: 'effect',
  typeId: 'test.served',
  title: 'Served',
  summary: 'Is performed by a worker.',
  config: Type.Object({}, { additionalProperties: true }),
  servedBy: {
    typeId: 'acme.work',
    version: '1.0.0',
    digest: '0'.repeat(64),
    secrets: [],
    uses: [],
    checkInputs: () => [],
    checkOutputs: () => [],
  },
  perform: () => Promise.reject(new Error('a worker performs it')),
};

const FLOW = {
  id: 'served',
  name: 'served',
  version: '1.0',
  nodes: [
    { id: 'work', typeId: 'test.served', name: 'work', position: { x: 0, y: 0 }, config: {}, inputs: {} },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [],
  metadata: {},
  settings: { timeout: 0, maxRetries: 0, executionMode: 'sequential' },
};

const WORKER = { name: 'w', capacity: 2, types: [{ typeId: 'acme.work', version: '1.0.0' }] };

let at: Harness;
let server: RunningServer;
const sockets: Socket[] = [];

async function open(options: ServerOptions = {}): Promise<void> {
  at = await openHarness(options, undefined, undefined, { store: openMemoryStore(), nodes: [SERVED] });
  server = await startServer(at.app, { host: '127.0.0.1', port: 0 });
  const answer = await at.call('POST', '/v1/host/weft/workflows', { body: FLOW });
  if (answer.status !== 201) throw new Error(answer.text);
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.shutdown();
  await at.close();
});

async function register(key = at.key): Promise<string> {
  const { status, json, text } = await at.call('POST', WORKERS, { body: WORKER, key });
  expect(status, text).toBe(201);
  return String(json['workerId']);
}

interface Stream {
  readonly status: number;
  readonly contentType: string;
  next(): Promise<WorkerMessage | undefined>;
  close(): void;
}

async function tasksOf(workerId: string, key = at.key): Promise<Stream> {
  const control = new AbortController();
  const response = await fetch(`${server.url}${WORKERS}/${workerId}/tasks`, {
    headers: { authorization: `Bearer ${key}` },
    signal: control.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    async next() {
      while (!text.includes('\n')) {
        const piece = await reader?.read();
        if (piece === undefined || piece.done) return undefined;
        text += piece.value;
      }
      const end = text.indexOf('\n');
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      return JSON.parse(line) as WorkerMessage;
    },
    close: () => control.abort(),
  };
}

async function nextTask(stream: Stream): Promise<TaskMessage> {
  for (;;) {
    const message = await stream.next();
    if (message === undefined) throw new Error('The stream has ended.');
    if (message.type === 'task') return message;
  }
}

const report = (workerId: string, body: JsonObject, key = at.key) =>
  at.call('POST', `${WORKERS}/${workerId}/reports`, { body, key });

describe('the worker protocol', () => {
  it('leads a task from a run to a worker and its result back', async () => {
    await open();
    const workerId = await register();
    const stream = await tasksOf(workerId);
    expect([stream.status, stream.contentType]).toEqual([200, 'application/x-ndjson; charset=utf-8']);

    const { runId } = await at.start('served');
    const { taskId, lease, nodeId } = await nextTask(stream);
    expect(nodeId).toBe('work');
    const answer = await report(workerId, { results: [{ taskId, lease, outputs: { done: true } }] });

    expect(answer.json).toMatchObject({ refused: [] });
    await at.reaches(runId, 'completed');
    const listed = await at.call('GET', WORKERS);
    expect(listed.json).toMatchObject({
      workers: [{ workerId, name: 'w', state: 'active', capacity: 2, running: 0 }],
    });
    expect((await at.call('DELETE', `${WORKERS}/${workerId}`)).status).toBe(204);
    expect(await stream.next()).toEqual({ type: 'close', reason: 'shutdown' });
    expect(await stream.next()).toBeUndefined();
    expect((await report(workerId, {})).status).toBe(404);
  });

  it('counts the workers of a node type', async () => {
    await open();
    await tasksOf(await register());
    await register(); // reads no tasks

    const listed = await at.call('GET', '/v1/host/weft/node-types?typeId=acme.work');

    expect(listed.json['types']).toMatchObject([{ typeId: 'acme.work', version: '1.0.0', workers: 1 }]);
  });

  it('tells a worker that it is still there', async () => {
    await open({ keepaliveMs: 20 });
    const stream = await tasksOf(await register());

    expect(await stream.next()).toEqual({ type: 'ping' });
  });

  it('ends streams when the server shuts down, and tells why', async () => {
    await open();
    const stream = await tasksOf(await register());

    await server.shutdown();

    expect(await stream.next()).toBeUndefined();
  });

  it('knows no worker of another tenant', async () => {
    await open();
    const workerId = await register();

    const stream = await tasksOf(workerId, at.otherTenantKey);
    const reported = await report(workerId, {}, at.otherTenantKey);
    const closed = await at.call('DELETE', `${WORKERS}/${workerId}`, { key: at.otherTenantKey });

    expect([stream.status, reported.status, closed.status]).toEqual([404, 404, 404]);
  });

  it('counts streams of workers among those of their tenant', async () => {
    await open({ maxStreamsPerTenant: 1 });
    const first = await tasksOf(await register());
    const second = await tasksOf(await register());

    expect([first.status, second.status]).toEqual([200, 429]);
    first.close();
  });

  it('is refused for types with secrets from elsewhere, unless a trusted proxy came over TLS', async () => {
    await open({ trustedProxies: ['10.0.0.1'] });
    const body = { ...WORKER, types: [{ typeId: 'acme.pay', version: '1.0.0', secrets: ['stripe'] }] };
    const ask = (from: string, headers: Record<string, string> = {}) =>
      at.call('POST', WORKERS, { body, from, headers });
    const proxied = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };

    expect(await ask('203.0.113.9')).toMatchObject({ status: 403, json: { error: 'insecure_transport' } });
    expect((await ask('203.0.113.9', proxied)).status).toBe(403);
    expect((await ask('10.0.0.1', proxied)).status).toBe(201);
    expect((await ask('10.0.0.1', { ...proxied, 'x-forwarded-proto': 'http' })).status).toBe(403);
    expect((await ask('127.0.0.1')).status).toBe(201);
  });

  it.each([
    ['a result without an end', { results: [{ taskId: 't', lease: 1 }] }, 'results.0'],
    [
      'a result with two',
      { results: [{ taskId: 't', lease: 1, outputs: {}, error: { code: 'x', message: 'y' } }] },
      'results.0',
    ],
    ['a negative lease', { returned: [{ taskId: 't', lease: -1 }] }, 'returned.0.lease'],
    ['a negative index', { chunks: [{ taskId: 't', lease: 1, index: -1, text: '' }] }, 'chunks.0.index'],
    ['a capacity beyond all', { capacity: 1_001 }, 'capacity'],
    ['an unknown field', { result: [] }, 'result'],
  ])('refuses %s and names the field', async (_what, body, field) => {
    await open();
    const workerId = await register();

    const answer = await report(workerId, body);

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: 'validation_error', details: { field } });
  });

  it('keeps nothing for a worker that does not read, and others are served (H-3)', async () => {
    await open();
    const deaf = await register();
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    sockets.push(socket);
    socket.pause();
    socket.write(
      `GET ${WORKERS}/${deaf}/tasks HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${at.key}\r\n\r\n`,
    );
    await expect.poll(async () => (await at.call('GET', WORKERS)).text).toContain('"active"');

    const { runId } = await at.start('served');
    await expect.poll(() => at.host.stats()['tasksHeld']).toBe(1);
    const reading = await register();
    const stream = await tasksOf(reading);
    const { runId: other } = await at.start('served');
    const task = await nextTask(stream);
    await report(reading, { results: [{ taskId: task.taskId, lease: task.lease, outputs: {} }] });

    expect(task.runId).toBe(other);
    await at.reaches(other, 'completed');
    await at.call('DELETE', `${WORKERS}/${deaf}`);
    const second = await nextTask(stream);
    expect(second.runId).toBe(runId);
  });
});
