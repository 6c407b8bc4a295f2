import type { Caller, Cursor, EventPage } from '@weft/engine';
import { RUN_ANNOTATED, showsAnnotations, type StreamMode, sseComment, sseFrame } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import type { Door } from '../door.ts';
import { noSuchRun } from '../http/errors.ts';
import { createFrameQueue, type FrameQueue, frameOf, snapshotFrame } from './frames.ts';
import type { OpenStream } from './open-streams.ts';
import { createSocketWriter, type SocketWriter } from './socket-writer.ts';
import { sendHead } from './stream-head.ts';

/**
 * One subscriber of one run. It goes through: asked → (404, 429 or 500 as an ordinary answer) → headers sent →
 * frames → ended.
 *
 * 1. Whatever can be refused is refused before the first byte; after it a failure can only end the connection, and the
 *    reader resumes from the last id it saw.
 * 2. Frames are pulled: the next events are asked for only when the socket has room, so a slow reader costs one page.
 * 3. A run that has ended already, and whose rest fits one page, is answered as one body with a length.
 * 4. However the stream ends (run over, reader gone, reader stuck, door closing), its cursor is closed and its place given back.
 */
export interface Subscription {
  readonly caller: Caller;
  readonly runId: string;
  readonly modes: readonly StreamMode[];
  readonly bufferMs: number;
  /** Exclusive; −1 = from the first event. */
  readonly afterSeq: number;
}

const BACKLOG_EVENTS = 500;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

export async function streamRun(door: Door, reply: FastifyReply, asked: Subscription): Promise<FastifyReply> {
  // A `values` stream needs the snapshot of each event, which only the cursor has.
  const backlog = asked.modes[0] === 'values' ? undefined : await readBacklog(door, asked);
  if (backlog?.complete === true) return reply.headers(HEADERS).send(renderAll(asked, backlog));

  const stream = door.streams.open(asked.caller.tenant);
  try {
    const cursor = await door.host.follow(asked.caller, asked.runId, {
      afterSeq: backlog?.events.at(-1)?.seq ?? asked.afterSeq,
      keepaliveMs: door.settings.keepaliveMs,
      signal: stream.signal,
      snapshots: backlog === undefined,
    });
    if (cursor === undefined) throw noSuchRun();
    reply.hijack();
    void deliver(door, reply, asked, { stream, cursor, backlog });
    return reply;
  } catch (error) {
    stream.end();
    throw error;
  }
}

async function readBacklog(door: Door, asked: Subscription): Promise<EventPage> {
  const page = await door.host.events(asked.caller, asked.runId, asked.afterSeq, BACKLOG_EVENTS);
  if (page === undefined) throw noSuchRun();
  return page;
}

function renderAll(asked: Subscription, page: EventPage): string {
  if (asked.bufferMs === 0) return renderUnbuffered(asked.modes, page);
  const queue = createFrameQueue(asked.bufferMs, () => undefined);
  return renderEvents(queue, asked.modes, page) + queue.flush();
}

function renderUnbuffered(modes: readonly StreamMode[], page: EventPage): string {
  let text = '';
  for (const event of page.events) {
    const frame = frameOf(modes, { event });
    if (frame !== undefined) text += sseFrame({ id: frame.seq, event: frame.event, data: frame.data });
  }
  return text;
}

function renderEvents(
  queue: FrameQueue,
  modes: readonly StreamMode[],
  page: Pick<EventPage, 'events'>,
): string {
  let text = '';
  for (const event of page.events) {
    const frame = frameOf(modes, { event });
    if (frame !== undefined) text += queue.add(frame);
  }
  return text;
}

interface Source {
  readonly stream: OpenStream;
  readonly cursor: Cursor;
  readonly backlog: EventPage | undefined;
}

async function deliver(door: Door, reply: FastifyReply, asked: Subscription, source: Source): Promise<void> {
  const response = reply.raw;
  const writer = createSocketWriter(response, door.settings.stallMs);
  const queue = createFrameQueue(asked.bufferMs, (text) => void writer.write(text));
  const keepalive = setInterval(() => writer.offer(sseComment('keepalive')), door.settings.keepaliveMs);
  let deafen = (): void => undefined;
  response.on('close', source.stream.end);
  response.on('error', source.stream.end);
  // The door is closing: a reader that does not take what is written already is not waited for.
  source.stream.signal.addEventListener('abort', () => {
    if (response.writableNeedDrain) response.destroy();
  });
  try {
    sendHead(reply, HEADERS);
    deafen = tellAnnotations(door, asked, writer);
    await pump(asked, source, queue, writer);
    await writer.write(queue.flush());
    response.end();
  } catch (error) {
    const errorName = error instanceof Error ? error.name : typeof error;
    door.log('error', { runId: asked.runId, requestId: reply.request.id, errorName }, 'a stream failed');
    response.destroy();
  } finally {
    clearInterval(keepalive);
    deafen();
    queue.stop();
    source.cursor.close();
    source.stream.end();
  }
}

/** Notices that wait for a slow reader; those beyond are dropped, because the list of annotations has them all. */
const MAX_WAITING_NOTICES = 16;

/** Annotations come between the frames, without an id: they are in no log, so no reader resumes from one. */
function tellAnnotations(door: Door, asked: Subscription, writer: SocketWriter): () => void {
  if (!showsAnnotations(asked.modes)) return () => undefined;
  let waiting = 0;
  return door.host.onAnnotated(asked.runId, (data) => {
    if (waiting >= MAX_WAITING_NOTICES) return;
    waiting += 1;
    void writer.write(sseFrame({ event: RUN_ANNOTATED, data })).finally(() => {
      waiting -= 1;
    });
  });
}

async function pump(
  asked: Subscription,
  source: Source,
  queue: FrameQueue,
  writer: SocketWriter,
): Promise<void> {
  if (source.backlog !== undefined) {
    await writer.write(renderEvents(queue, asked.modes, source.backlog));
  } else if (asked.afterSeq >= 0) {
    const baseline = await source.cursor.baseline();
    if (baseline !== undefined)
      await writer.write(queue.add(snapshotFrame(baseline.snapshot, baseline.seq, true)));
  }
  while (await writer.ready()) {
    const events = await source.cursor.next();
    if (events === undefined) return;
    let text = '';
    for (const followed of events) {
      const frame = frameOf(asked.modes, followed);
      if (frame !== undefined) text += queue.add(frame);
    }
    await writer.write(text);
  }
}
