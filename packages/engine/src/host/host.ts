import type {
  Ancestry,
  Annotation,
  AnnotationCreate,
  Capabilities,
  Json,
  JsonObject,
  RunSnapshot,
  WorkflowDefinition,
} from '@weft/protocol';
import type { ApiKeyRow, AuditEntry, Command, Listed, OpenBackup, Page, RunFilter } from '../ports/store.ts';
import type { ClusterOperations } from './cluster-operations.ts';
import type { AuditVerification } from '../core/audit/verification.ts';
import type { RunDiff } from '../core/diff/render-diff.ts';
import type { TelemetryOperations } from './telemetry-operations.ts';
import type { WebhookOperations } from './webhook-operations.ts';
import type {
  Accepted,
  Annotated,
  ArtifactSummary,
  AuditExportPage,
  Authentication,
  BundleRequest,
  Caller,
  CommandAnswer,
  CreatedKey,
  Cursor,
  EventPage,
  Explanation,
  FollowOptions,
  ForkRequest,
  Forked,
  IdempotencyClaim,
  ImportedRun,
  LinkAnswer,
  LinkUse,
  NewKey,
  NewRun,
  NewSecret,
  OpenInterrupt,
  OpenQuestion,
  ReadableArtifact,
  RegisterOptions,
  Registration,
  RememberedAnswer,
  ReplayedAnswer,
  Retention,
  RotatedLinkKey,
  RunSummary,
  SecretScope,
  SecretSummary,
  SnapshotView,
  WorkflowReport,
  WorkflowSummary,
} from './host-types.ts';

export type {
  Accepted,
  Annotated,
  ArtifactSummary,
  AuditExportPage,
  Authentication,
  BundleRequest,
  Caller,
  CommandAnswer,
  CreatedKey,
  Cursor,
  EventPage,
  Explanation,
  FollowOptions,
  FollowedEvent,
  ForkRequest,
  Forked,
  IdempotencyClaim,
  ImportedRun,
  LinkAnswer,
  LinkUse,
  LinkKey,
  NewKey,
  NewRun,
  NewSecret,
  OpenInterrupt,
  OpenQuestion,
  ReadableArtifact,
  RegisterOptions,
  Registration,
  RememberedAnswer,
  ReplayedAnswer,
  Retention,
  RotatedLinkKey,
  RunSummary,
  SecretScope,
  SecretSummary,
  SnapshotView,
  WireEvent,
  WorkflowProblem,
  WorkflowReport,
  WorkflowSummary,
} from './host-types.ts';

/**
 * What the server may ask of the engine. Everything is asked on behalf of a caller; whatever the caller's tenant
 * may not see is `undefined`, exactly as what does not exist. Failures a client may see are thrown as HostError.
 */
export interface Host extends WebhookOperations, TelemetryOperations, ClusterOperations {
  createRun(caller: Caller, request: NewRun, idempotency?: IdempotencyClaim): Promise<Accepted>;
  /** A new run whose log begins as that of an earlier one. */
  fork(
    caller: Caller,
    runId: string,
    request: ForkRequest,
    idempotency?: IdempotencyClaim,
  ): Promise<Forked | undefined>;
  /** Which run started this one as a child; one step up. */
  ancestry(caller: Caller, runId: string): Promise<Ancestry | undefined>;
  snapshot(caller: Caller, runId: string): Promise<SnapshotView | undefined>;
  /** The run as it stood after the event `at`; after its newest when left out. Throws `sequence_out_of_range`. */
  stateAt(caller: Caller, runId: string, at?: number): Promise<RunSnapshot | undefined>;
  /** Events after `afterSeq` (−1 = from the first), as wire documents. */
  events(caller: Caller, runId: string, afterSeq: number, limit: number): Promise<EventPage | undefined>;
  /**
   * Waits until the run has an event after `afterSeq`, has ended, the time is up or the signal is aborted.
   * Resolves at once when one of these already holds.
   */
  waitForEvents(runId: string, afterSeq: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /**
   * A live cursor over the log. Undefined when the caller may not see the run; so a 404 is decided before the first byte.
   * Each `next` resolves with at least one event, or with `[]` after `keepaliveMs` without one, or with undefined at the end
   * (terminal event delivered, or signal aborted).
   */
  follow(caller: Caller, runId: string, options: FollowOptions): Promise<Cursor | undefined>;
  /** Durable in the inbox before it resolves; the verdict is absent when the holder has not answered within two seconds. */
  command(
    caller: Caller,
    runId: string,
    command: Command,
    idempotency?: IdempotencyClaim,
  ): Promise<CommandAnswer | undefined>;
  /**
   * For acts that are idempotent by nature (many commands, a registration, a revocation): carries the act out and remembers
   * its answer under the client's key. A crash in between repeats the act, which then changes nothing.
   */
  once(
    caller: Caller,
    claim: IdempotencyClaim | undefined,
    act: () => Promise<Json>,
  ): Promise<RememberedAnswer>;
  listRuns(caller: Caller, filter: RunFilter, page: Page): Promise<Listed<RunSummary>>;
  /** Open questions of the tenant's runs, newest run first. A page is counted in runs. */
  listInterrupts(caller: Caller, page: Page): Promise<Listed<OpenInterrupt>>;
  /** The question behind a signed link. Throws HostError when there is none, or no longer. */
  inspectLink(token: string): Promise<OpenQuestion>;
  /** Answers through a signed link. */
  answerLink(token: string, value: Json, use?: LinkUse): Promise<LinkAnswer>;
  /**
   * Gives a quarantined run another chance. False when the caller may not see it; throws `conflict` when it is not quarantined.
   */
  releaseRun(caller: Caller, runId: string): Promise<boolean>;
  /** Open runs that are quarantined, of all tenants. */
  quarantinedRuns(): Promise<number>;
  /** In one sentence, and as data, what the run waits for. */
  explain(caller: Caller, runId: string): Promise<Explanation | undefined>;

  /**
   * Compares the logs and states of two runs, as long as they are now. Undefined when the caller may not see both. The first
   * difference is found before it resolves; the others are found while they are read, until the signal is aborted.
   */
  diff(caller: Caller, runId: string, against: string, signal: AbortSignal): Promise<RunDiff | undefined>;

  /**
   * A bundle of any OpenWOP host becomes a run that is only read here. The same bundle again is the same run. Throws HostError
   * `bundle_invalid` with the reason, and then nothing was written.
   */
  importBundle(caller: Caller, bundle: Json): Promise<ImportedRun>;

  /**
   * The run as one document to carry away, as JSON text in pieces that are made as they are asked for. Undefined when the
   * caller may not see the run.
   */
  debugBundle(
    caller: Caller,
    runId: string,
    request?: BundleRequest,
  ): Promise<AsyncIterable<string> | undefined>;
  /** Keeps what somebody says about a run, ended or not. Undefined for an unknown run. */
  annotate(
    caller: Caller,
    runId: string,
    request: AnnotationCreate,
    idempotency?: IdempotencyClaim,
  ): Promise<Annotated | undefined>;
  /** Oldest first; undefined for an unknown run. */
  listAnnotations(caller: Caller, runId: string): Promise<readonly Annotation[] | undefined>;
  /**
   * Calls back with a JSON document for each annotation of the run made through this process. It is news, no fact of the log;
   * whoever asks has seen to it that the reader may see the run. Returns the way to stop.
   */
  onAnnotated(runId: string, listener: (document: string) => void): () => void;

  registerWorkflow(caller: Caller, definition: unknown, options: RegisterOptions): Promise<Registration>;
  /** Every problem at once; writes nothing. */
  checkWorkflow(definition: unknown, tenant?: string): Promise<WorkflowReport>;
  workflow(caller: Caller, id: string, version?: string): Promise<WorkflowDefinition | undefined>;
  listWorkflows(caller: Caller, page: Page): Promise<Listed<WorkflowSummary>>;

  createKey(
    caller: Caller,
    request: NewKey,
    idempotency?: IdempotencyClaim,
  ): Promise<CreatedKey | ReplayedAnswer>;
  /** Of the caller's tenant; of another with `host:admin`. */
  listKeys(caller: Caller, tenant?: string): Promise<readonly ApiKeyRow[]>;
  revokeKey(caller: Caller, keyId: string, tenant?: string): Promise<boolean>;
  /** From now on interrupt links are signed with a new key. Those of the key before stay valid until the next rotation. */
  rotateLinkKey(caller: Caller): Promise<RotatedLinkKey>;
  /** Who this key is; the answer may be cached for a second. */
  authenticate(key: string): Promise<Authentication>;
  audit(entry: Omit<AuditEntry, 'at'>): Promise<void>;
  /**
   * Holds a range of the audit log against its chain and its signed checkpoints. The log is one for all tenants; what is said
   * about it is sequences and hashes only. A range beyond the end is moved to what there is.
   */
  verifyAudit(fromSeq: number, toSeq: number): Promise<AuditVerification>;
  /** The whole audit log of all tenants, page by page, as the lines of a file that can be verified without the host. */
  exportAudit(cursor: string | undefined): Promise<AuditExportPage>;

  /** Keeps a secret, encrypted. From then on only effects see its value. */
  setSecret(
    caller: Caller,
    request: NewSecret,
    idempotency?: IdempotencyClaim,
  ): Promise<{ readonly replayed: false; readonly secret: SecretSummary } | ReplayedAnswer>;
  /** The tenant's secrets and the caller's own, by id; never their values. */
  listSecrets(caller: Caller): Promise<readonly SecretSummary[]>;
  /** False when there is none. */
  removeSecret(caller: Caller, secretId: string, scope: SecretScope): Promise<boolean>;

  /** Something a run has produced. Undefined for an unknown artifact, as for an unknown run. */
  artifact(caller: Caller, runId: string, artifactId: string): Promise<ReadableArtifact | undefined>;
  /** Newest first; undefined for an unknown run. */
  listArtifacts(caller: Caller, runId: string, page: Page): Promise<Listed<ArtifactSummary> | undefined>;

  /**
   * Takes a run away that has ended, with all that belongs to it; from then on its tenant is told `run_expired`. False when there
   * is none; throws `conflict` while it, or a run that needs it, is under way.
   */
  removeRun(caller: Caller, runId: string): Promise<boolean>;
  /** Takes away what only the fold may see of a run that has ended; its public log stays as it is. Answers like `removeRun`. */
  eraseRun(caller: Caller, runId: string): Promise<boolean>;
  /** How long the tenant's runs are kept after their end. */
  retention(caller: Caller, tenant: string): Promise<Retention>;
  /** `keepMs` null: for ever. */
  setRetention(caller: Caller, tenant: string, keepMs: number | null): Promise<Retention>;
  /** The tenant's runs are kept again as long as the host keeps everybody's. */
  resetRetention(caller: Caller, tenant: string): Promise<Retention>;
  /** A copy of the whole store, of every tenant, while work goes on. The caller closes it. One at a time. */
  openBackup(caller: Caller): Promise<OpenBackup>;

  /** Why this process should not be sent work: undefined when nothing speaks against it. */
  readiness(): Promise<string | undefined>;
  /** The discovery document; the same object until something advertised changes. */
  capabilities(): Capabilities;
  /** Undefined when new work is welcome; otherwise how many seconds to stay away. */
  overload(tenant: string): { readonly retryAfter: number; readonly cause: string } | undefined;
  stats(): JsonObject;
  start(): Promise<void>;
  /** Releases every claim; resolves when nothing is in flight, within the given time. */
  stop(graceMs: number): Promise<void>;
}
