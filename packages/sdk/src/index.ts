export type {
  Annotation,
  AnnotationCreate,
  Capabilities,
  DebugBundle,
  EventPayloads,
  Json,
  JsonObject,
  RunSnapshot,
  WorkflowDefinition,
} from '@weft/protocol/plain';
export { ApiPromise, type WithResponse } from './api-promise.ts';
export type { ArtifactContent, Artifacts, ArtifactSummary } from './artifacts.ts';
export type { Annotations } from './annotations.ts';
export type { Audit, AuditExportPage, AuditRange } from './audit.ts';
export type { BundleOptions, Bundles } from './bundles.ts';
export { type Client, createClient } from './client.ts';
export type { Cluster, ClusterNode } from './cluster.ts';
export type { DiffOptions, Diffs, EventDifferenceDocument, RunDiffDocument } from './diff.ts';
export {
  type BulkCancelAnswer,
  type BulkCancelItem,
  type CreatedKey,
  type CreatedRun,
  type EventsPage,
  type InterruptVote,
  type KeySummary,
  type Listing,
  type NewKey,
  type NewRun,
  type OpenInterrupt,
  type PageRequest,
  type ResolveAnswer,
  type RotatedLinkKey,
  type RunCommandAnswer,
  type RunDocument,
  type RunEventDocument,
  type RunExplanation,
  type RunFilter,
  type RunSummary,
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
export type { NodeTypeEntry, NodeTypes } from './node-types.ts';
export { ApiError, ConnectionError } from './errors.ts';
export type { EventStreamOptions } from './event-stream.ts';
export type { FailedVisit, ForkedRun, ForkRequest, Forks, RunAncestry } from './forks.ts';
export type { ImportedRun, Imports } from './imports.ts';
export type { Interrupts } from './interrupts.ts';
export type { BackupContent, Operations, Retention } from './operations.ts';
export type { Keys } from './keys.ts';
export { type ListPromise, PagePromise } from './page-promise.ts';
export type {
  KnownEvent,
  KnownEventType,
  OtherEvent,
  OtherEventType,
  OutputChunk,
  RunEvent,
  Streamed,
} from './run-events.ts';
export type { CreateRunOptions, Idempotent, PauseOptions, PollOptions, Runs } from './runs.ts';
export type { NewSecret, Secrets, SecretScope, SecretSummary } from './secrets.ts';
export type { ClientOptions, Fetch } from './transport.ts';
export { RunEndedError, type WaitOptions } from './wait.ts';
export type {
  CreatedWebhook,
  DeadDelivery,
  NewWebhook,
  SigningSecret,
  Webhooks,
  WebhookSummary,
} from './webhooks.ts';
export type { Workflows } from './workflows.ts';
