import type { Input } from '../core/decide/step.ts';

/**
 * Where a suspect run is loaded and decided about first: in a process apart from the host, whose end harms no one. What is decided there
 * is thrown away. A host without it sets no run aside for ending processes.
 */
export interface Trials {
  /**
   * `died`: the process ended over this, or stood still. Everything else is `lived`, a decision that throws included: the host meets
   * that itself. Rejects when what the trial needs could not be read from the store.
   */
  attempt(request: TrialRequest): Promise<'lived' | 'died'>;
}

export interface TrialRequest {
  readonly runId: string;
  /** What the run was given since it was loaded, in order; the last is what it decides about now. Empty: can it be loaded? */
  readonly inputs: readonly Input[];
  /** The moment of all of them. */
  readonly now: number;
}
