import type { StoredEvent } from '../../ports/store.ts';
import { fromStored } from '../fold/from-stored.ts';
import { createRecordedInputs } from '../replay/recorded-inputs.ts';
import { fold, type Simulation } from './simulation.ts';

/** How much of a log a replay from `cut` repeats: all of it, but for a cancel that comes after the cut. */
export function replayedRecord({ plan, record, log }: Simulation, cut: number): StoredEvent[] {
  const reader = createRecordedInputs(plan, fold(plan, record, []));
  for (const event of log) reader.push(fromStored(event));
  reader.end();
  const cancel = reader.recordedInputs.find(
    ({ input }) => input.type === 'command' && input.command.type === 'cancel',
  );
  return cancel === undefined || cut > cancel.seq ? log : log.slice(0, cancel.seq);
}
