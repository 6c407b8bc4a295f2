import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Committer } from '../commits/committer.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import type { HostLimits } from '../../host/limits.ts';
import { isOverShare } from './loads.ts';

/**
 * Admission by what is scarce: writes that wait for the store, runs that wait for memory, and the event loop itself.
 * Only new runs are turned away; reads and commands always pass, because they are how load goes down. Of several tenants those
 * are turned away that take up their part of what is scarce, and not who has hardly any of it.
 */
export interface OverloadGauge {
  /** Why a new run of the tenant is not taken now. */
  check(tenant: string): { readonly retryAfter: number; readonly cause: string } | undefined;
  loopDelayMs(): number;
  start(): void;
  stop(): void;
}

export interface OverloadDependencies {
  readonly committer: Pick<Committer, 'waiting' | 'waitingOf'>;
  readonly dispatcher: Pick<Dispatcher, 'pendingRuns'>;
  readonly limits: HostLimits;
}

type Scarce = readonly [cause: string, limit: number, all: number, ofTenant: number, tenants: number];

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
    check(tenant) {
      const [waiting, own] = [committer.waiting(), committer.waitingOf(tenant)];
      const [pending, ownPending] = [dispatcher.pendingRuns.all(), dispatcher.pendingRuns.of(tenant)];
      const scarce: readonly Scarce[] = [
        ['waiting-bytes', limits.maxWaitingBytes, waiting.bytes, own.bytes, waiting.tenants],
        ['waiting-writes', limits.maxWaitingUnits, waiting.units, own.units, waiting.tenants],
        ['pending-runs', limits.maxPendingRuns, pending.units, ownPending.units, pending.tenants],
        // Whose part of it is how large no one can tell.
        ['event-loop-delay', limits.maxLoopDelayMs, loopDelayMs, loopDelayMs, 1],
      ];
      for (const [cause, limit, all, ofTenant, tenants] of scarce) {
        if (isOverShare(all, ofTenant, tenants, limit)) return { cause, retryAfter: retryAfter(all, limit) };
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
