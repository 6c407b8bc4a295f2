import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Committer } from './committer.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { HostLimits } from './limits.ts';

/**
 * Admission by what is scarce: writes that wait for the store, runs that wait for memory, and the event loop itself.
 * Only new runs are turned away; reads and commands always pass, because they are how load goes down.
 */
export interface OverloadGauge {
  check(): { readonly retryAfter: number; readonly cause: string } | undefined;
  loopDelayMs(): number;
  start(): void;
  stop(): void;
}

export interface OverloadDependencies {
  readonly committer: Pick<Committer, 'waiting'>;
  readonly dispatcher: Pick<Dispatcher, 'counts'>;
  readonly limits: HostLimits;
}

const RESOLUTION_MS = 20;
const SAMPLE_MS = 1_000;
const LONGEST_RETRY_SECONDS = 30;

export function createOverloadGauge({ committer, dispatcher, limits }: OverloadDependencies): OverloadGauge {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let sampling: NodeJS.Timeout | undefined;
  let loopDelayMs = 0;

  function sample(): void {
    // The histogram counts its own period as delay.
    const measured = histogram.percentile(90) / 1e6 - RESOLUTION_MS;
    loopDelayMs = Number.isFinite(measured) ? Math.max(measured, 0) : 0;
    histogram.reset();
  }

  return {
    check() {
      const waiting = committer.waiting();
      const scarce: readonly (readonly [cause: string, observed: number, limit: number])[] = [
        ['waiting-bytes', waiting.bytes, limits.maxWaitingBytes],
        ['waiting-writes', waiting.units, limits.maxWaitingUnits],
        ['pending-runs', dispatcher.counts().pending, limits.maxPendingRuns],
        ['event-loop-delay', loopDelayMs, limits.maxLoopDelayMs],
      ];
      for (const [cause, observed, limit] of scarce) {
        if (observed > limit) return { cause, retryAfter: retryAfter(observed, limit) };
      }
      return undefined;
    },
    loopDelayMs: () => loopDelayMs,
    start() {
      histogram.enable();
      sampling = setInterval(sample, SAMPLE_MS);
      sampling.unref();
    },
    stop() {
      clearInterval(sampling);
      histogram.disable();
    },
  };
}

/** The further over the mark, the longer clients are asked to stay away. */
function retryAfter(observed: number, limit: number): number {
  return Math.min(Math.ceil(observed / Math.max(limit, 1)), LONGEST_RETRY_SECONDS);
}
