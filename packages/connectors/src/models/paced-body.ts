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
  const pieces = source[Symbol.asyncIterator]();
  let text = '';
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let reading: Promise<void> | undefined;

  /** One at a time, for all readers. */
  function read(): Promise<void> {
    reading ??= readNext();
    return reading;
  }

  async function readNext(): Promise<void> {
    try {
      const next = await pieces.next();
      isOver = next.done === true;
      text += next.done === true ? decoder.decode() : decoder.decode(next.value, { stream: true });
    } catch (error) {
      failure = { error };
      isOver = true;
    }
    reading = undefined;
  }

  /** Until it is the turn of this stream, it has ended, or it holds a lot. */
  async function gather(): Promise<void> {
    let isDue = false;
    let leave = (): void => undefined;
    const due = new Promise<void>((resolve) => {
      leave = pace.wait(() => {
        isDue = true;
        resolve();
      });
    });
    while (!isDue && !isOver && text.length < MOST_CHARACTERS) await Promise.race([read(), due]);
    leave();
  }

  pace.opened();
  try {
    await read();
    for (;;) {
      const whole = events.take(text) + (isOver ? events.rest() : '');
      text = '';
      if (whole !== '') {
        await pace.turn();
        yield encoder.encode(whole);
      }
      if (failure !== undefined) throw failure.error;
      if (isOver && text === '') return;
      if (text === '') await read();
      if (!isOver) await gather();
    }
  } finally {
    pace.closed();
  }
}
