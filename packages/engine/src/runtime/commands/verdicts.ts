import type { Verdict } from '../../ports/store.ts';

/** Where those who sent a command wait for what becomes of it, when the run is held by this process. */
export interface Verdicts {
  announce(commandId: string, verdict: Verdict): void;
  /** Calls `take` if a verdict is announced before the returned function is called. */
  expect(commandId: string, take: (verdict: Verdict) => void): () => void;
}

export function createVerdicts(): Verdicts {
  const waiting = new Map<string, Set<(verdict: Verdict) => void>>();
  return {
    announce(commandId, verdict) {
      const takers = waiting.get(commandId);
      waiting.delete(commandId);
      for (const take of takers ?? []) take(verdict);
    },
    expect(commandId, take) {
      const takers = waiting.get(commandId) ?? new Set();
      waiting.set(commandId, takers.add(take));
      return () => {
        takers.delete(take);
        if (takers.size === 0 && waiting.get(commandId) === takers) waiting.delete(commandId);
      };
    },
  };
}
