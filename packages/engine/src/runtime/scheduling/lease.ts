import type { Store } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { errorFields, type Log } from '../../ports/log.ts';

/**
 * The right of this process to hold runs. It has a name (the holder) that the store knows, and is renewed by heartbeats.
 *
 * absent → valid      the first heartbeat of a fresh name has succeeded
 * valid  → valid      a heartbeat has succeeded
 * valid  → absent     two thirds of the time to live have passed, by the monotonic clock, without one; the name is
 *                     thrown away, so that whatever it still holds in the store runs into its deadline
 *
 * W-19. `holder()` is a name only while the lease is valid; the time is checked on every call, not only when a timer fires.
 * W-20. `onLost` is called once per lost name, before a new one is used.
 * W-21. A lost name never comes back, not even by a heartbeat that was already sent: no process has the runs that the store
 *       lists under it in memory, and renewing the name would keep other processes from taking them.
 */
export interface Lease {
  /** The name to claim and write under, or undefined while this process may hold nothing. */
  holder(): string | undefined;
  /** How long what this process holds is certainly still held in the store; 0 while it may hold nothing. */
  leftMs(): number;
  /** Resolves after the first attempt to get a name. */
  start(): Promise<void>;
  /** A heartbeat now, because there is something new to say. */
  renew(): void;
  /** Stops the heartbeats. Returns the name under which runs are still held. */
  stop(): string | undefined;
}

export interface LeaseOptions {
  readonly store: Pick<Store, 'heartbeat'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly ttlMs: number;
  readonly everyMs: number;
  readonly log: Log;
  /** What this process says about itself. */
  readonly about: () => string;
  readonly onLost: () => void;
}

export function createLease(options: LeaseOptions): Lease {
  const { store, clock, ttlMs, log } = options;
  const safeMs = (ttlMs * 2) / 3;
  let name: string | undefined;
  let renewedAt = 0;
  let beating = false;
  let timer: NodeJS.Timeout | undefined;

  function holder(): string | undefined {
    if (name === undefined || clock.monotonic() - renewedAt < safeMs) return name;
    name = undefined;
    log('error', { ttlMs }, 'no heartbeat for two thirds of the deadline: every claim is given up');
    options.onLost();
    return undefined;
  }

  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    const known = holder();
    const current = known ?? randomId(options.random);
    // Measured from before the request: the store's deadline can only be later than ours.
    const askedAt = clock.monotonic();
    try {
      await store.heartbeat(current, ttlMs, options.about());
      if (name === known) {
        name = current;
        renewedAt = askedAt;
      }
    } catch (error) {
      log('warn', errorFields(error), 'heartbeat failed');
    } finally {
      beating = false;
    }
    holder();
  }

  return {
    holder,
    leftMs: () => (holder() === undefined ? 0 : Math.max(renewedAt + ttlMs - clock.monotonic(), 0)),
    renew: () => void beat(),
    async start() {
      await beat();
      timer = setInterval(() => {
        holder();
        void beat();
      }, options.everyMs);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      const held = name;
      name = undefined;
      return held;
    },
  };
}
