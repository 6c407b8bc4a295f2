import type { Clock } from '../../ports/clock.ts';

/** Tasks that were cut off while a worker had them, and until when it may be at work. */
export interface CutOffTasks {
  add(taskId: string): void;
  /** By the monotonic clock; 0 when it was not cut off. */
  until(taskId: string): number;
  hasAny(): boolean;
}

export function createCutOffTasks(clock: Clock, leaseMs: number): CutOffTasks {
  const ends = new Map<string, number>();

  /** All have the same time, so the oldest come first. */
  function forget(): void {
    const now = clock.monotonic();
    for (const [taskId, until] of ends) {
      if (until > now) return;
      ends.delete(taskId);
    }
  }

  return {
    add(taskId) {
      forget();
      ends.delete(taskId);
      ends.set(taskId, clock.monotonic() + leaseMs);
    },
    until: (taskId) => ends.get(taskId) ?? 0,
    hasAny() {
      forget();
      return ends.size > 0;
    },
  };
}
