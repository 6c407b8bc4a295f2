import type { Listed, Page } from '../../ports/store.ts';
import type { Caller } from './caller.ts';

/** What schedules and triggers should have started and did not, and runs that failed after their last retry. */
export interface DeadLetters {
  /** Newest first. `source` is `schedule:NAME`, `trigger:ID` or `runs`. */
  list(caller: Caller, source: string, page: Page): Promise<Listed<DeadLetter>>;
  /** Starts what should have been started, and removes the letter. Undefined when there is none; throws why it cannot be started. */
  replay(caller: Caller, source: string, id: string): Promise<{ readonly runId: string } | undefined>;
  /** False when it does not exist. */
  remove(caller: Caller, source: string, id: string): Promise<boolean>;
}

export interface DeadLetter {
  readonly id: string;
  readonly source: string;
  /** A code. */
  readonly reason: string;
  readonly message: string;
  readonly at: number;
  readonly attempts: number;
  /** Of a schedule. */
  readonly dueAt?: number;
  /** Of a delivery: its id as the sender gave it, and its size. */
  readonly deliveryId?: string;
  readonly bytes?: number;
  /** Of a run: the node that failed. */
  readonly runId?: string;
  readonly nodeId?: string;
}
