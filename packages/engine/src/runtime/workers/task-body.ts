import type { JsonObject } from '@weft/protocol';
import type { NumberedChunk, Outcome } from '../../core/decide/step.ts';
import type { RunLimits } from '../../model/run-state.ts';
import type { TaskOffer } from './served-task.ts';

/** What the store holds of a task that another process performs. No secrets: that process resolves them. */
export interface TaskBody {
  readonly offer: TaskOffer;
  readonly principal?: string | undefined;
  readonly nodeKey: string;
  readonly attempt: number;
  readonly limits: RunLimits;
}

/** What came of it. */
export interface TaskResult {
  readonly outcome: Outcome;
  readonly chunks: readonly NumberedChunk[];
}

/** Who has it, for those who ask. */
export interface TaskNote {
  readonly worker: string;
  readonly node: string;
  readonly since: number;
  readonly progress?: { readonly at: number; readonly details?: JsonObject[string] | undefined };
}
