export type {
  Annotation,
  AnnotationCreate,
  Capabilities,
  DeadDelivery,
  DebugBundle,
  EventPayloads,
  Json,
  JsonObject,
  RunSnapshot,
  RunSummary,
  WorkflowDefinition,
} from '@weft/protocol/plain';
export { ApiPromise, type WithResponse } from './requests/api-promise.ts';
export type { ArtifactContent, Artifacts, ArtifactSummary } from './runs/artifacts.ts';
export type { Annotations } from './runs/annotations.ts';
export type { Audit, AuditExportPage, AuditRange } from './host/audit.ts';
export type { BundleOptions, Bundles } from './compare/bundles.ts';
export { type Client, createClient } from './client.ts';
export type { Cluster, ClusterNode } from './host/cluster.ts';
export type { DiffOptions, Diffs, EventDifferenceDocument, RunDiffDocument } from './compare/diff.ts';
export {
  type BulkCancelAnswer,
  type BulkCancelItem,
  type CreatedKey,
  type CreatedRun,
  type EventsPage,
  type InterruptVote,
  type KeyHolder,
  type KeySummary,
  type Listing,
  type NewKey,
  type NewRun,
  type OpenInterrupt,
  type PageRequest,
  type ResolveAnswer,
  type OpenedSession,
  type RotatedLinkKey,
  type SignInCode,
  type RunCommandAnswer,
  type RunDocument,
  type RunEventDocument,
  type RunExplanation,
  type RunCountFilter,
  type RunCounts,
  type RunFilter,
  type StreamMode,
  type WaitingWorkflow,
  type WorkflowProblem,
  type WorkflowRegistration,
  type WorkflowReport,
  type WorkflowSummary,
  isTerminalStatus,
  nodeNameOf,
  openInterruptsOf,
} from './documents.ts';
export type { NodeTypeEntry, NodeTypes } from './host/node-types.ts';
export type { PeerCard, PeerEntry, Peers, PeerSkill, PeerTest } from './host/peers.ts';
export type {
  ToolEntry,
  ToolOutcome,
  ToolServerEntry,
  ToolServers,
  ToolServerTest,
} from './host/tool-servers.ts';
export type {
  CostEntry,
  CostFilter,
  CostGroup,
  CostReport,
  Costs,
  CostSums,
  ModelPrice,
  PriceList,
  PriceListSummary,
} from './host/costs.ts';
export type { ModelCatalogue, ModelList, ModelProviderEntry, ModelTest } from './host/models.ts';
export type { Workers, WorkerSummary } from './host/workers.ts';
export { ApiError, ConnectionError } from './requests/errors.ts';
export type { EventStreamOptions } from './streams/event-stream.ts';
export type { FailedVisit, ForkedRun, ForkRequest, Forks, RunAncestry } from './compare/forks.ts';
export type { ImportedRun, Imports } from './compare/imports.ts';
export type { Interrupts, LinkedQuestion, OpenQuestion } from './runs/interrupts.ts';
export type { BackupContent, Operations, Retention } from './host/operations.ts';
export type { Keys } from './host/keys.ts';
export { type ListPromise, PagePromise } from './requests/page-promise.ts';
export type {
  KnownEvent,
  KnownEventType,
  OtherEvent,
  OtherEventType,
  OutputChunk,
  RunEvent,
  Streamed,
} from './runs/run-events.ts';
export type { CreateRunOptions, Idempotent, PauseOptions, PollOptions, Runs } from './runs/runs.ts';
export type { DeadLetter, DeadLetters } from './host/dead-letters.ts';
export type {
  NewSchedule,
  OverlapPolicy,
  ScheduleBackfill,
  ScheduleDetails,
  ScheduleFiring,
  Schedules,
  ScheduleSummary,
} from './host/schedules.ts';
export type { AgentEntry, Agents } from './host/agents.ts';
export type {
  NewPrompt,
  Prompt,
  PromptKind,
  PromptQuery,
  PromptRendering,
  Prompts,
  PromptVariable,
  RenderPrompt,
} from './host/prompts.ts';
export type { CreatedTrigger, NewTrigger, Triggers, TriggerScheme, TriggerSummary } from './host/triggers.ts';
export type { NewSecret, Secrets, SecretScope, SecretSummary } from './host/secrets.ts';
export type { Sessions } from './host/sessions.ts';
export type { ClientOptions, Fetch } from './requests/transport.ts';
export { RunEndedError, type WaitOptions } from './runs/wait.ts';
export type {
  CreatedWebhook,
  NewWebhook,
  SigningSecret,
  Webhooks,
  WebhookSummary,
} from './host/webhooks.ts';
export type { Workflows } from './host/workflows.ts';
