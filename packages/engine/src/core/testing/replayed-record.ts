import type { StoredEvent } from '../../ports/store.ts';
import { causeOf } from '../fold/overlay.ts';

/** How much of a log a replay from `cut` repeats: all of it, but for a cancel that comes after the cut. */
export function replayedRecord(log: readonly StoredEvent[], cut: number): readonly StoredEvent[] {
  const cancel = log.find((event) => causeOf(event)?.type === 'cancel');
  return cancel === undefined || cut > cancel.seq ? log : log.slice(0, cancel.seq);
}
