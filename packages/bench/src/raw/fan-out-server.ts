import { createServer, get, type ServerResponse } from 'node:http';
import { eventsOf } from './rows.ts';
import { workloadOf } from '../load/workloads.ts';

/**
 * The bare fan-out: node:http and nothing else. Subscribers of a channel get the frames of each step, as a host would send
 * them after a commit; between two steps it calls the same URL that the host's effects call.
 *
 * GET /channels/NAME/events subscribes; POST /channels/NAME/start?steps=N&url=URL begins and answers at once.
 */
export function startFanOut(port: number): () => void {
  const channels = new Map<string, Set<ServerResponse>>();

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://bare');
    const [, , channel = ''] = url.pathname.split('/');
    if (url.pathname === '/ready') {
      response.end('{}');
    } else if (request.method === 'POST') {
      void play(channel, Number(url.searchParams.get('steps')), url.searchParams.get('url') ?? '');
      response.writeHead(201).end('{}');
    } else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      channels.set(channel, (channels.get(channel) ?? new Set()).add(response));
    }
  });

  async function play(channel: string, steps: number, url: string): Promise<void> {
    const subscribers = channels.get(channel) ?? new Set();
    let seq = 0;
    const next = (type: string) => frame(seq++, type);
    send(subscribers, next('run.started') + next('node.started'));
    for (let step = 1; step <= steps; step += 1) {
      await call(url);
      send(subscribers, next('node.completed') + next(step === steps ? 'run.completed' : 'node.started'));
    }
    for (const subscriber of subscribers) subscriber.end();
    channels.delete(channel);
  }

  server.listen(port, '127.0.0.1', 4_096);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function send(subscribers: Iterable<ServerResponse>, text: string): void {
  for (const subscriber of subscribers) subscriber.write(text);
}

const SAMPLE = eventsOf(workloadOf('E'), 0);

function frame(seq: number, type: string): string {
  const payload = SAMPLE.find((event) => event.type === type)?.payload ?? '{}';
  const time = new Date().toISOString();
  return `id: ${seq}\nevent: ${type}\ndata: {"eventId":"01234567-89ab-7def-8123-456789abcdef-${seq}","runId":"01234567-89ab-7def-8123-456789abcdef","type":"${type}","nodeId":"n01","payload":${payload},"timestamp":"${time}","sequence":${seq},"schemaVersion":1,"engineVersion":"1"}\n\n`;
}

function call(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, (response) => response.resume().once('end', resolve)).once('error', reject);
  });
}
