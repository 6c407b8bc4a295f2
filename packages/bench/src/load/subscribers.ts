import type { Socket } from 'node:net';
import { dial } from './http-connection.ts';
import type { SubscribeJob, SubscribeResult, SubscriberGroup } from '../measuring/jobs.ts';
import { percentile } from '../measuring/measure.ts';
import { createStreamReader, type StreamCounts } from './stream-reader.ts';

/** Enough to know a percentile by; what comes after is not kept. */
const LATENCIES_KEPT = 400_000;
/** Connecting in small crowds keeps the listen queue of the server short. */
const CROWD = 100;
/** Events before this one are there when subscribers come; from it on they are live. */
const FIRST_LIVE = 2;

interface Watch {
  latencies: number[];
  firstAt: number;
  lastAt: number;
  live: number;
}

/** Opens every stream, says so, and reads them all to their end. */
export async function subscribe(
  job: SubscribeJob,
  begun: () => void,
  signal: AbortSignal,
): Promise<SubscribeResult> {
  const watch: Watch = { latencies: [], firstAt: Number.NaN, lastAt: Number.NaN, live: 0 };
  const counts: StreamCounts[] = [];
  const ends: Promise<void>[] = [];
  const sockets: Socket[] = [];
  for (const group of job.groups) {
    for (let done = 0; done < group.count; done += CROWD) {
      const crowd = Array.from({ length: Math.min(CROWD, group.count - done) }, () => open(group));
      for (const socket of await Promise.all(crowd)) {
        sockets.push(socket);
        if (group.stuck === true) continue;
        const follower = follow(socket, watch);
        counts.push(follower.counts);
        ends.push(follower.over);
        await follower.answered;
      }
    }
  }
  begun();
  signal.addEventListener('abort', () => sockets.forEach((socket) => socket.destroy()));
  await Promise.all(ends);
  for (const socket of sockets) socket.destroy();
  return summary(watch, counts);
}

async function open({ target, path }: SubscriberGroup): Promise<Socket> {
  const socket = await dial(target.port);
  socket.on('error', () => socket.destroy());
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${target.key}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  return socket;
}

interface Follower {
  readonly counts: StreamCounts;
  /** Once the first bytes have come. */
  readonly answered: Promise<void>;
  readonly over: Promise<void>;
}

function follow(socket: Socket, watch: Watch): Follower {
  const reader = createStreamReader(({ seq, at, receivedAt }) => {
    if (seq < FIRST_LIVE) return;
    watch.firstAt = Math.min(Number.isNaN(watch.firstAt) ? receivedAt : watch.firstAt, receivedAt);
    watch.lastAt = receivedAt;
    watch.live += 1;
    if (watch.latencies.length < LATENCIES_KEPT) watch.latencies.push(receivedAt - at);
  });
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const over = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      answer();
      reader.take(chunk.toString('latin1'), performance.timeOrigin + performance.now());
      if (reader.counts.isOver) resolve();
    });
    socket.once('close', () => {
      answer();
      resolve();
    });
  });
  return { counts: reader.counts, answered, over };
}

function summary(watch: Watch, counts: readonly StreamCounts[]): SubscribeResult {
  const sum = (field: 'lost' | 'repeated') => counts.reduce((total, each) => total + each[field], 0);
  return {
    received: watch.live,
    lost: sum('lost'),
    repeated: sum('repeated'),
    unfinished: counts.filter(({ isOver }) => !isOver).length,
    elapsedMs: watch.lastAt - watch.firstAt,
    p50Ms: percentile(watch.latencies, 0.5),
    p99Ms: percentile(watch.latencies, 0.99),
  };
}
