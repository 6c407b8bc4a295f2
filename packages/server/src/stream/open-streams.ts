import { StopSource } from '@weft/engine';
import { HostError } from '@weft/protocol';

/**
 * Every answer that stays open: streams (counted against the limits) and long polls (not counted). Closing the door aborts
 * them all at once, so that a shutdown does not wait for readers.
 */
export interface OpenStreams {
  /** Throws HostError `rate_limited` when the tenant or the host has as many streams as it may. */
  open(tenant: string): OpenStream;
  wait(): OpenStream;
  readonly closing: boolean;
  closeAll(): void;
}

export interface OpenStream {
  readonly signal: StopSource;
  /** Ends the stream and gives its place back; more than once is once. */
  end(): void;
}

const RETRY_AFTER_S = 5;

export function createOpenStreams(limits: { maxStreams: number; maxStreamsPerTenant: number }): OpenStreams {
  const open = new Set<StopSource>();
  const perTenant = new Map<string, number>();
  let streams = 0;
  let closing = false;

  function enter(onEnd: () => void): OpenStream {
    const signal = new StopSource();
    if (closing) signal.stop();
    open.add(signal);
    return {
      signal,
      end() {
        if (!open.delete(signal)) return;
        onEnd();
        signal.stop();
      },
    };
  }

  return {
    open(tenant) {
      const ofTenant = perTenant.get(tenant) ?? 0;
      if (streams >= limits.maxStreams) throw tooMany('global', limits.maxStreams);
      if (ofTenant >= limits.maxStreamsPerTenant) throw tooMany('tenant', limits.maxStreamsPerTenant);
      streams += 1;
      perTenant.set(tenant, ofTenant + 1);
      return enter(() => {
        streams -= 1;
        const left = (perTenant.get(tenant) ?? 1) - 1;
        if (left === 0) perTenant.delete(tenant);
        else perTenant.set(tenant, left);
      });
    },
    wait: () => enter(() => undefined),
    get closing() {
      return closing;
    },
    closeAll() {
      closing = true;
      for (const signal of open) signal.stop();
    },
  };
}

function tooMany(scope: 'tenant' | 'global', limit: number): HostError {
  return new HostError(
    'rate_limited',
    `There are already ${limit} open streams for this ${scope === 'tenant' ? 'tenant' : 'host'}; close one or wait.`,
    { retryAfterMs: RETRY_AFTER_S * 1000, retryAfterSeconds: RETRY_AFTER_S, scope, limit },
    { retryAfter: RETRY_AFTER_S },
  );
}
