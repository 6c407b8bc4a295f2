import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SeenDelivery } from '../checking/history.ts';
import type { Random } from '../random.ts';

/** Receives webhooks and callbacks, and records all of them; at times it is slow, failing or down. */
export interface Receiver {
  readonly port: number;
  readonly seen: readonly SeenDelivery[];
  /** From now on every delivery is accepted at once. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

/** Paths. The flaky one rejects most deliveries, until they are dead. */
export const ENDS_PATH = '/ends';
export const WATCHED_PATH = '/watched';
export const FLAKY_PATH = '/flaky';
export const LATE_PATH = '/late';
export const CALLBACK_PATH = '/callback';

const AWAY_MS = [400, 2_500] as const;
const THERE_MS = [3_000, 9_000] as const;
const SLOWEST_MS = 1_400;

export async function openReceiver(random: Random, onCallback: (body: string) => void): Promise<Receiver> {
  const seen: SeenDelivery[] = [];
  const failures = random.fork('failures');
  const absences = random.fork('absences');
  let isRecovered = false;
  let timer: NodeJS.Timeout | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const body = Buffer.concat(chunks).toString('utf8');
      const { status, waitMs } = isRecovered ? { status: 200, waitMs: 0 } : failureOf(failures, path);
      seen.push({ path, body, status, at: Date.now(), ...signedBy(request.headers) });
      if (status === 0) return void request.socket.destroy();
      if (path === CALLBACK_PATH && status === 200) onCallback(body);
      setTimeout(() => response.writeHead(status).end(), waitMs);
    });
  });
  const port = await listen(server, 0);

  async function goDown(): Promise<void> {
    await shut(server);
    timer = setTimeout(() => void comeUp(), absences.int(...AWAY_MS));
  }

  async function comeUp(): Promise<void> {
    if (!server.listening) await listen(server, port);
    if (!isRecovered) timer = setTimeout(() => void goDown(), absences.int(...THERE_MS));
  }

  await comeUp();
  return {
    port,
    seen,
    async recover() {
      isRecovered = true;
      clearTimeout(timer);
      await comeUp();
    },
    async close() {
      isRecovered = true;
      clearTimeout(timer);
      await shut(server);
    },
  };
}

function failureOf(random: Random, path: string): { readonly status: number; readonly waitMs: number } {
  const failing = path === FLAKY_PATH ? 0.75 : 0.08;
  const [fails, closes, isSlow] = [random.chance(failing), random.chance(0.3), random.chance(0.06)];
  const waitMs = isSlow ? random.int(100, SLOWEST_MS) : random.int(0, 10);
  return { status: fails ? (closes ? 0 : 500) : 200, waitMs };
}

function signedBy(headers: IncomingHttpHeaders): Pick<SeenDelivery, 'webhookId' | 'timestamp' | 'signature'> {
  const of = (name: string): string => String(headers[`x-openwop-${name}`]);
  return { webhookId: of('webhook-id'), timestamp: of('timestamp'), signature: of('signature') };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function shut(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
