import type { Annotation, Json, JsonObject, RunSnapshot } from '@weft/protocol';
import type { ApiKeyRow, StoredEvent, Verdict } from '../ports/store.ts';
import type { RunStatus } from '../model/run-state.ts';
import type { ArtifactRef, InterruptKind, StopSignal } from '../model/node-type.ts';

/** What goes in and out of the host: requests, answers and views. */

export interface AuditExportPage {
  readonly lines: readonly JsonObject[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

export interface ImportedRun {
  /** False when this bundle was imported before. */
  readonly created: boolean;
  readonly runId: string;
  /** Where it was executed. */
  readonly sourceRunId: string;
  readonly status: RunStatus;
  /** The bundle's digest was checked. */
  readonly verified: boolean;
  /** The bundle's signature was checked, too: fingerprint of its key. */
  readonly signedBy?: string;
  readonly events: number;
  /** Of the original log. */
  readonly totalEvents: number;
  readonly truncated: boolean;
  /** Without one that this host can run, the run can be shown and compared, but not forked as it is. */
  readonly definition: 'present' | 'missing' | 'unusable';
}

export interface BundleRequest {
  /** Only the first events of the log. */
  readonly maxEvents?: number;
}

export type Annotated = { readonly replayed: false; readonly annotation: Annotation } | ReplayedAnswer;

export interface Caller {
  readonly tenant: string;
  readonly principal: string;
  readonly keyId: string;
  readonly kind: 'service' | 'user';
  readonly test: boolean;
  readonly scopes: ReadonlySet<string>;
  /** When its key ends. */
  readonly expiresAt?: number;
  /** Where the request came from, for the audit log. */
  readonly address?: string;
}

/** A client's Idempotency-Key, with what the request was. */
export interface IdempotencyClaim {
  readonly operation: string;
  readonly keyHash: string;
  readonly requestDigest: string;
  /** Turns the outcome into the bytes to answer, now and on every repeat. */
  readonly render: (outcome: Json) => { readonly status: number; readonly body: string };
}

export interface NewRun {
  readonly workflowId: string;
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
  readonly scopeId?: string;
  readonly callbackUrl?: string;
  /** X-Dedup: enforce. */
  readonly exclusiveScope: boolean;
  readonly forceEngineVersion?: number;
  readonly traceparent?: string;
}

export interface ForkRequest {
  readonly mode: 'replay' | 'branch';
  /** First sequence that the fork decides itself; needed for a branch, 0 for a replay that does not say. */
  readonly fromSeq?: number;
  /** Branches only: laid over the source's options. */
  readonly overlay?: {
    readonly configurable?: JsonObject;
    readonly tags?: readonly string[];
    readonly metadata?: JsonObject;
  };
  /** Branches only: inputs in place of the source's, by name. */
  readonly values?: JsonObject;
  /** Branches only: another version of the workflow. */
  readonly workflowVersion?: string;
}

export type Forked =
  | { readonly replayed: false; readonly runId: string; readonly fromSeq: number }
  | ReplayedAnswer;

export type Accepted =
  | { readonly replayed: false; readonly runId: string; readonly status: RunStatus }
  | ReplayedAnswer;

export interface Retention {
  readonly tenant: string;
  /** After the end of a run; null = for ever. */
  readonly keepMs: number | null;
  /** The host's own, because the tenant has none. */
  readonly isDefault: boolean;
}

/** The stored answer to an earlier request with the same key and content. */
export interface ReplayedAnswer {
  readonly replayed: true;
  readonly status: number;
  readonly body: string;
}

export interface SnapshotView {
  readonly snapshot: RunSnapshot;
  /** Sequence of the newest event the snapshot knows; −1 for an empty log. Changes whenever the snapshot can. */
  readonly seq: number;
  /** Strong validator: changes whenever the rendered snapshot changes. */
  readonly etag: string;
}

/** An event with its wire document: the exact JSON text, assembled once. */
export interface WireEvent extends Pick<StoredEvent, 'seq' | 'type' | 'at' | 'payload'> {
  readonly document: string;
}

export interface EventPage {
  readonly events: readonly WireEvent[];
  readonly status: RunStatus | 'cancelling';
  /** Length of the log when the page was read. */
  readonly nextSeq: number;
  /** True when the run has ended and this page reaches its last event. */
  readonly complete: boolean;
}

export interface FollowOptions {
  readonly afterSeq: number;
  readonly keepaliveMs: number;
  readonly signal: StopSignal;
  /**
   * With `snapshots`, events that change what a reader sees come with the snapshot of the run as of that event. Of a large run
   * only the newest is handed over, and those before it are skipped.
   */
  readonly snapshots: boolean;
}

export interface Cursor {
  /**
   * Hands over batch after batch, each at least one event, as soon as it is durable. Resolves with true when `take` has answered
   * that it has no room for more, or when nothing has come for `keepaliveMs`: then call again. Resolves with false at the end.
   * Without snapshots, cursors at the same place of a run are given the same array.
   */
  push(take: (events: readonly FollowedEvent[]) => boolean): Promise<boolean>;
  /** One batch; for who does not need each event at once. */
  next(): Promise<readonly FollowedEvent[] | undefined>;
  /** The snapshot as of `afterSeq`, for the baseline of a `values` stream; undefined without `snapshots`. */
  baseline(): Promise<{ readonly text: string; readonly seq: number } | undefined>;
  close(): void;
}

export interface FollowedEvent {
  readonly event: WireEvent;
  /** JSON text of the snapshot, with `atSeq`. */
  readonly snapshot?: string;
}

export type CommandAnswer =
  | {
      readonly replayed: false;
      readonly verdict: Verdict | undefined;
      readonly status: RunStatus | 'cancelling';
    }
  | ReplayedAnswer;

export type RememberedAnswer = { readonly replayed: false; readonly outcome: Json } | ReplayedAnswer;

export interface RunSummary {
  readonly runId: string;
  readonly workflowId: string;
  readonly workflowVersion: string;
  readonly status: RunStatus | 'cancelling';
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly completedAt?: string;
  readonly currentNodeId?: string;
  readonly errorCode?: string;
  readonly tags: readonly string[];
  readonly events: number;
  /** Executed elsewhere, and only read here. */
  readonly imported?: true;
  /** The store holds something else of it than was written. */
  readonly damaged?: true;
  /** Set while nobody works on it because of what it did to the host. */
  readonly quarantined?: { readonly since: string; readonly reason: string };
}

export interface OpenQuestion {
  readonly kind: InterruptKind;
  readonly key: string;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject;
  readonly timeoutMs?: number;
}

/** A question that waits for its answer. */
export interface OpenInterrupt extends OpenQuestion {
  readonly runId: string;
  readonly workflowId: string;
  readonly nodeId: string;
  readonly iteration?: readonly number[];
  readonly interruptId: string;
  readonly requestedAt: string;
  readonly expiresAt?: string;
  readonly votes: readonly { readonly voter: string; readonly action: string }[];
  /** Lets its holder answer this one question without a key. */
  readonly interruptToken?: string;
}

/** Names a key that signs interrupt links; the key itself is derived from the secrets key. */
export interface LinkKey {
  readonly keyId: string;
  /** When it became the current one. */
  readonly since: number;
}

export interface RotatedLinkKey extends LinkKey {
  /** Its links are still accepted, until the next rotation. */
  readonly previousKeyId?: string;
}

/** Who answers through a link, and how. */
export interface LinkUse {
  /** Where the answer came from, for the audit log. */
  readonly address?: string;
  /** Keys of a link's holder belong to the question behind it, and to no other. */
  readonly idempotency?: IdempotencyClaim;
}

export type LinkAnswer =
  | {
      readonly replayed: false;
      readonly runId: string;
      readonly nodeId: string;
      readonly status: RunStatus | 'cancelling';
      readonly verdict: Verdict | undefined;
    }
  | ReplayedAnswer;

export interface Explanation {
  readonly runId: string;
  readonly status: RunStatus | 'cancelling';
  /** What it waits for. */
  readonly waitingFor:
    | 'nothing'
    | 'timer'
    | 'retry'
    | 'effect'
    | 'interrupt'
    | 'child'
    | 'claim'
    | 'queue'
    | 'resume'
    | 'command'
    | 'release';
  readonly sentence: string;
  readonly nodeId?: string;
  /** The child run it waits for. */
  readonly childRunId?: string;
  readonly until?: string;
  readonly holder?: string;
}

export interface RegisterOptions {
  /** A trigger that this host does not serve is an error instead of a warning. */
  readonly strict: boolean;
  /** A changed definition under the same version is registered as VERSION+<8 hex>. */
  readonly dev: boolean;
}

export interface Registration {
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly created: boolean;
  readonly warnings: readonly WorkflowProblem[];
}

/** One thing wrong (or doubtful) in a definition, with the JSON Pointer of the place. */
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
}

export interface WorkflowSummary {
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly digest: string;
  readonly registeredAt: string;
  readonly nodes: number;
}

export interface NewKey {
  readonly tenant?: string;
  readonly principal: string;
  readonly kind: 'service' | 'user';
  readonly scopes: readonly string[];
  readonly expiresAt?: number;
  readonly label?: string;
}

export interface CreatedKey {
  readonly replayed: false;
  /** Shown once. */
  readonly key: string;
  readonly row: ApiKeyRow;
}

export type SecretScope = 'tenant' | 'user';

export interface NewSecret {
  readonly id: string;
  readonly value: string;
  /** A user's secret is the caller's own, and goes before the tenant's of the same id. */
  readonly scope: SecretScope;
}

export interface SecretSummary {
  readonly id: string;
  readonly scope: SecretScope;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** False when it was stored with another key than the host has now. */
  readonly usable: boolean;
}

export interface ArtifactSummary extends ArtifactRef {
  readonly name: string;
  readonly nodeKey: string;
  readonly createdAt: string;
}

export interface ReadableArtifact extends ArtifactSummary {
  /** The bytes, read piece by piece as they are asked for. */
  read(): AsyncIterable<Uint8Array>;
}

export type Authentication =
  | { readonly state: 'ok'; readonly caller: Caller }
  | { readonly state: 'unknown' | 'expired' | 'revoked' };
