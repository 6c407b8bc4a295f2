import { connect, type Socket } from 'node:net';

/**
 * One persistent HTTP/1.1 connection, written by hand because the load client shares two cores with the host under test:
 * it knows only what the two calls of a workload need. One request at a time.
 */
export interface Connection {
  /** `headers`: more of them, each with its line's end. */
  post(path: string, body: string, headers?: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** Reads an event stream to its end; resolves with the terminal event's type and when it was seen. */
  follow(path: string): Promise<{ readonly terminal: string; readonly seenAt: number }>;
  close(): void;
}

/** `head`: status line and headers, as they came. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface Target {
  readonly port: number;
  readonly key: string;
}

/** Takes what has arrived; true when the response is complete. `ended` is set once the peer has closed. */
type Reader = (received: string, ended: boolean) => boolean;

const TERMINAL = /\nevent: ?(run\.(?:completed|failed|cancelled))\r?\n/;
/** What of a frame may stand before a border, so that the next piece alone does not show it. */
const LONGEST_NAME = 40;
const CLOSES = /\r\nconnection: close\r\n/i;
const CHUNK_SIZE = /\r\n[0-9a-f]+\r\n/gi;
const LAST_CHUNK = '\r\n0\r\n\r\n';

export async function openConnection(target: Target): Promise<Connection> {
  const common = `Host: 127.0.0.1:${target.port}\r\nAuthorization: Bearer ${target.key}\r\n`;
  let socket = await dial(target.port);

  async function exchange(request: string, read: Reader): Promise<void> {
    if (socket.destroyed || socket.readableEnded) socket = await dial(target.port);
    const received = await transfer(socket, request, read);
    if (CLOSES.test(received.slice(0, received.indexOf('\r\n\r\n') + 2))) socket.destroy();
  }

  async function ask(request: string): Promise<Answer> {
    let answer: Answer = { status: 0, head: '', body: '' };
    await exchange(request, (received) => {
      const response = parseSized(received);
      if (response !== undefined) answer = response;
      return response !== undefined;
    });
    return answer;
  }

  return {
    post: (path, body, headers = '') =>
      ask(
        `POST ${path} HTTP/1.1\r\n${common}${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    get: (path) => ask(`GET ${path} HTTP/1.1\r\n${common}\r\n`),
    async follow(path) {
      let terminal = '';
      let seenAt = 0;
      let searched = 0;
      const isWhole = wholeness();
      await exchange(
        `GET ${path} HTTP/1.1\r\n${common}Accept: text/event-stream\r\n\r\n`,
        (received, ended) => {
          const isOver = isWhole(received) || ended;
          if (terminal === '') {
            const news = received.slice(Math.max(0, searched - LONGEST_NAME));
            // A frame that was cut by a chunk's border is found only without the borders.
            const found =
              TERMINAL.exec(news) ?? (isOver ? TERMINAL.exec(received.replaceAll(CHUNK_SIZE, '')) : null);
            terminal = found?.[1] ?? '';
            if (terminal !== '') seenAt = performance.now();
            searched = received.length;
          }
          return isOver && (terminal !== '' || !ended);
        },
      );
      return { terminal, seenAt };
    },
    close: () => socket.destroy(),
  };
}

export function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

function transfer(socket: Socket, request: string, read: Reader): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const finish = (error?: Error) => {
      socket.off('data', onData).off('end', onEnd).off('error', finish);
      if (error === undefined) resolve(received);
      else reject(error);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (read(received, false)) finish();
    };
    const onEnd = () => {
      socket.destroy();
      finish(
        read(received, true)
          ? undefined
          : new Error(`the host closed the connection early: ${received.slice(0, 300)}`),
      );
    };
    socket.on('data', onData).on('end', onEnd).on('error', finish);
    socket.write(request);
  });
}

/** A response with Content-Length, once it is whole. */
function parseSized(received: string): Answer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const length = contentLength(received, headEnd);
  if (length === undefined)
    throw new Error(`a response without Content-Length: ${received.slice(0, headEnd)}`);
  const body = received.slice(headEnd + 4);
  const head = received.slice(0, headEnd);
  return body.length < length ? undefined : { status: Number(received.slice(9, 12)), head, body };
}

/** A stream of a run that is over may come with a length; one of a live run comes in chunks. The head is read once. */
function wholeness(): (received: string) => boolean {
  let headEnd = -1;
  let length: number | undefined;
  return (received) => {
    if (headEnd === -1) {
      headEnd = received.indexOf('\r\n\r\n');
      if (headEnd === -1) return false;
      length = contentLength(received, headEnd);
    }
    return length === undefined ? received.endsWith(LAST_CHUNK) : received.length - headEnd - 4 >= length;
  };
}

function contentLength(received: string, headEnd: number): number | undefined {
  const text = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd + 2))?.[1];
  return text === undefined ? undefined : Number(text);
}
