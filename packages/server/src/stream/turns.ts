/**
 * Lets a few pass in each turn of the event loop. A crowd that comes at once is served over several turns, so that whoever
 * asks for something else in between does not wait for all of them.
 */
export interface Turns {
  /** Undefined when there is room in this turn: then nothing needs to be awaited. */
  take(): Promise<void> | undefined;
}

export function createTurns(perTurn: number): Turns {
  const waiting: (() => void)[] = [];
  let left = perTurn;
  let isCounting = false;

  function nextTurn(): void {
    left = perTurn;
    for (const pass of waiting.splice(0, perTurn)) {
      left -= 1;
      pass();
    }
    isCounting = left < perTurn;
    if (isCounting) setImmediate(nextTurn);
  }

  return {
    take() {
      if (!isCounting) {
        isCounting = true;
        setImmediate(nextTurn);
      }
      if (left > 0) {
        left -= 1;
        return undefined;
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
