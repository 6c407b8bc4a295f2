import { StopSource } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { Settings } from '../options.ts';

/**
 * Every answer that stays open, counted against what its tenant may have open at once. Closing the server aborts them all, so
 * that a shutdown does not wait for readers.
 */
export interface OpenStreams {
  /** Throws HostError `rate_limited` when the tenant or the host has as many as it may. */
  open(tenant: string, kind: StreamKind): OpenStream;
  readonly closing: boolean;
  closeAll(): void;
}

/** `poll`: waits for events that are still to come. `download`: an answer as long as the runs it is about. */
export type StreamKind = 'stream' | 'poll' | 'download';

export interface OpenStream {
  readonly signal: StopSource;
  /** Ends the stream and gives its place back; more than once is once. */
  end(): void;
}

export type StreamLimits = Pick<
  Settings,
  'maxStreams' | 'maxStreamsPerTenant' | 'maxPollsPerTenant' | 'maxDownloadsPerTenant'
>;

const KINDS = {
  stream: { perTenant: 'maxStreamsPerTenant', words: 'open streams' },
  poll: { perTenant: 'maxPollsPerTenant', words: 'long polls' },
  download: { perTenant: 'maxDownloadsPerTenant', words: 'downloads in progress' },
} as const;

const RETRY_AFTER_S = 5;

export function createOpenStreams(limits: StreamLimits): OpenStreams {
  const open = new Set<StopSource>();
  const counts = new Map<string, number>();
  let streams = 0;
  let closing = false;

  function count(key: string, by: 1 | -1): void {
    const now = (counts.get(key) ?? 0) + by;
    if (now === 0) counts.delete(key);
    else counts.set(key, now);
  }

  return {
    open(tenant, kind) {
      const { perTenant, words } = KINDS[kind];
      const key = `${kind} ${tenant}`;
      if (kind === 'stream' && streams >= limits.maxStreams)
        throw tooMany('global', words, limits.maxStreams);
      if ((counts.get(key) ?? 0) >= limits[perTenant]) throw tooMany('tenant', words, limits[perTenant]);
      count(key, 1);
      if (kind === 'stream') streams += 1;
      const signal = new StopSource();
      if (closing) signal.stop();
      open.add(signal);
      return {
        signal,
        end() {
          if (!open.delete(signal)) return;
          count(key, -1);
          if (kind === 'stream') streams -= 1;
          signal.stop();
        },
      };
    },
    get closing() {
      return closing;
    },
    closeAll() {
      closing = true;
      for (const signal of open) signal.stop();
    },
  };
}

function tooMany(scope: 'tenant' | 'global', words: string, limit: number): HostError {
  return new HostError(
    'rate_limited',
    `There are already ${limit} ${words} for this ${scope === 'tenant' ? 'tenant' : 'host'}; close one or wait.`,
    { retryAfterMs: RETRY_AFTER_S * 1000, retryAfterSeconds: RETRY_AFTER_S, scope, limit },
    { retryAfter: RETRY_AFTER_S },
  );
}
