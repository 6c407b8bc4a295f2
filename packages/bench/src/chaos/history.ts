/** What a chaos run leaves behind: what clients were told, what the world saw, and what the logs say in the end. */
export interface History {
  readonly seed: number;
  readonly store: 'postgres' | 'sqlite';
  readonly created: readonly CreatedReceipt[];
  readonly streams: readonly StreamReceipt[];
  readonly answers: readonly AnswerReceipt[];
  readonly cancels: readonly CancelReceipt[];
  /** Answers that no client should ever get. */
  readonly mishaps: readonly Mishap[];
  readonly effects: readonly SeenEffect[];
  /** Times at which a frozen process was woken up, from where a request it was about to send may come late. */
  readonly thaws: readonly number[];
  /** Ends of processes that nobody asked for. */
  readonly exits: readonly UnexpectedExit[];
  readonly runs: readonly FinalRun[];
}

export interface CreatedReceipt {
  readonly tag: string;
  readonly runId: string;
}

/** One connection to a run's events, from its opening to its end. */
export interface StreamReceipt {
  readonly runId: string;
  /** Events up to this sequence were known already; -1: none. */
  readonly after: number;
  readonly events: readonly StreamedEvent[];
}

export interface StreamedEvent {
  readonly sequence: number;
  readonly text: string;
  readonly at: number;
}

export interface AnswerReceipt {
  readonly runId: string;
  readonly interruptId: string;
  /** Occurs in the answer and nowhere else. */
  readonly marker: string;
  /** How many answers the question takes before it is over. */
  readonly voices: number;
  /** 200: taken; 202: kept, and not yet decided. */
  readonly status: number;
}

export interface CancelReceipt {
  readonly runId: string;
  /** What the host said the run is. */
  readonly status: string;
}

export interface Mishap {
  readonly request: string;
  readonly status: number;
  readonly body: string;
}

export interface SeenEffect {
  /** Tag of the run, node and iteration: what was asked for. */
  readonly call: string;
  readonly invocationId: string;
  readonly at: number;
}

export interface UnexpectedExit {
  readonly place: number;
  readonly code: number | null;
  readonly lastWords: string;
}

export interface FinalRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly tags: readonly string[];
  readonly parentRunId?: string;
  readonly status: string;
  /** Of a run that has not ended: what the host says it waits for. */
  readonly waitingFor?: string;
  /** The documents of its log, in order. */
  readonly log: readonly string[];
}

/** A log's document, as far as it is looked at. */
export interface EventDocument {
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: string;
  readonly nodeId?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}
