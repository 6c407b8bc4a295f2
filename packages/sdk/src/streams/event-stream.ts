import { type Annotation, endpointOf, isJsonObject } from '@weft/protocol/plain';
import { type StreamMode, isTerminalStatus } from '../documents.ts';
import { ApiError, ConnectionError } from '../requests/errors.ts';
import { pause, retryDelayMs } from '../requests/retry.ts';
import type { Streamed } from '../runs/run-events.ts';
import { type SseFrame, createFrameParser } from './sse-frames.ts';
import type { Transport } from '../requests/transport.ts';

/**
 * A run's events as an endless-looking loop that ends with the run.
 *
 * The stream is *open* until the terminal event has been yielded. A connection may end at any time: cleanly (the host
 * closes after the terminal event, or shuts down) or not. Then the run is asked for its status and the stream is opened
 * again after the last sequence seen, with a growing pause while the host stays away.
 *
 * 1. No event is yielded twice and none is left out, however often the connection breaks.
 * 2. The first connection is an ordinary request: a wrong URL, key or run id is the caller's to know at once.
 * 3. Leaving the loop, or aborting the signal, closes the connection.
 */
export interface EventStreamOptions<Mode extends StreamMode = StreamMode> {
  /** One or several; default: `updates`. */
  readonly mode?: Mode | readonly Mode[];
  /** The last sequence already seen; left out, the stream starts at the first event. */
  readonly after?: number;
  /** Lets the host gather events for this many milliseconds into one frame. */
  readonly bufferMs?: number;
  readonly signal?: AbortSignal;
  /** How long to keep trying after a lost connection before giving up; 60 s. */
  readonly reconnectMs?: number;
  /** Called for each lost connection, to show it to people. */
  readonly onReconnect?: (cause: unknown, delayMs: number) => void;
  /** Called each time a connection stands: the first one, and each that replaces a lost one. */
  readonly onOpen?: () => void;
  /** Called for each annotation made while the stream is open. It is no event of the run, so the loop does not see it. */
  readonly onAnnotated?: (annotation: Annotation) => void;
}

interface Position {
  after: number | undefined;
  ended: boolean;
}

const SILENCE_MS = 75_000; // the protocol promises a sign of life every 30 s
const FIRST_DELAY_MS = 250;

export async function* followRun<Mode extends StreamMode = 'updates'>(
  transport: Transport,
  runId: string,
  options: EventStreamOptions<Mode> = {},
): AsyncGenerator<Streamed<Mode>, void, undefined> {
  const position: Position = { after: options.after, ended: false };
  const closing = new AbortController();
  const signal =
    options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal]);
  try {
    const stream = { transport, runId, options, position, signal };
    let response = await connect(stream);
    let runHadEnded = false;
    for (;;) {
      options.onOpen?.();
      const lost = yield* readAll<Streamed<Mode>>(response, position, signal, options.onAnnotated);
      if (position.ended || signal.aborted) return;
      // A connection opened after the run had ended carries everything there is.
      if (runHadEnded && lost === undefined) return;
      const again = await reconnect(stream, lost);
      response = again.response;
      runHadEnded = again.runHadEnded;
    }
  } finally {
    closing.abort();
  }
}

interface FollowedStream {
  readonly transport: Transport;
  readonly runId: string;
  readonly options: EventStreamOptions;
  readonly position: Position;
  readonly signal: AbortSignal;
}

function connect(
  { transport, runId, options, position, signal }: FollowedStream,
  retries: { maxRetries?: number } = {},
): Promise<Response> {
  const mode = options.mode ?? 'updates';
  return transport.open(endpointOf('streamRunEvents', { runId }), {
    query: { streamMode: typeof mode === 'string' ? mode : mode.join(','), bufferMs: options.bufferMs },
    headers: {
      accept: 'text/event-stream',
      'last-event-id': position.after === undefined ? undefined : String(position.after),
    },
    signal,
    ...retries,
  });
}

/** Connecting again has its own patience. */
const ONCE = { maxRetries: 0 };

async function reconnect(
  stream: FollowedStream,
  lost: unknown,
): Promise<{ response: Response; runHadEnded: boolean }> {
  const { transport, runId, options, signal } = stream;
  const giveUpAt = Date.now() + (options.reconnectMs ?? 60_000);
  let cause = lost;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const run = await transport.json<{ status: string }>(endpointOf('getRun', { runId }), {
        signal,
        ...ONCE,
      });
      const runHadEnded = isTerminalStatus(run.status);
      // A host that closes live streams at once must not be asked in a tight loop.
      if (!runHadEnded && attempt === 0) await pause(FIRST_DELAY_MS, signal);
      return { response: await connect(stream, ONCE), runHadEnded };
    } catch (error) {
      if (!isTemporary(error) || Date.now() >= giveUpAt) throw error;
      cause = error;
    }
    const delayMs = retryDelayMs(cause, attempt);
    options.onReconnect?.(cause, delayMs);
    await pause(delayMs, signal);
  }
}

/** Yields every item of one connection; returns what broke it, or undefined when it ended in order. */
async function* readAll<Item>(
  response: Response,
  position: Position,
  signal: AbortSignal,
  onAnnotated: EventStreamOptions['onAnnotated'],
): AsyncGenerator<Item, unknown, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return undefined;
  const decoder = new TextDecoder();
  const parse = createFrameParser();
  try {
    for (;;) {
      const part = await readPart(reader);
      if (part.done) return undefined;
      for (const frame of parse(decoder.decode(part.value, { stream: true })))
        yield* itemsOf<Item>(frame, position, onAnnotated);
      if (position.ended) return undefined; // the host closes now, and need not be waited for
    }
  } catch (error) {
    if (signal.aborted && !position.ended) throw error;
    if (error instanceof SyntaxError) throw error;
    return error;
  } finally {
    await reader.cancel().catch(() => undefined); // already broken is as good as closed
  }
}

interface PartReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

async function readPart(reader: PartReader): Promise<{ done: boolean; value?: Uint8Array | undefined }> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing was heard for ${SILENCE_MS / 1000} s`)), SILENCE_MS);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}

function* itemsOf<Item>(
  frame: SseFrame,
  position: Position,
  onAnnotated: EventStreamOptions['onAnnotated'],
): Generator<Item> {
  const data: unknown = JSON.parse(frame.data);
  if (frame.event === 'run.annotated') {
    if (isJsonObject(data)) onAnnotated?.(data['payload'] as unknown as Annotation);
    return;
  }
  for (const item of Array.isArray(data) ? (data as unknown[]) : [data]) {
    if (endsRun(item)) position.ended = true;
    yield item as Item;
  }
  if (frame.id !== undefined && /^\d+$/.test(frame.id)) position.after = Number(frame.id);
}

const TERMINAL: readonly unknown[] = ['run.completed', 'run.failed', 'run.cancelled'];

/** An event says so by its type, a snapshot by its status. */
function endsRun(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { type, status } = item;
  return (
    TERMINAL.includes(type) || (type === undefined && typeof status === 'string' && isTerminalStatus(status))
  );
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}
