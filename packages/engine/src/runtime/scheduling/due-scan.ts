import { type Clock, wait } from '../../ports/clock.ts';

/**
 * When runs that are due are looked for: at the time the last look has named, when something hints at one, and at least once
 * per poll. One look at a time; a hint that comes meanwhile is followed by another one.
 */
export interface DueScan {
  start(): void;
  /** Some run may be due at this time, or now. */
  wake(at?: number): void;
  /** Resolves when no look is running; where one takes long, without it: what it still does is as if the process were killed. */
  stop(): Promise<void>;
}

export interface Look {
  /** Runs that it got. */
  readonly claimed: number;
  /** When the next one is due, if that is known. */
  readonly nextAt: number | undefined;
}

export interface DueScanOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly pollMs: number;
  /** Must not throw. */
  readonly look: () => Promise<Look>;
}

const SHORTEST_SCAN_MS = 2;
/** Of a millisecond each. */
const MOST_WAITS = 1_000;

export function createDueScan({ clock, pollMs, look }: DueScanOptions): DueScan {
  let running = false;
  let scanning = false;
  let scanAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  /** Looks in a row that got nothing although something was due: by another clock it is not, or someone is at it. */
  let fruitless = 0;

  function wake(at = 0): void {
    if (!running) return;
    const now = clock.now();
    const wakeAt = Math.min(Math.max(at, now), now + pollMs);
    if (timer !== undefined && timerAt <= wakeAt) return;
    clearTimeout(timer);
    timerAt = wakeAt;
    timer = setTimeout(() => {
      timer = undefined;
      timerAt = Number.POSITIVE_INFINITY;
      void scan();
    }, wakeAt - now);
    timer.unref();
  }

  async function scan(): Promise<void> {
    if (scanning) {
      scanAgain = true;
      return;
    }
    scanning = true;
    let claimed = 0;
    let nextAt: number | undefined;
    do {
      scanAgain = false;
      const seen = await look();
      claimed += seen.claimed;
      nextAt = seen.nextAt;
    } while (scanAgain && running);
    scanning = false;
    const now = clock.now();
    fruitless = nextAt !== undefined && nextAt <= now && claimed === 0 ? fruitless + 1 : 0;
    const notBefore = now + Math.min(SHORTEST_SCAN_MS * 2 ** fruitless, pollMs);
    wake(nextAt === undefined ? now + pollMs : Math.max(nextAt, notBefore));
  }

  return {
    start() {
      running = true;
      wake();
    },
    wake,
    async stop() {
      running = false;
      clearTimeout(timer);
      timer = undefined;
      for (let waits = 0; scanning && waits < MOST_WAITS; waits += 1) await wait(1);
    },
  };
}
