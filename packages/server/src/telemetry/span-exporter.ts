import type { Log, TelemetrySource } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import type { Post } from './otlp-post.ts';
import { encodeSpans, encodeTraces, type Sender } from './otlp-json.ts';

/**
 * Sends the spans of ended runs to a collector. A run goes
 *
 *   ended ──► queued ──read off its log──► in a batch ──► sent | given up
 *
 * T-1. Only the id of an ended run is kept until its turn; the log is read then, so nothing is measured while a run
 *      executes.
 * T-2. The queue is bounded. While the collector is away it fills up; runs that end after that are counted and not sent.
 * T-3. One batch is in flight at a time. It is retried with growing waits, and given up after the last try.
 * T-4. Nothing waits for this: neither a run, nor a request, nor shutdown for longer than its grace time.
 */
export interface SpanExporter {
  ended(runId: string): void;
  counts(): SpanCounts;
  /** Sends what is queued, but waits no longer than this. */
  stop(graceMs: number): Promise<void>;
}

export interface SpanCounts {
  readonly sent: number;
  /** Spans that the collector did not take, or that were over a run's limit. */
  readonly dropped: number;
  /** Runs whose spans were not even read: the queue was full, or the log could not be read. */
  readonly droppedRuns: number;
  /** Runs that wait for their turn. */
  readonly queued: number;
}

export interface SpanExporterOptions {
  readonly host: Pick<TelemetrySource, 'runSpans'>;
  readonly post: Post;
  readonly sender: Sender;
  readonly log: Log;
  readonly maxQueuedRuns?: number;
  /** Waits before the second and later tries of a batch; their number is the bound. */
  readonly retryMs?: readonly number[];
}

const MAX_QUEUED_RUNS = 4_096;
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** Runs that end together are exported together. */
const GATHER_MS = 100;
const SPANS_PER_BATCH = 512;
const SPANS_PER_RUN = 5_000;
const LONGEST_WAIT_MS = 60_000;

export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { host, post, sender, log } = options;
  const maxQueued = options.maxQueuedRuns ?? MAX_QUEUED_RUNS;
  const retryMs = options.retryMs ?? RETRY_MS;
  const waiting = new AbortController();
  let queue: string[] = [];
  let sent = 0;
  let dropped = 0;
  let droppedRuns = 0;
  let isStopping = false;
  let isOver = false;
  let working: Promise<void> | undefined;

  function ended(runId: string): void {
    if (queue.length >= maxQueued || isOver) {
      droppedRuns += 1;
      return;
    }
    queue.push(runId);
    start();
  }

  function start(): void {
    working ??= work().finally(() => {
      working = undefined;
      // What ended after the last look found it at work.
      if (queue.length > 0) start();
    });
  }

  async function work(): Promise<void> {
    if (!isStopping) await rest(GATHER_MS);
    while (queue.length > 0) {
      const batch = await gather();
      for (let from = 0; from < batch.length; from += SPANS_PER_BATCH) {
        await send(batch.slice(from, from + SPANS_PER_BATCH));
      }
    }
  }

  async function gather(): Promise<readonly JsonObject[]> {
    const batch: JsonObject[] = [];
    while (queue.length > 0 && batch.length < SPANS_PER_BATCH) {
      const runIds = queue.slice(0, SPANS_PER_BATCH);
      queue = queue.slice(runIds.length);
      for (const [index, runId] of runIds.entries()) {
        if (isOver) return [];
        batch.push(...(await spansOf(runId)));
        if (batch.length < SPANS_PER_BATCH) continue;
        queue = [...runIds.slice(index + 1), ...queue];
        break;
      }
    }
    return batch;
  }

  async function spansOf(runId: string): Promise<readonly JsonObject[]> {
    try {
      const found = await host.runSpans(runId, SPANS_PER_RUN);
      if (found === undefined) return [];
      dropped += found.dropped;
      return encodeSpans(found);
    } catch (error) {
      droppedRuns += 1;
      log(
        'warn',
        { runId, error: error instanceof Error ? error.message : 'unknown' },
        'spans cannot be read',
      );
      return [];
    }
  }

  async function send(spans: readonly JsonObject[]): Promise<void> {
    const body = encodeTraces(sender, spans);
    for (const wait of [...retryMs, undefined]) {
      const posted = await post('traces', body);
      if (posted.state === 'taken') {
        sent += spans.length;
        return;
      }
      if (posted.state === 'refused' || wait === undefined || isStopping) break;
      await rest(Math.min(posted.afterMs ?? wait, LONGEST_WAIT_MS));
    }
    dropped += spans.length;
  }

  /** Ends early when the host stops. */
  const rest = (ms: number): Promise<void> => pause(ms, waiting.signal);

  return {
    ended,
    counts: () => ({ sent, dropped, droppedRuns, queued: queue.length }),
    async stop(graceMs) {
      isStopping = true;
      waiting.abort();
      if (working !== undefined) await Promise.race([working, pause(graceMs)]);
      isOver = true;
      droppedRuns += queue.length;
      queue = [];
    },
  };
}

/** Does not keep the process alive. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(done, ms);
    timer.unref();
    signal?.addEventListener('abort', done, { once: true });

    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}
