/** What is recorded of runs that start by themselves: by schedules, and by deliveries to triggers. */
export interface StartedHistory {
  readonly schedules: readonly SeenSchedule[];
  readonly holds: readonly SeenHold[];
  /** Runs that an operator started of a schedule, each asked for several times under one key. */
  readonly manual: readonly ManualStart[];
  readonly triggers: readonly string[];
  readonly deliveries: readonly SentDelivery[];
  /** Deliveries with a wrong signature, by what they were answered. */
  readonly forged: readonly { readonly trigger: string; readonly status: number }[];
  /** Dead letters of the triggers in the end, by id. */
  readonly letters: readonly string[];
}

export type Overlap = 'skip' | 'queue-one' | 'queue-all' | 'cancel-other' | 'allow';

export interface ScheduleRequest {
  readonly name: string;
  readonly overlap: Overlap;
  readonly everyMs: number;
  /** Milliseconds that each run lasts at least. */
  readonly holdMs: number;
  readonly catchUpMs: number;
  readonly jitterMs: number;
  /** Instants of the first due time, and after the last one. */
  readonly start: number;
  readonly end: number;
}

export interface SeenSchedule extends ScheduleRequest {
  /** Firings that an observer saw. The host remembers only a few, and after an outage more may pass between two looks. */
  readonly firings: readonly SeenFiring[];
  /** As the host shows it in the end. */
  readonly last: {
    readonly state: string;
    readonly openRuns: number;
    readonly queued: number;
    readonly started: number;
    readonly skipped: number;
    readonly deadLettered: number;
  };
}

export interface SeenFiring {
  readonly dueAt: number;
  readonly until?: number;
  readonly at: number;
  readonly outcome: string;
  readonly reason?: string;
}

/** A call of a scheduled run to the hold service, by the one clock of that service. */
export interface SeenHold {
  readonly schedule: string;
  /** The same in both calls of a run. */
  readonly token: string;
  readonly phase: 'begin' | 'finish';
  readonly at: number;
}

export interface ManualStart {
  readonly schedule: string;
  readonly key: string;
  readonly runIds: readonly string[];
}

/** One delivery id with everything that was answered to it, from whatever process. */
export interface SentDelivery {
  readonly trigger: string;
  readonly id: string;
  /** Its mapping reads what is not there. */
  readonly isUnfit: boolean;
  readonly sent: number;
  readonly runIds: readonly string[];
  readonly letters: readonly string[];
  readonly started: number;
  readonly duplicates: number;
}
