import type { Around } from '@weft/sdk/worker';

/**
 * Reports which types have tasks, so that the parent knows them when the process dies. A type is reported when its first task
 * begins, and taken back a while after its last one has ended: busy processes say little.
 */
const FORGET_MS = 500;

export function followTypes(inner: Around, tell: (types: readonly string[]) => void): Around {
  const running = new Map<string, number>();
  let reported = new Set<string>();

  setInterval(() => {
    const still = [...reported].filter((typeId) => (running.get(typeId) ?? 0) > 0);
    if (still.length === reported.size) return;
    reported = new Set(still);
    tell(still);
  }, FORGET_MS).unref();

  return async (task, perform) => {
    const { typeId } = task;
    running.set(typeId, (running.get(typeId) ?? 0) + 1);
    if (!reported.has(typeId)) {
      reported.add(typeId);
      tell([...reported]);
    }
    try {
      return await inner(task, perform);
    } finally {
      running.set(typeId, (running.get(typeId) ?? 1) - 1);
    }
  };
}
