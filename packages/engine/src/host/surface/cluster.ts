import type { Caller } from './caller.ts';

/** The processes that share a store. */
export interface Cluster {
  /** Every process that may hold runs, and those past their deadline whose runs no other has taken over yet; oldest first. */
  nodes(): Promise<readonly ClusterNode[]>;
  /**
   * Asks a process to hold no runs any more: it claims none, finishes what is running and leaves the rest to the others. It
   * answers requests as before. Undefined when there is none of this name.
   */
  drain(caller: Caller, name: string): Promise<ClusterNode | undefined>;
}

export interface ClusterNode {
  readonly name: string;
  /** `lost`: past its deadline. `drained`: holds nothing, and will not. */
  readonly state: 'active' | 'draining' | 'drained' | 'lost';
  /** Absent for a process that did not say. */
  readonly version?: string;
  readonly startedAt?: number;
  /** When the others may take over what it holds, unless it gives a sign before. */
  readonly deadline: number;
  /** Runs that it holds. */
  readonly runs: number;
  /** The process that was asked. */
  readonly isSelf: boolean;
}
