import type { CondensedEvents } from './condensed-events.ts';
import type { StreamPace } from './stream-pace.ts';

const MOST_CHARACTERS = 64 * 1024;

/**
 * The body of a streamed answer: its first events at once, later ones in the pace of the host. What came before a break is given before
 * it. A reader that stops ends the source by its signal.
 */
export async function* pacedBody(
  source: AsyncIterable<Uint8Array>,
  events: CondensedEvents,
  pace: StreamPace,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let text = '';
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let isFirstAwaited = false;
  let onEnough = (): void => undefined;
  let onTaken = (): void => undefined;

  /** As it comes, until a lot is held. */
  async function read(): Promise<void> {
    try {
      for await (const bytes of source) {
        text += decoder.decode(bytes, { stream: true });
        if (isFirstAwaited) onEnough();
        if (text.length < MOST_CHARACTERS) continue;
        onEnough();
        await new Promise<void>((resolve) => (onTaken = resolve));
      }
      text += decoder.decode();
    } catch (error) {
      failure = { error };
    }
    isOver = true;
    onEnough();
  }

  /** Until something has come. */
  async function first(): Promise<void> {
    if (text !== '' || isOver) return;
    isFirstAwaited = true;
    await new Promise<void>((resolve) => (onEnough = resolve));
    isFirstAwaited = false;
  }

  /** Until it is the turn of this stream, it has ended, or it holds a lot. */
  async function gather(): Promise<void> {
    if (isOver || text.length >= MOST_CHARACTERS) return;
    await new Promise<void>((resolve) => {
      const leave = pace.wait(resolve);
      onEnough = () => {
        leave();
        resolve();
      };
    });
  }

  pace.opened();
  try {
    void read();
    await first();
    for (;;) {
      const isLast = isOver;
      const whole = events.take(text) + (isLast ? events.rest() : '');
      text = '';
      onTaken();
      if (whole !== '') {
        await pace.turn();
        yield encoder.encode(whole);
      }
      if (isLast && failure !== undefined) throw failure.error;
      if (isLast) return;
      await first();
      await gather();
    }
  } finally {
    pace.closed();
    onTaken();
  }
}
