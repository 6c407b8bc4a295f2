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
    await writeAll(asked, backlog.events, createSender(reader));
    return;
  }
  const source = await openSource(context, asked, backlog);
  reader.onClose(source.stream.end);
  try {
    reader.begin();
    await deliver(context, asked, source, createSender(reader, source.stream.end));
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
  sender: Sender,
): Promise<void> {
  const queue = createFrameQueue(bufferMs, FRAMES, () => undefined);
  await sender.send([...queued(queue, modes, followed(events)), ...queue.flush()]);
  sender.rethrow();
}

async function deliver(
  context: AppContext,
  asked: Subscription,
  { cursor, backlog }: Source,
  sender: Sender,
): Promise<void> {
  const queue = createFrameQueue(asked.bufferMs, FRAMES, (frames) => void sender.send(frames));
  const deafen = tellAnnotations(context, asked, sender);
  try {
    if (backlog !== undefined) await sender.send(queued(queue, asked.modes, followed(backlog.events)));
    else if (asked.afterSeq >= 0) {
      const baseline = await cursor.baseline();
      if (baseline !== undefined)
        await sender.send(queue.add(snapshotFrame(baseline.text, baseline.seq, true)));
    }
    for (let isOpen = true; isOpen; ) {
      let events: readonly FollowedEvent[] = [];
      isOpen = await cursor.push((batch) => {
        events = batch;
        return false;
      });
      if (!(await sender.send(queued(queue, asked.modes, events)))) break;
    }
    await sender.send(queue.flush());
    sender.rethrow();
  } finally {
    queue.stop();
    deafen();
  }
}

/**
 * Several send: the pump, the end of a window, annotations. Their frames go out in the order in which they were given; one that
 * cannot be made ends the stream, whatever its source.
 */
interface Sender {
  /** False when the caller has gone, or nothing more can be sent. Never rejects. */
  send(frames: Frames): Promise<boolean>;
  /** Throws why nothing more could be sent, if that was not the caller. */
  rethrow(): void;
}

function createSender({ writer, encode }: EventReader, onFailure: () => void = () => undefined): Sender {
  let last = Promise.resolve(true);
  let failure: { readonly error: unknown } | undefined;

  async function sendAll(frames: Frames): Promise<boolean> {
    try {
      for (const frame of frames) if (!(await writer.write(await encode(frame)))) return false;
      return true;
    } catch (error) {
      failure ??= { error };
      onFailure();
      return false;
    }
  }

  return {
    send(frames) {
      last = last.then((isOpen) => isOpen && sendAll(frames));
      return last;
    },
    rethrow() {
      if (failure !== undefined) throw failure.error;
    },
  };
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

function tellAnnotations(context: AppContext, { runId, modes }: Subscription, sender: Sender): () => void {
  if (!showsAnnotations(modes)) return () => undefined;
  let waiting = 0;
  return context.host.annotations.subscribe(runId, (data) => {
    if (waiting >= MAX_WAITING_NOTICES) return;
    waiting += 1;
    const notice = { event: RUN_ANNOTATED, annotation: JSON.parse(data) as Json };
    void sender.send([notice]).finally(() => {
      waiting -= 1;
    });
  });
}
