import type { Input } from '../../core/decide/step.ts';
import type { RecordedMoment } from './decide-batch.ts';

/** Gives a run its inputs, each with its time, in place of the clock. */
export interface InputSource {
  /** Must be awaited before `next`; `seq` is the length of the run's log. */
  readAhead(seq: number): Promise<void>;
  /** Undefined when there are no more. */
  next(): (Input & { readonly recorded: RecordedMoment }) | undefined;
}
