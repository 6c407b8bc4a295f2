import type { Around } from '@weft/sdk/worker';

/**
 * Tells which types have tasks, so that it is known when the process dies without a word. A type is told of when its first task
 * begins, and taken back a while after its last one has ended: busy processes say little.
 */
const FORGET_MS = 500;

export function followTypes(inner: Around, tell: (types: readonly string[]) => void): Around {
  const running = new Map<string, number>();
  let told = new Set<string>();

  setInterval(() => {
    const still = [...told].filter((typeId) => (running.get(typeId) ?? 0) > 0);
    if (still.length === told.size) return;
    told = new Set(still);
    tell(still);
  }, FORGET_MS).unref();

  return async (task, perform) => {
    const { typeId } = task;
    running.set(typeId, (running.get(typeId) ?? 0) + 1);
    if (!told.has(typeId)) {
      told.add(typeId);
      tell([...told]);
    }
    try {
      return await inner(task, perform);
    } finally {
      running.set(typeId, (running.get(typeId) ?? 1) - 1);
    }
  };
}
