import type { StepRecord } from '../../model/node-type.ts';
import type { StepState } from '../../model/run-state.ts';

/** What a node gets to see of its steps: those that have ended, oldest first. */
export function recordsOf(steps: readonly StepState[]): StepRecord[] {
  return steps.filter(hasEnded).map(({ id, round, request, result, error }) => ({
    id,
    round,
    request,
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
  }));
}

export function hasEnded({ status }: StepState): boolean {
  return status === 'completed' || status === 'failed';
}
