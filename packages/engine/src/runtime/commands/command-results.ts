import type { CommandResult } from '../../ports/store.ts';

/** Where those who sent a command wait for what becomes of it, when the run is held by this process. */
export interface CommandResults {
  announce(commandId: string, commandResult: CommandResult): void;
  /** Calls `take` if a result is announced before the returned function is called. */
  expect(commandId: string, take: (commandResult: CommandResult) => void): () => void;
}

export function createCommandResults(): CommandResults {
  const waiting = new Map<string, Set<(commandResult: CommandResult) => void>>();
  return {
    announce(commandId, commandResult) {
      const takers = waiting.get(commandId);
      waiting.delete(commandId);
      for (const take of takers ?? []) take(commandResult);
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
