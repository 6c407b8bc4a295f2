import { createFairQueue } from '@weft/engine';

/**
 * Admits a few callers in each tick of the event loop, alternating between tenants. A burst is spread over several ticks, so that
 * other requests in between do not wait for all of it.
 */
export interface AdmissionQueue {
  /** Undefined when there is room in this tick: then nothing needs to be awaited. */
  admit(tenant: string): Promise<void> | undefined;
}

export function createAdmissionQueue(perTick: number): AdmissionQueue {
  const waiting = createFairQueue<() => void>();
  let left = perTick;
  let isCounting = false;

  function nextTick(): void {
    left = perTick;
    for (let next = waiting.take(); next !== undefined; next = left > 0 ? waiting.take() : undefined) {
      next.leave();
      left -= 1;
      next.item();
    }
    isCounting = left < perTick;
    if (isCounting) setImmediate(nextTick);
  }

  return {
    admit(tenant) {
      if (!isCounting) {
        isCounting = true;
        setImmediate(nextTick);
      }
      if (left > 0) {
        left -= 1;
        return undefined;
      }
      return new Promise((resolve) => void waiting.push(resolve, tenant));
    },
  };
}
