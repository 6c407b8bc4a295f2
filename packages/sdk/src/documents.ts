import type { Json, JsonObject, RunSnapshot } from '@weft/protocol/plain';
import type { RunEvent } from './runs/run-events.ts';

/** What the host sends. Documents are open: a newer host may add members, so nothing here is exhaustive. */

export type StreamMode = 'updates' | 'values' | 'messages' | 'debug';

/** An event of a run's log, whatever its type. `RunEvent` tells the types apart. */
export interface RunEventDocument {
  readonly eventId: string;
  readonly runId: string;
  readonly type: string;
  readonly payload: Json;
  readonly timestamp: string;
  readonly sequence: number;
  readonly nodeId?: string;
  readonly causationId?: string;
}

export interface NewRun {
  readonly workflowId: string;
  readonly inputs?: JsonObject;
  readonly configurable?: JsonObject;
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
  readonly scopeId?: string;
  /** Where questions of the run are posted, each with a link that answers it. */
  readonly callbackUrl?: string;
}

export interface CreatedRun {
  readonly runId: string;
  readonly status: string;
  readonly eventsUrl: string;
  readonly statusUrl?: string;
  readonly weft?: {
    /** Inputs that the workflow does not declare. */
    readonly ignoredInputs?: readonly string[];
    /** The newest event of a run that the host has waited for. */
    readonly lastEvent?: RunEvent;
  };
}

export interface RunCommandAnswer {
  readonly runId: string;
  readonly status: string;
  readonly pausedAt?: string;
  readonly resumedAt?: string;
}

/** How a run stands after an answer to one of its questions. */
export interface ResolveAnswer {
  readonly runId: string;
  readonly nodeId: string;
  readonly status: string;
}

/** A question that a node has asked and that waits for its answer. */
export interface OpenInterrupt {
  readonly runId: string;
  readonly workflowId: string;
  readonly nodeId: string;
  /** Indexes of the loops around the node, outermost first; absent outside loops. */
  readonly iteration?: readonly number[];
  readonly interruptId: string;
  /** One of `INTERRUPT_KINDS` of the protocol, such as `approval` or `conversation.start`. */
  readonly kind: string;
  readonly key: string;
  /** What is asked; its members depend on the kind. */
  readonly data: JsonObject;
  /** JSON Schema of the answer. */
  readonly resumeSchema?: JsonObject;
  readonly timeoutMs?: number;
  readonly requestedAt: string;
  readonly expiresAt?: string;
  /** Votes counted so far, where an approval needs several. */
  readonly votes: readonly InterruptVote[];
  /** Lets its holder answer this one question without a key; only for callers who may answer themselves. */
  readonly interruptToken?: string;
}

export interface InterruptVote {
  readonly voter: string;
  readonly action: string;
}

/** A run as it stands. While it waits, `interrupt` is the question asked first; `interrupts` lists several. */
export type RunDocument = RunSnapshot & {
  readonly interrupt?: OpenInterrupt;
  readonly interrupts?: readonly OpenInterrupt[];
};

export interface BulkCancelAnswer {
  readonly results: readonly BulkCancelItem[];
}

export interface BulkCancelItem {
  readonly runId: string;
  readonly ok: boolean;
  readonly status?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface EventsPage {
  readonly events: readonly RunEvent[];
  readonly isComplete: boolean;
  readonly runStatus?: string;
}

export interface RunFilter {
  readonly quarantined?: true;
  readonly status?: readonly string[];
  readonly workflowId?: string;
  readonly tag?: string;
  /** What started them: `schedule:NAME` or `trigger:ID`. */
  readonly source?: string;
  /** What runs have failed with. */
  readonly errorCode?: string;
  /** How the id begins; then runs are listed by id, the greatest first. */
  readonly q?: string;
  /** ISO time, inclusive. */
  readonly since?: string;
  /** ISO time, exclusive. */
  readonly until?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** Which runs are counted, and by how much time. */
export interface RunCountFilter extends Omit<RunFilter, 'limit' | 'cursor'> {
  readonly bucket: '1m' | '5m' | '15m' | '1h' | '6h' | '1d';
  readonly since: string;
}

export interface RunCounts {
  readonly bucket: string;
  readonly since: string;
  readonly until: string;
  /** There are too many to count all: those created before this are left out. */
  readonly countedSince?: string;
  /** Those with runs, the oldest first; by status, without those that would be 0. */
  readonly buckets: readonly { readonly at: string; readonly counts: Readonly<Record<string, number>> }[];
}

export interface RunExplanation {
  readonly runId: string;
  readonly status: string;
  readonly waitingFor: string;
  readonly sentence: string;
  readonly nodeId?: string;
  readonly childRunId?: string;
  readonly until?: string;
  readonly holder?: string;
  /** The task of a node that workers perform; without a worker, it waits for one. */
  readonly task?: {
    readonly typeId: string;
    readonly version: string;
    /** Since when it waits, or the worker has it. */
    readonly since: string;
    readonly worker?: string;
    readonly node?: string;
    readonly progress?: { readonly at: string; readonly details?: Json };
  };
}

export interface WorkflowSummary {
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly digest: string;
  readonly registeredAt: string;
  readonly nodes: number;
  /** Runs that name no version get this one; absent from hosts that do not say. */
  readonly current?: boolean;
}

/** One thing wrong or doubtful in a definition, with the JSON Pointer of the place. */
export interface WorkflowProblem {
  readonly path: string;
  readonly message: string;
  readonly code: string;
  /** Of a text that costs too much: the limit, and what was observed. */
  readonly details?: JsonObject;
}

export interface WorkflowReport {
  readonly errors: readonly WorkflowProblem[];
  readonly warnings: readonly WorkflowProblem[];
  /** Nodes whose type workers serve, and the version each would use. */
  readonly pinned?: readonly { readonly path: string; readonly typeId: string; readonly version: string }[];
}

export interface WaitingWorkflow {
  readonly id: string;
  readonly version: string;
  /** Ids of node types that no worker has served. */
  readonly waitingFor: readonly string[];
}

export interface WorkflowRegistration {
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly created: boolean;
  readonly warnings: readonly WorkflowProblem[];
}

export interface NewKey {
  readonly principal: string;
  /** The part of the tenant that the key is bound to. */
  readonly workspace?: string;
  readonly kind?: 'service' | 'user';
  readonly scopes: readonly string[];
  readonly tenant?: string;
  /** ISO time. */
  readonly expiresAt?: string;
  readonly label?: string;
}

export interface KeySummary {
  readonly keyId: string;
  readonly tenant: string;
  readonly principal: string;
  /** The part of the tenant that the key is bound to. */
  readonly workspace?: string;
  readonly kind: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
  readonly label?: string;
}

export interface CreatedKey extends KeySummary {
  /** Shown once; the host keeps only its hash. */
  readonly key: string;
}

/** Belongs into the fragment of a link: `/studio/#code=…`. */
export interface SignInCode {
  readonly code: string;
  readonly expiresAt: string;
}

/** Who a key is for: an API key, or the key of a session. */
export interface KeyHolder {
  readonly tenant: string;
  readonly principal: string;
  readonly workspace?: string;
  readonly keyId: string;
  readonly kind: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: string;
}

export interface OpenedSession extends KeyHolder {
  /** Shown once; the host keeps only its hash. */
  readonly key: string;
  readonly expiresAt: string;
}

/** A key that signs interrupt links. */
export interface RotatedLinkKey {
  readonly keyId: string;
  readonly since: string;
  /** Its links are still accepted, until the next rotation. */
  readonly previousKeyId?: string;
}

export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string;
}

/** One page of a list; `nextCursor` is absent on the last. */
export interface Listing<Row> {
  readonly items: readonly Row[];
  readonly nextCursor?: string;
}

export function isTerminalStatus(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Every question the run waits for, in the order in which they were asked. */
export function openInterruptsOf(run: RunDocument): readonly OpenInterrupt[] {
  if (run.interrupts !== undefined) return run.interrupts;
  return run.interrupt === undefined ? [] : [run.interrupt];
}

/** The name that routes and commands use: `gate`, or `gate[2]` inside a loop. */
export function nodeNameOf(question: Pick<OpenInterrupt, 'nodeId' | 'iteration'>): string {
  return `${question.nodeId}${(question.iteration ?? []).map((index) => `[${index}]`).join('')}`;
}
