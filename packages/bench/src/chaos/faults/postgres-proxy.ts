import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { CutMoment } from './schedule.ts';

/**
 * Stands between a host and PostgreSQL and breaks what passes, at moments that matter. It reads just enough of the protocol
 * (version 3: a start without a type, then messages of type, length and body) to see a COMMIT go by.
 *
 *     clean → cutting      `cutNext`: the next so many COMMITs lose their connection
 *     clean → full         `fill`: every COMMIT becomes a ROLLBACK, answered with 53100, until `empty`
 *
 * 1. A COMMIT cut `before` never reaches the server; cut `during`, it does, and its answer is lost; cut `after`, the server
 *    has answered it, and the answer is thrown away.
 * 2. Without a fault every byte is handed on as it came, in order.
 */
export interface PostgresProxy {
  readonly port: number;
  cutNext(moment: CutMoment, count: number): void;
  /** Ends every connection at once. */
  reset(): void;
  fill(): void;
  empty(): void;
  /** COMMITs seen, and what was done to them. */
  counts(): ProxyCounts;
  close(): Promise<void>;
}

export interface ProxyCounts {
  readonly commits: number;
  readonly cut: Readonly<Record<CutMoment, number>>;
  readonly full: number;
}

/** What happens to one COMMIT. */
type Treatment = CutMoment | 'full' | 'none';

interface Shared {
  treat(): Treatment;
}

export async function openPostgresProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<PostgresProxy> {
  const pairs = new Set<() => void>();
  const cut: Record<CutMoment, number> = { before: 0, during: 0, after: 0 };
  let pending: CutMoment[] = [];
  let isFull = false;
  let commits = 0;
  let full = 0;

  function treat(): Treatment {
    commits += 1;
    const moment = pending.shift();
    if (moment !== undefined) {
      cut[moment] += 1;
      return moment;
    }
    if (!isFull) return 'none';
    full += 1;
    return 'full';
  }

  const server = createServer((client) => {
    const upstream = connect(target);
    const end = (): void => {
      pairs.delete(end);
      client.destroy();
      upstream.destroy();
    };
    pairs.add(end);
    // Messages are handed on one by one: without this each small one would wait for the last one's receipt.
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    join(client, upstream, { treat }, end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function reset(): void {
    for (const end of [...pairs]) end();
  }

  return {
    port: (server.address() as AddressInfo).port,
    cutNext(moment, count) {
      pending = [...pending, ...Array.from({ length: count }, () => moment)];
    },
    reset,
    fill() {
      isFull = true;
    },
    empty() {
      isFull = false;
      pending = [];
    },
    counts: () => ({ commits, cut: { ...cut }, full }),
    async close() {
      reset();
      server.close();
      await once(server, 'close');
    },
  };
}

function join(client: Socket, upstream: Socket, shared: Shared, end: () => void): void {
  const replies = newReplies(client, end);
  const requests = newMessages(false, (message) => {
    if (!isCommit(message)) return void upstream.write(message);
    switch (shared.treat()) {
      case 'none':
        return void upstream.write(message);
      case 'before':
        return end();
      case 'during':
        // Ended only when the bytes have left: the server gets the COMMIT, and its answer finds no client.
        upstream.write(message, () => end());
        return undefined;
      case 'after':
        replies.cutAtCommit();
        return void upstream.write(message);
      case 'full':
        replies.refuseNext();
        return void upstream.write(ROLLBACK);
    }
  });
  client.on('data', requests);
  upstream.on('data', replies.push);
  for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
}

interface Replies {
  push(chunk: Buffer): void;
  cutAtCommit(): void;
  refuseNext(): void;
}

/** Requests are answered in order, so what is to happen to an answer is found by its tag. */
function newReplies(client: Socket, end: () => void): Replies {
  let isCutting = false;
  let refusals = 0;
  const push = newMessages(true, (message) => {
    if (isCutting && message.equals(COMMITTED)) return end();
    if (refusals > 0 && message.equals(ROLLED_BACK)) {
      refusals -= 1;
      return void client.write(DISK_FULL);
    }
    return void client.write(message);
  });
  return {
    push,
    cutAtCommit() {
      isCutting = true;
    },
    refuseNext() {
      refusals += 1;
    },
  };
}

const LONGEST_START = 10_000;

/** Cuts a byte stream into whole messages. A client's first message has no type; a server's have one from the start. */
function newMessages(isServer: boolean, onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = isServer;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const typeBytes = isStarted ? 1 : 0;
      if (rest.length < typeBytes + 4) return;
      const length = typeBytes + rest.readUInt32BE(typeBytes);
      if (!isStarted && length > LONGEST_START) throw new Error('this is not PostgreSQL that speaks here');
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      isStarted = true;
      onMessage(message);
    }
  };
}

function isCommit(message: Buffer): boolean {
  return message[0] === QUERY && message.toString('latin1', 5, 11).toUpperCase() === 'COMMIT';
}

const QUERY = 'Q'.charCodeAt(0);
const ROLLBACK = newMessage('Q', 'ROLLBACK\0');
const COMMITTED = newMessage('C', 'COMMIT\0');
const ROLLED_BACK = newMessage('C', 'ROLLBACK\0');
const DISK_FULL = newMessage(
  'E',
  'SERROR\0VERROR\0C53100\0Mcould not extend file: No space left on device\0\0',
);

function newMessage(type: string, body: string): Buffer {
  const message = Buffer.alloc(5 + Buffer.byteLength(body));
  message.write(type, 0, 'latin1');
  message.writeUInt32BE(message.length - 1, 1);
  message.write(body, 5, 'utf8');
  return message;
}
