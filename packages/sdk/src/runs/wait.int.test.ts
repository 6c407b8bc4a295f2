import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../client.ts';
import { ApiError } from '../requests/errors.ts';
import { RunEndedError } from './wait.ts';

/** A loopback host with one run, whose status the test moves. */
let server: Server;
let client: Client;
let status: string;
let reads: number;
let streams: ServerResponse[];
let events: string[];
/** Called before each request that reads the run; false leaves it to the test. */
let onRead: (response: ServerResponse) => boolean;

beforeEach(async () => {
  [status, reads, streams, events, onRead] = ['running', 0, [], [], () => true];
  server = createServer((request, response) => {
    if (request.method === 'POST') {
      response.writeHead(201).end(JSON.stringify({ runId: 'r', status, eventsUrl: '' }));
    } else if (request.url?.includes('/events') === true) {
      const after = Number(request.headers['last-event-id'] ?? -1);
      response.write(`:open\n\n${events.slice(after + 1).join('')}`);
      streams.push(response);
      if (status === 'completed') response.end();
    } else {
      reads += 1;
      if (request.url?.endsWith('/unknown') === true)
        response.writeHead(404).end(JSON.stringify({ error: 'not_found', message: 'No.' }));
      else if (onRead(response)) response.end(JSON.stringify({ runId: 'r', workflowId: 'w', status }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function move(to: string, type: string): void {
  status = to;
  const document = { runId: 'r', type, payload: {}, sequence: events.length };
  events.push(`id: ${events.length}\ndata: ${JSON.stringify(document)}\n\n`);
  for (const stream of streams) stream.write(events.at(-1));
}

const isWatched = () => expect.poll(() => streams.length > 0 && reads > 0).toBe(true);

describe('waiting for a run', () => {
  it('resolves with a run that has ended', async () => {
    status = 'failed';

    expect(await client.runs.waitFor('r')).toMatchObject({ runId: 'r', status: 'failed' });
  });

  it('resolves when the run ends, and reads it no more often than twice', async () => {
    const run = client.runs.waitFor('r');
    await isWatched();

    for (let step = 0; step < 20; step += 1) move('running', 'node.completed');
    move('completed', 'run.completed');

    expect(await run).toMatchObject({ status: 'completed' });
    expect(reads).toBe(2);
  });

  it('resolves when the run has one of the statuses', async () => {
    const run = client.runs.waitFor('r', { until: ['waiting-approval', 'waiting-input'] });
    await isWatched();

    move('running', 'node.completed');
    move('waiting-input', 'node.suspended');

    expect(await run).toMatchObject({ status: 'waiting-input' });
  });

  it('resolves when a test says so', async () => {
    const run = client.runs.waitFor('r', { until: ({ status }) => status === 'paused' });
    await isWatched();

    move('paused', 'run.paused');

    expect(await run).toMatchObject({ status: 'paused' });
  });

  it('rejects when the run ends otherwise', async () => {
    const run = client.runs.waitFor('r', { until: ['paused'] });
    const error = run.catch((cause: unknown) => cause);
    await isWatched();

    move('completed', 'run.completed');

    expect(await error).toBeInstanceOf(RunEndedError);
    expect(await error).toMatchObject({ run: { status: 'completed' } });
  });

  it('survives lost connections and a host that is away for a moment', async () => {
    const run = client.withOptions({ maxRetries: 0 }).runs.waitFor('r');
    await isWatched();
    let lost = 0;
    onRead = (response) => {
      lost += 1;
      if (lost < 3) response.destroy();
      return lost >= 3;
    };

    move('completed', 'node.completed');
    for (const stream of streams) stream.destroy();

    expect(await run).toMatchObject({ status: 'completed' });
    expect(lost).toBeGreaterThanOrEqual(3);
  });

  it('rejects after its timeout, and when its signal is aborted', async () => {
    const leaving = new AbortController();
    const left = client.runs.waitFor('r', { signal: leaving.signal }).catch((cause: unknown) => cause);

    const late = await client.runs.waitFor('r', { timeoutMs: 20 }).catch((cause: unknown) => cause);
    leaving.abort(new Error('enough'));

    expect(late).toMatchObject({ name: 'TimeoutError' });
    expect(await left).toMatchObject({ message: 'enough' });
    await expect.poll(() => streams.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('rejects with what the host says about a run that is not there', async () => {
    await expect(client.runs.waitFor('unknown')).rejects.toBeInstanceOf(ApiError);
  });
});

describe('creating a run and waiting for it', () => {
  it('is one call', async () => {
    const run = client.runs.createAndWait({ workflowId: 'w' }, { timeoutMs: 60_000 });
    await isWatched();

    move('completed', 'run.completed');

    expect(await run).toMatchObject({ runId: 'r', status: 'completed' });
  });
});
