import type { Ancestry, Json, JsonObject, RunSnapshot, RunSummary, SnapshotStatus } from '@weft/protocol';
import type { RunDiff } from '../../core/diff/render-diff.ts';
import type { StopSignal } from '../../model/node-type.ts';
import type { RunStatus } from '../../model/run-state.ts';
import type {
  Command,
  Listed,
  Page,
  RunCounts,
  RunFilter,
  StoredEvent,
  CommandResult,
} from '../../ports/store.ts';
import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';

/** Where a run came to rest. */
export interface RunEnd {
  readonly status: SnapshotStatus;
  readonly event: WireEvent;
}

export interface Runs {
  create(caller: Caller, request: NewRun, idempotency?: IdempotencyClaim<AcceptedRun>): Promise<Accepted>;
  /** A new run whose log begins as that of an earlier one. */
  fork(
    caller: Caller,
    runId: string,
    request: ForkRequest,
    idempotency?: IdempotencyClaim<ForkedRun>,
  ): Promise<Forked | undefined>;
  /** Which run started this one as a child; one step up. */
  ancestry(caller: Caller, runId: string): Promise<Ancestry | undefined>;
  snapshot(caller: Caller, runId: string): Promise<SnapshotView | undefined>;
  /** The run as it stood after the event `at`; after its newest when left out. Throws `sequence_out_of_range`. */
  stateAt(caller: Caller, runId: string, at?: number): Promise<RunSnapshot | undefined>;
  /** Shorter than asked for when the signal is aborted meanwhile. */
  list(caller: Caller, filter: RunListFilter, page: Page, signal?: StopSignal): Promise<Listed<RunSummary>>;
  /** How many runs were created when, by status, in buckets of time; of very many the newest. */
  counts(caller: Caller, filter: RunFilter, bucketMs: number): Promise<RunCounts>;
  /** In one sentence, and as data, what the run waits for. */
  explain(caller: Caller, runId: string): Promise<Explanation | undefined>;
  /** Events after `afterSeq` (−1 = from the first), as wire documents. */
  events(caller: Caller, runId: string, afterSeq: number, limit: number): Promise<EventPage | undefined>;
  /**
   * Waits until the run has an event after `afterSeq`, has ended, the time is up or the signal is aborted.
   * Resolves at once when one of these already holds.
   */
  waitForEvents(runId: string, afterSeq: number, timeoutMs: number, signal: StopSignal): Promise<void>;
  /**
   * Waits until the run has ended, is paused, or waits for someone to answer: resolves with the last event of its log then. With undefined when
   * the time is up, the signal is aborted or the caller may not see the run.
   */
  waitForEnd(
    caller: Caller,
    runId: string,
    timeoutMs: number,
    signal: StopSignal,
  ): Promise<RunEnd | undefined>;
  /**
   * A live cursor over the log. Undefined when the caller may not see the run; so a 404 is decided before the first byte.
   * Each `next` resolves with at least one event, or with `[]` after `keepaliveMs` without one, or with undefined at the end
   * (terminal event delivered, or signal aborted).
   */
  follow(caller: Caller, runId: string, options: FollowOptions): Promise<Cursor | undefined>;
  /** Durable in the inbox before it resolves; the result is absent when the holder has not answered within two seconds. */
  command(
    caller: Caller,
    runId: string,
    command: Command,
    idempotency?: IdempotencyClaim<CommandOutcome>,
  ): Promise<CommandAnswer | undefined>;
  /** Takes a run out of quarantine. False when the caller may not see it; throws `conflict` when it is not quarantined. */
  release(caller: Caller, runId: string): Promise<boolean>;
  /**
   * Compares the logs and states of two runs, as long as they are now. Undefined when the caller may not see both. The first
   * difference is found before it resolves; the others are found while they are read, until the signal is aborted.
   */
  diff(caller: Caller, runId: string, against: string, signal: AbortSignal): Promise<RunDiff | undefined>;
}

/** As a store filters, and by `cancelling`: a cancel is accepted and not yet carried out. */
export interface RunListFilter extends Omit<RunFilter, 'status'> {
  readonly status?: readonly SnapshotStatus[];
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

export interface AcceptedRun {
  readonly runId: string;
  readonly status: RunStatus;
  /** Inputs that the workflow does not declare; absent when there are none. */
  readonly ignoredInputs?: readonly string[];
}

export type Accepted = ({ readonly replayed: false } & AcceptedRun) | ReplayedAnswer;

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

export interface ForkedRun extends Pick<ForkRequest, 'mode'> {
  readonly runId: string;
  readonly sourceRunId: string;
  readonly fromSeq: number;
  readonly status: RunStatus;
}

export type Forked = ({ readonly replayed: false } & ForkedRun) | ReplayedAnswer;

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

export interface CommandOutcome {
  /** Undefined while the holder of the run has not answered. */
  readonly commandResult: CommandResult | undefined;
  readonly status: RunStatus | 'cancelling';
}

export type CommandAnswer = ({ readonly replayed: false } & CommandOutcome) | ReplayedAnswer;

export interface Explanation {
  readonly runId: string;
  readonly status: RunStatus | 'cancelling';
  /** What it waits for. */
  readonly waitingFor:
    | 'nothing'
    | 'timer'
    | 'retry'
    | 'effect'
    | 'worker'
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
  /** The task of a node that workers perform. */
  readonly task?: ExplainedTask;
}

export interface ExplainedTask {
  readonly typeId: string;
  readonly version: string;
  /** Since when it waits, or a worker has it. */
  readonly since: string;
  /** Name of the worker that has it. */
  readonly worker?: string;
  /** The process that the worker is connected to. */
  readonly node?: string;
  readonly progress?: { readonly at: string; readonly details?: Json };
}
