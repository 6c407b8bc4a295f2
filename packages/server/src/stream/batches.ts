import type { FollowedEvent, WireEvent } from '@weft/engine';
import { type StreamMode, sseFrame } from '@weft/protocol';
import { frameOfEvent } from './frames.ts';

/** Some frames on their way to sockets. */
export interface Batch {
  readonly text: string;
  /** The same as one chunk of a chunked HTTP body, ready for the socket. */
  readonly chunk: Buffer;
}

/** What these modes show of the events; undefined when they show none of them. */
export type RenderBatch = (
  events: readonly FollowedEvent[],
  modes: readonly StreamMode[],
) => Batch | undefined;

/**
 * Renders a batch once for all its subscribers. Subscribers of a run are served one after the other, so the batches of
 * the newest list of events are all that needs to be remembered.
 */
export function createBatches(): RenderBatch {
  let newest: readonly FollowedEvent[] | undefined;
  let rendered: { readonly key: string; readonly batch: Batch | undefined }[] = [];
  return (events, modes) => {
    if (events !== newest) {
      newest = events;
      // Not a Map that is cleared: what was in it before would stay in memory until the next full collection of garbage.
      rendered = [];
    }
    const key = modes.length === 1 ? (modes[0] ?? '') : modes.join();
    const known = rendered.find((each) => each.key === key);
    if (known !== undefined) return known.batch;
    const batch = batchOf(
      renderFrames(
        events.map(({ event }) => event),
        modes,
      ),
    );
    rendered.push({ key, batch });
    return batch;
  };
}

/** Frames one by one, as a stream without a window sends them. */
export function renderFrames(events: readonly WireEvent[], modes: readonly StreamMode[]): string {
  let text = '';
  for (const event of events) {
    const frame = frameOfEvent(modes, event);
    if (frame !== undefined) text += sseFrame({ id: frame.seq, event: frame.event, data: frame.data });
  }
  return text;
}

/** Undefined when there is nothing to send. */
export function batchOf(text: string): Batch | undefined {
  if (text === '') return undefined;
  const size = Buffer.byteLength(text).toString(16);
  return { text, chunk: Buffer.from(`${size}\r\n${text}\r\n`) };
}
