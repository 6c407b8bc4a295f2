import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';
import { ApiError, ConnectionError } from '../requests/errors.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, streamNumber: number) => void;

const servers: Server[] = [];

/** A loopback host whose run has the given status and whose nth stream is written by the handler. */
async function hostWith(status: () => string, onStream: Handler): Promise<string> {
  let streams = 0;
  const server = createServer((request, response) => {
    if (request.url?.includes('/events') === true) {
      onStream(request, response, streams);
      streams += 1;
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ runId: 'r', workflowId: 'w', status: status() }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

function frame(sequence: number, type: string): string {
  const document = {
    eventId: `e${sequence}`,
    runId: 'r',
    type,
    payload: {},
    timestamp: '2026-01-01T00:00:00Z',
    sequence,
  };
  return `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify(document)}\n\n`;
}

describe('client.runs.events', () => {
  it('resumes after the last event seen when the connection breaks, without loss or repeat', async () => {
    const resumedAfter: (string | undefined)[] = [];
    const baseUrl = await hostWith(
      () => 'running',
      (request, response, streamNumber) => {
        resumedAfter.push(request.headers['last-event-id'] as string | undefined);
        response.setHeader('content-type', 'text/event-stream');
        if (streamNumber === 0) {
          response.write(frame(0, 'run.started') + frame(2, 'node.completed') + 'id: 4\ndata: {"half', () => {
            setImmediate(() => response.destroy());
          });
          return;
        }
        response.end(`:keepalive\n\n${frame(4, 'node.completed')}${frame(5, 'run.completed')}`);
      },
    );

    const sequences: number[] = [];
    for await (const event of createClient({ baseUrl }).runs.events('r')) sequences.push(event.sequence);

    expect(sequences).toEqual([0, 2, 4, 5]);
    expect(resumedAfter).toEqual([undefined, '2']);
  });

  it('unpacks batches', async () => {
    const baseUrl = await hostWith(
      () => 'completed',
      (_request, response) => {
        const events = [0, 1].map((sequence) => ({
          sequence,
          type: sequence === 0 ? 'run.started' : 'run.completed',
        }));
        response.end(`id: 1\nevent: batch\ndata: ${JSON.stringify(events)}\n\n`);
      },
    );

    const types: string[] = [];
    for await (const event of createClient({ baseUrl }).runs.events('r', { bufferMs: 50 }))
      types.push(event.type);

    expect(types).toEqual(['run.started', 'run.completed']);
  });

  it('ends when the run has ended and there is nothing left to send', async () => {
    let streams = 0;
    const baseUrl = await hostWith(
      () => 'completed',
      (_request, response) => {
        streams += 1;
        response.end(':keepalive\n\n');
      },
    );

    const events: unknown[] = [];
    for await (const event of createClient({ baseUrl }).runs.events('r', { after: 9 })) events.push(event);

    expect(events).toEqual([]);
    expect(streams).toBe(2);
  });

  it('ends with the snapshot of a run that has ended', async () => {
    let streams = 0;
    const baseUrl = await hostWith(
      () => 'completed',
      (_request, response) => {
        streams += 1;
        const snapshots = ['running', 'completed'].map((status) => JSON.stringify({ runId: 'r', status }));
        response.end(
          snapshots.map((data, id) => `id: ${id}\nevent: state.snapshot\ndata: ${data}\n\n`).join(''),
        );
      },
    );

    const statuses: string[] = [];
    for await (const run of createClient({ baseUrl }).runs.events('r', { mode: 'values' }))
      statuses.push(run.status);

    expect([statuses, streams]).toEqual([['running', 'completed'], 1]);
  });

  it('closes the connection when the loop is left', async () => {
    let closed: () => void = () => undefined;
    const hasClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const baseUrl = await hostWith(
      () => 'running',
      (_request, response) => {
        response.on('close', () => closed());
        response.write(frame(0, 'run.started'));
      },
    );

    for await (const event of createClient({ baseUrl }).runs.events('r')) {
      expect(event.sequence).toBe(0);
      break;
    }

    await hasClosed;
  });

  it('throws what the first connection is answered with', async () => {
    const baseUrl = await hostWith(
      () => 'running',
      (_request, response) => {
        response.statusCode = 503;
        response.end(JSON.stringify({ error: 'service_unavailable', message: 'Later.' }));
      },
    );

    const events = createClient({ baseUrl, maxRetries: 0 }).runs.events('r')[Symbol.asyncIterator]();

    await expect(events.next()).rejects.toSatisfy(
      (error) => error instanceof ApiError && error.status === 503,
    );
  });

  it('gives up when the host stays away longer than allowed', async () => {
    const baseUrl = await hostWith(
      () => 'running',
      (_request, response) => {
        response.write(frame(0, 'run.started'), () => {
          servers[0]?.close();
          servers[0]?.closeAllConnections();
        });
      },
    );

    const follow = async (): Promise<void> => {
      for await (const _event of createClient({ baseUrl }).runs.events('r', { reconnectMs: 0 }));
    };

    await expect(follow()).rejects.toBeInstanceOf(ConnectionError);
  });
});
