export { ALL_SCOPES } from '@weft/protocol';
export { createHost, DEFAULT_TENANT } from './create-host.ts';
export type { HostOptions } from './create-host.ts';
export { canonicalDigest } from './core/canonical-digest.ts';
export type { Anomaly } from './core/audit/chain-walk.ts';
export { createExportVerifier } from './core/audit/exported-log.ts';
export type { ExportVerification, ExportVerifier } from './core/audit/exported-log.ts';
export { describeSeal, isSealed, readSeal } from './core/audit/seal.ts';
export type { Seal } from './core/audit/seal.ts';
export type { AuditVerification } from './core/audit/verification.ts';
export { publicKeyText, readPublicKey } from './ed25519.ts';
export { diffEvents, findDivergence } from './core/diff/diff-events.ts';
export type { Divergence, EventDifference, LogPages } from './core/diff/diff-events.ts';
export { renderDiff } from './core/diff/render-diff.ts';
export type { RunDiff } from './core/diff/render-diff.ts';
export type { LogEvent } from './core/diff/same-event.ts';
export { stateDiff } from './core/diff/state-diff.ts';
export { spansOf } from './core/bundle/spans.ts';
export { readBundle } from './core/import/read-bundle.ts';
export type { ImportedBundle } from './core/import/read-bundle.ts';
export { checkLog, LOG_RULES } from './core/legal-log.ts';
export type { LogEntry, Violation } from './core/legal-log.ts';
export { isTerminalEvent, TERMINAL_EVENTS } from './core/run-event.ts';
export type { EventDraft, RunEvent } from './core/run-event.ts';
export { isTerminalStatus, nodeKey } from './core/run-state.ts';
export type {
  CreationRecord,
  ForkLink,
  ImportOrigin,
  NodeError,
  NodeKey,
  NodeState,
  NodeStatus,
  ParentLink,
  RunLimits,
  RunState,
  RunStatus,
} from './core/run-state.ts';
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
  FollowedEvent,
  FollowOptions,
  Forked,
  ForkRequest,
  Host,
  IdempotencyClaim,
  ImportedRun,
  LinkAnswer,
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
  RunSummary,
  SecretScope,
  SecretSummary,
  SnapshotView,
  WireEvent,
  WorkflowProblem,
  WorkflowReport,
  WorkflowSummary,
} from './host.ts';
export { DamagedRunError } from './damaged-run-error.ts';
export { erasedRecord } from './erased-record.ts';
export type { ClusterNode, ClusterOperations } from './cluster-operations.ts';
export { openMemoryStore } from './memory-store.ts';
export type { MemoryStoreOptions, StoreFaults } from './memory-store.ts';
export { NodeFailure } from './node-type.ts';
export type {
  ChildrenNodeType,
  ChildSpec,
  EffectContext,
  EffectInput,
  EffectNodeType,
  Egress,
  EgressRequest,
  EgressResponse,
  InterruptKind,
  InterruptNodeType,
  LoopNodeType,
  NodeInput,
  NodeResult,
  NodeType,
  PrepareTools,
  PureNodeType,
  Question,
  StopSignal,
  TimerNodeType,
} from './node-type.ts';
export { BUILTIN_NODE_TYPES } from './nodes/index.ts';
export { renderNodeReference } from './nodes/reference.ts';
export { AuditAnchorError } from './runtime/audit-anchor.ts';
export type { AuditAnchor } from './runtime/audit-anchor.ts';
export { reanchorAudit } from './runtime/audit-reanchor.ts';
export type { Reanchored } from './runtime/audit-reanchor.ts';
export { SYSTEM_CLOCK } from './runtime/clock.ts';
export type { Clock } from './runtime/clock.ts';
export { commandOutcome } from './runtime/commands.ts';
export { createEgress } from './runtime/egress/egress.ts';
export type { EgressOptions } from './runtime/egress/egress.ts';
export type { RandomBytes } from './runtime/ids.ts';
export { recordFromText } from './core/lazy-inputs.ts';
export { createFairQueue } from './runtime/fair-queue.ts';
export { inTurns, nextTurn } from './runtime/in-turns.ts';
export { jsonText } from './runtime/json-text.ts';
export { createLoads, isOverShare } from './runtime/loads.ts';
export { StopSource } from './runtime/stop-source.ts';
export { ensureFirstKey } from './runtime/first-key.ts';
export type { FirstKey } from './runtime/first-key.ts';
export { LIVE_PREFIX, newKey, TEST_PREFIX } from './runtime/keys.ts';
export { DEFAULT_LIMITS, limitsFrom } from './runtime/limits.ts';
export type { HostLimits } from './runtime/limits.ts';
export type { Log, LogLevel } from './runtime/log.ts';
export { ENGINE_VERSION, EVENT_LOG_SCHEMA_VERSION, PROTOCOL_VERSION } from './runtime/versions.ts';
export { assertStorable, isStorable, UnstorableTextError } from './storable-text.ts';
export type {
  ApiKeyRow,
  AuditEntry,
  AuditUnit,
  BlobUnit,
  Checkpoint,
  ChildCommand,
  ClaimBounds,
  Claimed,
  ClaimRef,
  ClaimResult,
  Command,
  CommandUnit,
  CommitWatcher,
  DocumentPlace,
  DocumentUnit,
  DrainPolicy,
  DueRun,
  EraseUnit,
  ExpiredRun,
  HolderRow,
  IdempotencyRecord,
  KeyUnit,
  Listed,
  NewOutboxRow,
  Notice,
  OpenBackup,
  OutboxRow,
  OutboxUnit,
  Page,
  PurgeUnit,
  Refusal,
  ResolveCommand,
  RevokeKeyUnit,
  RunFilter,
  RunHead,
  RunPage,
  RunRow,
  RunUnit,
  SettingUnit,
  Store,
  StoredAuditEntry,
  StoredCommand,
  StoredDocument,
  StoredEvent,
  Suspicion,
  SuspicionUnit,
  Tombstone,
  Verdict,
  WorkflowRow,
  WorkflowUnit,
  WriteResult,
  WriteUnit,
} from './store.ts';
export type {
  CreatedWebhook,
  DeadDelivery,
  NewWebhook,
  SigningSecret,
  WebhookOperations,
  WebhookSummary,
} from './webhook-operations.ts';
export type { CommittedGroup, Observer, RunSpans, TelemetryOperations } from './telemetry-operations.ts';
