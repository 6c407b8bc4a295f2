import type { StartedHistory } from '../started/started-history.ts';

/** The record of a chaos run: responses to clients, calls to the external service, and the final logs. */
export interface History {
  readonly seed: number;
  readonly store: 'postgres' | 'sqlite';
  readonly created: readonly CreatedReceipt[];
  readonly streams: readonly StreamReceipt[];
  readonly answers: readonly AnswerReceipt[];
  readonly cancels: readonly CancelReceipt[];
  /** Runs that were sent an answer or a cancel whose outcome the client never learned. */
  readonly unanswered: readonly string[];
  /** Answers that no client should ever get. */
  readonly unexpectedResponses: readonly UnexpectedResponse[];
  readonly effects: readonly SeenEffect[];
  /** What the code on workers has written down. */
  readonly performances: readonly Performance[];
  readonly outages: readonly WorkerOutage[];
  /** Unexpected process exits. */
  readonly exits: readonly UnexpectedExit[];
  /** Runs that end processes, acknowledged. */
  readonly crashing: readonly string[];
  /** Runs of every tenant that are quarantined in the end. */
  readonly quarantined: readonly string[];
  readonly runs: readonly FinalRun[];
  readonly forks: readonly ForkReceipt[];
  readonly imports: readonly ImportReceipt[];
  readonly removals: readonly RemovalReceipt[];
  readonly erasures: readonly ErasureReceipt[];
  /** What a run that was removed or erased is answered with afterwards. */
  readonly probes: readonly Probe[];
  readonly annotations: readonly AnnotationReceipt[];
  readonly webhooks: readonly WebhookReceipt[];
  readonly deliveries: readonly SeenDelivery[];
  /** Dead deliveries that the dead letter replayer has replayed. */
  readonly dead: readonly DeadReceipt[];
  /** Signs callbacks. */
  readonly callbackSecret: string;
  /** A secret that nodes send, and the service echoes. */
  readonly secret: string;
  readonly started: StartedHistory;
}

/** A fork that was acknowledged. */
export interface ForkReceipt {
  readonly runId: string;
  readonly sourceRunId: string;
  readonly fromSeq: number;
  readonly mode: 'branch' | 'replay';
  readonly at: number;
  /** How many events of the source were there before it was asked for. */
  readonly sourceEvents: number;
  readonly sourceEnded: boolean;
}

export interface ImportReceipt {
  readonly runId: string;
  readonly sourceRunId: string;
  /** Every answer to the same bundle, from whatever process. */
  readonly again: readonly string[];
  /** Events of the bundle, as far as they are compared. */
  readonly events: readonly string[];
}

export interface RemovalReceipt {
  readonly runId: string;
  /** When it was asked for, and when it was done. */
  readonly askedAt: number;
  readonly at: number;
}

export interface ErasureReceipt {
  readonly runId: string;
  /** Its log before. */
  readonly log: readonly string[];
}

export interface Probe {
  readonly runId: string;
  readonly request: string;
  readonly status: number;
  readonly text: string;
}

export interface AnnotationReceipt {
  readonly runId: string;
  readonly marker: string;
}

export interface WebhookReceipt {
  readonly webhookId: string;
  /** Undefined when the answer that showed it was lost. */
  readonly secret?: string;
  readonly events: readonly string[];
  readonly tags: readonly string[];
}

/** One request to the receiver, with what it was answered; 0: the connection was closed instead. */
export interface SeenDelivery {
  readonly path: string;
  readonly webhookId: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
  readonly status: number;
  readonly at: number;
}

export interface DeadReceipt {
  readonly deliveryId: string;
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
  readonly votes: number;
  /** 200: taken; 202: kept, and not yet decided. */
  readonly status: number;
}

export interface CancelReceipt {
  readonly runId: string;
  /** What the host said the run is. */
  readonly status: string;
  /** When it said so. */
  readonly at: number;
}

export interface UnexpectedResponse {
  readonly request: string;
  readonly status: number;
  readonly body: string;
}

export interface SeenEffect {
  /** Tag of the run, node and iteration: what was asked for. */
  readonly call: string;
  readonly invocationId: string;
  readonly at: number;
  /** SHA-256 of the bytes it was answered with, where they are kept as an artifact. */
  readonly sent?: string;
  /** The secret that came along. */
  readonly secret?: string;
}

/** One time that a worker performed a task. */
export interface Performance {
  readonly performance: string;
  readonly pid: number;
  readonly call: string;
  readonly invocationId: string;
  readonly attempt: number;
  readonly begunAt: number;
  /** When it returned or was aborted; undefined when its process ended before. */
  readonly endedAt?: number;
}

/** Nothing was performed in this process: it was frozen, or has ended. */
export interface WorkerOutage {
  readonly pid: number;
  readonly from: number;
  readonly to: number;
}

export interface UnexpectedExit {
  readonly place: number | string;
  readonly code: number | null;
  readonly lastOutput: string;
}

export interface FinalRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly tags: readonly string[];
  readonly parentRunId?: string;
  readonly status: string;
  readonly fork?: { readonly sourceRunId: string; readonly fromSeq: number; readonly mode: string };
  readonly isImported?: boolean;
  /** What started it, where it was neither a client nor a parent. */
  readonly source?: { readonly kind: string; readonly id: string; readonly dueAt?: string };
  readonly endedAt?: string;
  /** Notes that were said about it. */
  readonly notes?: readonly string[];
  readonly artifacts?: readonly FinalArtifact[];
  /** Of a run that has not ended: what the host says it waits for. */
  readonly waitingFor?: string;
  /** The documents of its log, in order. */
  readonly log: readonly string[];
}

export interface FinalArtifact {
  readonly artifactId: string;
  /** As the list says. */
  readonly digest: string;
  /** SHA-256 of the bytes that came. */
  readonly bytes: string;
}

/** A log's document, as far as it is looked at. */
export interface EventDocument {
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: string;
  readonly nodeId?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What a bundle and the run that is made of it have in common, and nothing that names a run. */
export function comparable({ sequence, type, timestamp, nodeId, payload }: EventDocument): string {
  return JSON.stringify([sequence, type, Date.parse(timestamp), nodeId ?? null, payload]);
}
