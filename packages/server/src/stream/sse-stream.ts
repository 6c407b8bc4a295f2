import {
  type Cursor,
  type EventPage,
  type FollowedEvent,
  isTerminalEvent,
  type WireEvent,
} from '@weft/engine';
import { RUN_ANNOTATED, showsAnnotations, type StreamMode, sseComment, sseFrame } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import type { AppContext } from '../app-context.ts';
import { renderFrames } from './batches.ts';
import { breakOff } from './break-off.ts';
import { createFrameQueue, type FrameQueue, frameOf, snapshotFrame, SSE_FRAMES } from './frames.ts';
import { createSocketWriter, type SocketWriter } from './socket-writer.ts';
import { setHead } from './stream-head.ts';
import { openSource, readBacklog, type Source, type Subscription } from './subscription.ts';

/**
 * One subscriber of one run. It goes through: asked → (404, 429 or 500 as an ordinary answer) → headers sent →
 * frames → ended.
 *
 * 1. Whatever can be refused is refused before the first byte; after it a failure can only end the connection, and the
 *    reader resumes from the last id it saw.
 * 2. Events are taken only while the socket has room, so a slow reader costs one page and delays no other.
 * 3. A run that has ended already, and whose rest fits one page, is answered as one body with a length.
 * 4. However the stream ends (run over, reader gone, reader stuck, server closing), its cursor is closed and its place given back.
 */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

export async function streamRun(
  context: AppContext,
  reply: FastifyReply,
  asked: Subscription,
): Promise<FastifyReply> {
  const backlog = await readBacklog(context, asked);
  if (backlog?.complete === true) return reply.headers(HEADERS).send(renderAll(asked, backlog));

  const source = await openSource(context, asked, backlog);
  reply.hijack();
  void deliver(context, reply, asked, source);
  return reply;
}

function renderAll({ modes, bufferMs }: Subscription, { events }: EventPage): string {
  if (bufferMs === 0) return renderFrames(events, modes);
  const queue = createFrameQueue(bufferMs, SSE_FRAMES, () => undefined);
  return queueFrames(queue, modes, followed(events)) + queue.flush();
}

function followed(events: readonly WireEvent[]): readonly FollowedEvent[] {
  return events.map((event) => ({ event }));
}

/** What must be written now of these events; the rest waits in the queue. */
function queueFrames(
  queue: FrameQueue<string>,
  modes: readonly StreamMode[],
  events: readonly FollowedEvent[],
): string {
  let text = '';
  for (const followed of events) {
    const frame = frameOf(modes, followed);
    if (frame !== undefined) text += queue.add(frame);
  }
  return text;
}

async function deliver(
  context: AppContext,
  reply: FastifyReply,
  asked: Subscription,
  source: Source,
): Promise<void> {
  const response = reply.raw;
  const writer = createSocketWriter(response, context.settings.stallMs);
  const queue = createFrameQueue(asked.bufferMs, SSE_FRAMES, (text) => void writer.write(text));
  const keepalive = setInterval(() => writer.offer(sseComment('keepalive')), context.settings.keepaliveMs);
  let deafen = (): void => undefined;
  response.on('close', source.stream.end);
  response.on('error', source.stream.end);
  // The server is closing: a reader that does not take what is written already is not waited for.
  source.stream.signal.addEventListener('abort', () => {
    if (writer.isFull()) response.destroy();
  });
  try {
    setHead(reply, HEADERS);
    deafen = tellAnnotations(context, asked, writer);
    const first = await firstText(asked, source, queue);
    if (first === '') response.flushHeaders();
    else await writer.write(first);
    await pump(writer, source.cursor, takerOf(context, asked, queue, writer));
    await writer.write(queue.flush());
    response.end();
  } catch (error) {
    breakOff(context, reply, { runId: asked.runId, what: 'a stream failed', error });
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
function tellAnnotations(context: AppContext, asked: Subscription, writer: SocketWriter): () => void {
  if (!showsAnnotations(asked.modes)) return () => undefined;
  let waiting = 0;
  return context.host.annotations.subscribe(asked.runId, (data) => {
    if (waiting >= MAX_WAITING_NOTICES) return;
    waiting += 1;
    void writer.write(sseFrame({ event: RUN_ANNOTATED, data })).finally(() => {
      waiting -= 1;
    });
  });
}

/** What is there already: history, or for `values` the run as it was where the reader continues. */
async function firstText(
  { modes, afterSeq }: Subscription,
  { cursor, backlog }: Source,
  queue: FrameQueue<string>,
): Promise<string> {
  if (backlog !== undefined) return queueFrames(queue, modes, followed(backlog.events));
  const baseline = afterSeq < 0 ? undefined : await cursor.baseline();
  return baseline === undefined ? '' : queue.add(snapshotFrame(baseline.text, baseline.seq, true));
}

type Take = Parameters<Cursor['push']>[0];

/** Writes what the cursor hands over. Streams without a window and without snapshots share what they show. */
function takerOf(
  context: AppContext,
  { modes, bufferMs }: Subscription,
  queue: FrameQueue<string>,
  writer: SocketWriter,
): Take {
  if (bufferMs > 0 || modes[0] === 'values') {
    return (events) => {
      void writer.write(queueFrames(queue, modes, events));
      return false;
    };
  }
  return (events) => {
    const batch = context.renderBatch(events, modes);
    if (batch === undefined) return true;
    if (!endsRun(events)) return writer.send(batch);
    writer.finish(batch);
    return false;
  };
}

function endsRun(events: readonly FollowedEvent[]): boolean {
  return isTerminalEvent(events.at(-1)?.event.type ?? '');
}

async function pump(writer: SocketWriter, cursor: Cursor, take: Take): Promise<void> {
  let isOpen = true;
  while (isOpen && (await writer.ready())) isOpen = await cursor.push(take);
}
