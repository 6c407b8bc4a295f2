import { endpointOf } from '@weft/protocol/plain';
import { isTerminalStatus, type RunDocument } from '../documents.ts';
import { followRun } from '../streams/event-stream.ts';
import { isTemporary, pause, retryDelayMs } from '../requests/retry.ts';
import { anySignal, LONGEST_TIMER_MS, type Transport } from '../requests/transport.ts';

export interface WaitOptions {
  /** Statuses, or a test of the run as it stands. Default: it has ended. */
  readonly until?: readonly RunDocument['status'][] | ((run: RunDocument) => boolean);
  /** Default: as long as it takes. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The run has ended, so what was waited for will not come. */
export class RunEndedError extends Error {
  readonly run: RunDocument;

  constructor(run: RunDocument) {
    super(`Run ${run.runId} ended with status ${run.status}; what was waited for did not occur.`);
    this.name = 'RunEndedError';
    this.run = run;
  }
}

/**
 * Reads the run when its stream brings something. Whatever comes while it is being read is one reason to read it once more, so a
 * long log costs no more requests than a short one.
 */
export async function waitForRun(
  transport: Transport,
  runId: string,
  { until, timeoutMs, signal: given }: WaitOptions = {},
): Promise<RunDocument> {
  const closing = new AbortController();
  const timeout =
    timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.min(timeoutMs, LONGEST_TIMER_MS));
  const signal = anySignal(given, timeout, closing.signal) ?? closing.signal;
  const isReached = testOf(until);
  const news = createNews();

  async function follow(): Promise<void> {
    // A test may look at anything of a run, and `updates` do not show all of it.
    const mode = typeof until === 'function' ? 'debug' : 'updates';
    for await (const _event of followRun(transport, runId, { mode, signal }))
      if (until !== undefined) news.announce();
  }

  async function read(): Promise<RunDocument> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await transport.json<RunDocument>(endpointOf('getRun', { runId }), { signal });
      } catch (error) {
        // How long a host may stay away is for the stream to say.
        if (!isTemporary(error) || news.haveFailed()) throw error;
        await pause(retryDelayMs(error, attempt), signal);
      }
    }
  }

  const following = follow().then(news.announce, news.fail);
  try {
    for (;;) {
      const run = await read();
      if (isReached(run)) return run;
      if (isTerminalStatus(run.status)) throw new RunEndedError(run);
      await news.next();
    }
  } finally {
    closing.abort();
    await following;
  }
}

function testOf(until: WaitOptions['until']): (run: RunDocument) => boolean {
  if (until === undefined) return ({ status }) => isTerminalStatus(status);
  return typeof until === 'function' ? until : ({ status }) => until.includes(status);
}

interface News {
  announce(): void;
  fail(cause: unknown): void;
  haveFailed(): boolean;
  /** Resolves when there was something since the last time; rejects when nothing more will come. */
  next(): Promise<void>;
}

function createNews(): News {
  let isDue = false;
  let failure: { readonly cause: unknown } | undefined;
  let wake = (): void => undefined;
  const announce = (): void => {
    isDue = true;
    wake();
  };
  return {
    announce,
    fail(cause) {
      failure = { cause };
      announce();
    },
    haveFailed: () => failure !== undefined,
    async next() {
      if (!isDue) await new Promise<void>((resolve) => (wake = resolve));
      isDue = false;
      if (failure !== undefined) throw failure.cause;
    },
  };
}
