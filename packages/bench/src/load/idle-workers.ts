import type { Socket } from 'node:net';
import { expectCall } from './calls.ts';
import { dial, type Target } from './http-connection.ts';

/** Workers that are connected and have nothing to do: each keeps its stream open, and says as often as the host asks that it is there. */
export interface IdleWorkers {
  /** Streams that the host has ended. */
  lost(): number;
  close(): void;
}

interface Registered {
  readonly workerId: string;
  readonly heartbeatMs: number;
}

const WORKERS = '/v1/host/weft/workers';
/** Connecting in small crowds keeps the listen queue of the server short. */
const CROWD = 50;

export async function connectIdleWorkers(target: Target, count: number): Promise<IdleWorkers> {
  const sockets: Socket[] = [];
  const timers: NodeJS.Timeout[] = [];
  let lost = 0;
  let isClosed = false;

  function close(): void {
    isClosed = true;
    for (const timer of timers) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  }

  async function connect(): Promise<void> {
    const { workerId, heartbeatMs } = await register(target);
    const socket = await openStream(target, workerId);
    sockets.push(socket);
    socket.once('close', () => (lost += isClosed ? 0 : 1));
    const beat = { method: 'POST', path: `${WORKERS}/${workerId}/reports`, body: '{}' } as const;
    timers.push(setInterval(() => void expectCall(target, beat, 200).catch(() => (lost += 1)), heartbeatMs));
  }

  for (let begun = 0; begun < count; begun += CROWD)
    await Promise.all(Array.from({ length: Math.min(CROWD, count - begun) }, connect));
  return { lost: () => lost, close };
}

async function register(target: Target): Promise<Registered> {
  const types = [{ typeId: 'bench.idle', version: '1.0.0' }];
  const body = JSON.stringify({ name: 'idle', capacity: 1, types });
  const { text } = await expectCall(target, { method: 'POST', path: WORKERS, body }, 201);
  return JSON.parse(text) as Registered;
}

/** Resolves when the host has answered; what it sends is read and not looked at. */
async function openStream({ port, key }: Target, workerId: string): Promise<Socket> {
  const socket = await dial(port);
  socket.on('error', () => socket.destroy());
  socket.write(
    `GET ${WORKERS}/${workerId}/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  return socket.resume();
}
