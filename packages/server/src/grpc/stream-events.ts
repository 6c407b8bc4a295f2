import type { EventPage, FollowedEvent, WireEvent } from '@weft/engine';
import {
  type Json,
  type JsonObject,
  RUN_ANNOTATED,
  SENT_BATCH,
  SENT_CHUNK,
  SENT_SNAPSHOT,
  showsAnnotations,
  type StreamMode,
} from '@weft/protocol';
import type { AppContext } from '../app-context.ts';
import type { Call } from '../call.ts';
import { stopping } from '../http/guard.ts';
import { lastEventId, subscriptionOf } from '../routes/runs/events.ts';
import {
  createFrameQueue,
  type Frame,
  type FrameQueue,
  type FrameRenderer,
  frameOf,
  snapshotFrame,
} from '../stream/frames.ts';
import { openSource, readBacklog, type Source, type Subscription } from '../stream/subscription.ts';
import type { MessageWriter } from './message-writer.ts';

/**
 * One subscriber of one run over gRPC: the same frames as over SSE, each as a message. Events are taken from the cursor only when
 * the reader has taken those before, so a slow reader costs one batch and delays no other.
 */
export interface EventReader {
  readonly writer: MessageWriter;
  /** Called when the caller has gone, however. */
  onClose(listener: () => void): void;
  /** Before the first message: whatever can be refused is refused by then. */
  begin(): void;
  encode(frame: JsonObject): Promise<Buffer>;
}

type Frames = readonly JsonObject[];

const FRAMES: FrameRenderer<Frames> = {
  nothing: [],
  frame: (frame) => [frameDocument(frame)],
  batch: (frames, { seq }) => [
    { sequence: seq, event: SENT_BATCH, batch: { frames: frames.map(frameDocument) } },
  ],
};

const MEMBERS: Readonly<Record<string, string>> = {
  [SENT_SNAPSHOT]: 'snapshot',
  [SENT_CHUNK]: 'chunk',
};

function frameDocument({ seq, event, data }: Frame): JsonObject {
  return { sequence: seq, event, [MEMBERS[event] ?? 'runEvent']: JSON.parse(data) as Json };
}

export async function streamEvents(context: AppContext, call: Call, reader: EventReader): Promise<void> {
  const asked = { ...subscriptionOf(call), afterSeq: lastEventId(call) };
  const backlog = await readBacklog(context, asked);
  if (backlog?.complete === true) {
    reader.begin();
    await writeAll(asked, backlog.events, reader);
    return;
  }
  const source = await openSource(context, asked, backlog);
  reader.onClose(source.stream.end);
  try {
    reader.begin();
    await deliver(context, asked, source, reader);
    // OK would say that the run has ended.
    if (context.streams.closing && source.stream.signal.aborted) throw stopping();
  } finally {
    source.cursor.close();
    source.stream.end();
  }
}

async function writeAll(
  { modes, bufferMs }: Subscription,
  events: EventPage['events'],
  reader: EventReader,
): Promise<void> {
  const queue = createFrameQueue(bufferMs, FRAMES, () => undefined);
  await writeFrames(reader, [...queued(queue, modes, followed(events)), ...queue.flush()]);
}

async function deliver(
  context: AppContext,
  asked: Subscription,
  { cursor, backlog }: Source,
  reader: EventReader,
): Promise<void> {
  const queue = createFrameQueue(asked.bufferMs, FRAMES, (frames) => void writeFrames(reader, frames));
  const deafen = tellAnnotations(context, asked, reader);
  try {
    if (backlog !== undefined)
      await writeFrames(reader, queued(queue, asked.modes, followed(backlog.events)));
    else if (asked.afterSeq >= 0) {
      const baseline = await cursor.baseline();
      if (baseline !== undefined)
        await writeFrames(reader, queue.add(snapshotFrame(baseline.text, baseline.seq, true)));
    }
    for (let goesOn = true; goesOn; ) {
      let events: readonly FollowedEvent[] = [];
      goesOn = await cursor.push((batch) => {
        events = batch;
        return false;
      });
      if (!(await writeFrames(reader, queued(queue, asked.modes, events)))) return;
    }
    await writeFrames(reader, queue.flush());
  } finally {
    queue.stop();
    deafen();
  }
}

/** False when the caller has gone. */
async function writeFrames({ writer, encode }: EventReader, frames: Frames): Promise<boolean> {
  for (const frame of frames) if (!(await writer.write(await encode(frame)))) return false;
  return true;
}

function followed(events: readonly WireEvent[]): readonly FollowedEvent[] {
  return events.map((event) => ({ event }));
}

function queued(
  queue: FrameQueue<Frames>,
  modes: readonly StreamMode[],
  events: readonly FollowedEvent[],
): Frames {
  return events.flatMap((event) => {
    const frame = frameOf(modes, event);
    return frame === undefined ? [] : queue.add(frame);
  });
}

/** Notices that wait for a slow reader; those beyond are dropped, because the list of annotations has them all. */
const MAX_WAITING_NOTICES = 16;

function tellAnnotations(
  context: AppContext,
  { runId, modes }: Subscription,
  reader: EventReader,
): () => void {
  if (!showsAnnotations(modes)) return () => undefined;
  let waiting = 0;
  return context.host.annotations.subscribe(runId, (data) => {
    if (waiting >= MAX_WAITING_NOTICES) return;
    waiting += 1;
    const notice = { event: RUN_ANNOTATED, annotation: JSON.parse(data) as Json };
    void writeFrames(reader, [notice]).finally(() => {
      waiting -= 1;
    });
  });
}
