import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface EchoServer {
  readonly port: number;
  readonly url: string;
  /** A URL whose answer comes after some milliseconds and holds about so many bytes. */
  slowUrl(delayMs: number, bytes?: number): string;
  /** A URL whose answers wait until `open` is called. */
  newGate(): { readonly url: string; open(): void };
  close(): Promise<void>;
}

interface Gate {
  isOpen: boolean;
  readonly waiting: (() => void)[];
}

const END_OF_HEAD = '\r\n\r\n';
/** Far more than the head of any contender's request. */
const MOST_BYTES = 65_536;
const SMALL = answerOf(JSON.stringify({ ok: true }));

/**
 * What the effects of the workloads call: a small JSON answer, at once. Runs in the bench's own process, idle meanwhile.
 *
 * It shares the cores with the host that is measured, and an HTTP server of Node's would take a third of what a whole effect may cost.
 * So it reads no more of a request than it needs: a GET without a body, and its path.
 */
export async function startEchoServer(): Promise<EchoServer> {
  const gates = new Map<string, Gate>();
  const sockets = new Set<Socket>();

  function answer(socket: Socket, head: string): void {
    const [method, target = '/'] = head.split(' ', 2);
    if (method !== 'GET')
      return void socket.end('HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n');
    if (target === '/echo') return void socket.write(SMALL);
    const { pathname, searchParams } = new URL(target, 'http://echo');
    const bytes = Number(searchParams.get('bytes') ?? 0);
    const text = bytes === 0 ? SMALL : answerOf(JSON.stringify({ ok: true, filling: 'x'.repeat(bytes) }));
    const delayMs = Number(searchParams.get('delay') ?? 0);
    const gate = gates.get(pathname);
    const send = (): void => void (socket.writable && socket.write(text));
    if (gate !== undefined && !gate.isOpen) gate.waiting.push(send);
    else if (delayMs > 0) setTimeout(send, delayMs);
    else send();
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let unread = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      unread = unread === '' ? chunk : unread + chunk;
      for (let end = unread.indexOf(END_OF_HEAD); end !== -1; end = unread.indexOf(END_OF_HEAD)) {
        const head = unread.slice(0, end);
        unread = unread.slice(end + END_OF_HEAD.length);
        answer(socket, head);
      }
      if (unread.length > MOST_BYTES) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/echo`,
    slowUrl: (delayMs, bytes = 0) => `http://127.0.0.1:${port}/echo?delay=${delayMs}&bytes=${bytes}`,
    newGate() {
      const gate: Gate = { isOpen: false, waiting: [] };
      const path = `/gate/${gates.size}`;
      gates.set(path, gate);
      return {
        url: `http://127.0.0.1:${port}${path}`,
        open() {
          gate.isOpen = true;
          for (const send of gate.waiting.splice(0)) send();
        },
      };
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function answerOf(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
