export { ALL_SCOPES } from '@weft/protocol';
export { createHost, DEFAULT_TENANT } from './host/create-host.ts';
export { createTrialRunner } from './host/wiring/create-trial-runner.ts';
export type { TrialRequest, Trials } from './ports/trials.ts';
export type { HostOptions } from './host/create-host.ts';
export { canonicalDigest } from './core/json/canonical-digest.ts';
export type { Anomaly } from './core/audit/chain-walk.ts';
export { createExportVerifier } from './core/audit/exported-log.ts';
export type { ExportVerification, ExportVerifier } from './core/audit/exported-log.ts';
export { describeSeal, isSealed, readSeal } from './core/audit/seal.ts';
export type { Seal } from './core/audit/seal.ts';
export type { AuditVerification } from './core/audit/verification.ts';
export { publicKeyText, readPublicKey } from './crypto/ed25519.ts';
export { diffEvents, findDivergence } from './core/diff/diff-events.ts';
export type { Divergence, EventDifference, LogPages } from './core/diff/diff-events.ts';
export { renderDiff } from './core/diff/render-diff.ts';
export type { RunDiff } from './core/diff/render-diff.ts';
export type { LogEvent } from './core/diff/same-event.ts';
export { stateDiff } from './core/diff/state-diff.ts';
export { spansOf } from './core/bundle/spans.ts';
export { readBundle } from './core/import/read-bundle.ts';
export type { ImportedBundle } from './core/import/read-bundle.ts';
export { checkLog, LOG_RULES } from './core/fold/log-checker.ts';
export type { LogEntry, Violation } from './core/fold/log-checker.ts';
export { isTerminalEvent, TERMINAL_EVENTS } from './model/run-event.ts';
export { asRunEvent } from './model/run-event.ts';
export { isTerminalStatus, nodeKey } from './model/run-state.ts';
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
} from './model/run-state.ts';
export type * from './host/host.ts';
export { LOCALE } from './host/capabilities.ts';
export { DamagedRunError } from './model/damaged-run-error.ts';
export { erasedCommand, erasedRecord } from './model/erased-record.ts';
export { openMemoryStore } from './memory-store/memory-store.ts';
export type { MemoryStoreOptions, StoreFaults } from './memory-store/memory-store.ts';
export { NodeFailure } from './model/node-type.ts';
export type {
  ChildrenNodeType,
  ChildSpec,
  EffectContext,
  EffectInput,
  EffectNodeType,
  Egress,
  EgressRequest,
  EgressResponse,
  EgressStream,
  InterruptNodeType,
  LoopNodeType,
  NodeInput,
  NodeResult,
  NodeType,
  OutputChunk,
  PrepareTools,
  PureNodeType,
  Question,
  StopSignal,
  TimerNodeType,
} from './model/node-type.ts';
export { BUILTIN_NODE_TYPES } from './nodes/index.ts';
export { closingMeta, POLICY_DENIED, POLICY_MODES } from './ports/models.ts';
export type {
  FinishReason,
  ModelChoice,
  ModelContext,
  ModelMessage,
  ModelPolicy,
  ModelProvider,
  ModelReply,
  ModelRequest,
  Models,
  ModelToolCall,
  CallMeter,
  SpentCall,
  Usage,
  OfferedModels,
  OfferedProvider,
} from './ports/models.ts';
export type { PackFormat, PackPublication, ReadPack } from './ports/packs.ts';
export { parseRetryAfter } from './nodes/http/http-failures.ts';
export { TASK_STATES, unknownPeer } from './ports/peers.ts';
export { MAX_HOPS } from './runtime/peers/hops.ts';
export type {
  PeerArtifact,
  PeerCard,
  PeerContext,
  PeerMessage,
  PeerPart,
  Peers,
  PeerSkill,
  PeerTask,
  PeerTaskRef,
  PeerTaskState,
} from './ports/peers.ts';
export type { Tool, ToolCall, ToolContext, ToolResult, Tools, ToolServerStatus } from './ports/tools.ts';
export type { TaskPushBody, TaskPushFormat, ToldTask } from './ports/task-pushes.ts';
export { checkArguments } from './nodes/tools/tool-arguments.ts';
export { renderNodeReference } from './nodes/reference.ts';
export { renderTypedNodes } from './nodes/typed-nodes.ts';
export { AuditAnchorError } from './runtime/audit/audit-anchor.ts';
export type { AuditAnchor } from './runtime/audit/audit-anchor.ts';
export { reanchorAudit } from './runtime/audit/audit-reanchor.ts';
export type { Reanchored } from './runtime/audit/audit-reanchor.ts';
export type { Authenticate } from './ports/authenticate.ts';
export { SYSTEM_CLOCK } from './ports/clock.ts';
export type { Clock } from './ports/clock.ts';
export { createEgress } from './runtime/egress/egress.ts';
export type { EgressOptions } from './runtime/egress/egress.ts';
export { EgressError } from './runtime/egress/egress-error.ts';
export type { RandomBytes } from './runtime/runs/ids.ts';
export { recordFromText } from './core/json/lazy-inputs.ts';
export { createFairQueue } from './runtime/fairness/fair-queue.ts';
export { createGate } from './runtime/fairness/gate.ts';
export type { Gate } from './runtime/fairness/gate.ts';
export { jsonText, nextTurn, runCooperatively } from './runtime/fairness/run-cooperatively.ts';
export { createLoads, isOverShare } from './runtime/fairness/loads.ts';
export { StopSource } from './runtime/effects/stop-source.ts';
export { createSecretMask } from './runtime/secrets/mask.ts';
export type { SecretMask } from './runtime/secrets/mask.ts';
export { ensureFirstKey } from './runtime/auth/first-key.ts';
export type { FirstKey } from './runtime/auth/first-key.ts';
export { LIVE_PREFIX, newKey, TEST_PREFIX } from './runtime/auth/keys.ts';
export { DEFAULT_LIMITS, limitsFrom } from './host/limits.ts';
export type { GrpcOffer } from './host/capabilities.ts';
export type { HostLimits } from './host/limits.ts';
export type { Log, LogLevel } from './ports/log.ts';
export { ENGINE_VERSION, EVENT_LOG_SCHEMA_VERSION, PROTOCOL_VERSION } from './model/versions.ts';
export { assertStorable, isStorable, UnstorableTextError } from './model/storable-text.ts';
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
  DocumentWrite,
  EnqueuedRow,
  DrainPolicy,
  DueDocument,
  DueDocuments,
  DueRun,
  EraseUnit,
  ExpiredRun,
  HolderRow,
  IdempotencyRecord,
  KeyUnit,
  Listed,
  LeasedTask,
  NewOutboxRow,
  NewTask,
  Signal,
  OpenBackup,
  OutboxRow,
  OutboxUnit,
  Page,
  ParkedRun,
  PurgeUnit,
  Refusal,
  ResolveCommand,
  RevokeKeyUnit,
  RunCounts,
  CostQuery,
  CostRow,
  CostSums,
  UsageRow,
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
  CommandResult,
  WorkflowRow,
  WorkflowUnit,
  WriteResult,
  WriteUnit,
  StoredTask,
  Tasks,
  TaskType,
} from './ports/store.ts';
export type { TenantBudget, TenantBudgets } from './runtime/costs/tenant-budgets.ts';
