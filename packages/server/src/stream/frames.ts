import type { FollowedEvent, WireEvent } from '@weft/engine';
import { isTerminalEvent } from '@weft/engine';
import { admits, SENT_BATCH, SENT_CHUNK, SENT_SNAPSHOT, type StreamMode, sseFrame } from '@weft/protocol';

/** One thing a subscriber sees. `data` is JSON text without line breaks. */
export interface Frame {
  readonly seq: number;
  readonly event: string;
  readonly data: string;
  /** A reader must not wait for a batch to fill up to learn this. */
  readonly urgent: boolean;
}

/** What the event looks like in these modes; undefined when none of them shows it. */
export function frameOf(modes: readonly StreamMode[], followed: FollowedEvent): Frame | undefined {
  const { event, snapshot } = followed;
  if (modes[0] !== 'values') return frameOfEvent(modes, event);
  return snapshot === undefined ? undefined : snapshotFrame(snapshot, event.seq, isUrgent(event));
}

/** The same for modes that need no snapshot. */
export function frameOfEvent(modes: readonly StreamMode[], event: WireEvent): Frame | undefined {
  if (!admits(modes, event.type)) return undefined;
  const urgent = isUrgent(event);
  if (event.type === 'output.chunk' && modes.includes('messages')) {
    return { seq: event.seq, event: SENT_CHUNK, data: event.payload, urgent };
  }
  return { seq: event.seq, event: event.type, data: event.document, urgent };
}

function isUrgent({ type }: WireEvent): boolean {
  return isTerminalEvent(type) || type === 'node.suspended';
}

export function snapshotFrame(text: string, seq: number, urgent: boolean): Frame {
  return { seq, event: SENT_SNAPSHOT, data: text, urgent };
}

/** How a transport writes frames. */
export interface FrameRenderer<Out> {
  readonly nothing: Out;
  frame(frame: Frame): Out;
  /** Never of none. */
  batch(frames: readonly Frame[], last: Frame): Out;
}

export const SSE_FRAMES: FrameRenderer<string> = {
  nothing: '',
  frame: ({ seq, event, data }) => sseFrame({ id: seq, event, data }),
  batch: (frames, { seq }) =>
    sseFrame({ id: seq, event: SENT_BATCH, data: `[${frames.map(({ data }) => data).join(',')}]` }),
};

/**
 * Frames on their way out. With a window of 0 each is written as it comes. Otherwise they wait in a batch until
 * the window is over, the batch is large, or something urgent comes.
 *
 * 1. Order is never changed.
 * 2. A batch's id is the highest sequence in it, so a reader that reconnects misses nothing and sees nothing twice.
 * 3. An empty batch is never sent.
 */
export interface FrameQueue<Out> {
  /** What must be written now; nothing while the frame waits. */
  add(frame: Frame): Out;
  flush(): Out;
  /** Drops the timer. */
  stop(): void;
}

const LARGE_BATCH = 256 * 1024;

export function createFrameQueue<Out>(
  windowMs: number,
  renderer: FrameRenderer<Out>,
  onWindowOver: (out: Out) => void,
): FrameQueue<Out> {
  let waiting: Frame[] = [];
  let size = 0;
  let timer: NodeJS.Timeout | undefined;

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function flush(): Out {
    stop();
    const frames = waiting;
    const last = frames.at(-1);
    if (last === undefined) return renderer.nothing;
    waiting = [];
    size = 0;
    return renderer.batch(frames, last);
  }

  return {
    add(frame) {
      if (windowMs === 0) return renderer.frame(frame);
      waiting.push(frame);
      size += frame.data.length;
      if (frame.urgent || size >= LARGE_BATCH) return flush();
      timer ??= setTimeout(() => onWindowOver(flush()), windowMs);
      return renderer.nothing;
    },
    flush,
    stop,
  };
}
