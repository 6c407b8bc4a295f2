import { createFairQueue } from '@weft/engine';

/**
 * Lets a few pass in each turn of the event loop, tenants alternating. A crowd that comes at once is served over several turns,
 * so that whoever asks for something else in between does not wait for all of them.
 */
export interface Turns {
  /** Undefined when there is room in this turn: then nothing needs to be awaited. */
  take(tenant: string): Promise<void> | undefined;
}

export function createTurns(perTurn: number): Turns {
  const waiting = createFairQueue<() => void>();
  let left = perTurn;
  let isCounting = false;

  function nextTurn(): void {
    left = perTurn;
    for (let next = waiting.take(); next !== undefined; next = left > 0 ? waiting.take() : undefined) {
      next.leave();
      left -= 1;
      next.item();
    }
    isCounting = left < perTurn;
    if (isCounting) setImmediate(nextTurn);
  }

  return {
    take(tenant) {
      if (!isCounting) {
        isCounting = true;
        setImmediate(nextTurn);
      }
      if (left > 0) {
        left -= 1;
        return undefined;
      }
      return new Promise((resolve) => void waiting.push(resolve, tenant));
    },
  };
}
