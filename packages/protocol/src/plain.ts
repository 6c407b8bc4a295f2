/**
 * What a client needs of the protocol, without the schemas: those and their validators are some 500 files, and a command line
 * that only asks a host something is there before they are read.
 */
export { DIFF_EXCLUDED_NAMES } from './documents/diff-excluded-names.ts';
export { fullForm } from './documents/full-form.ts';
export { HostError, isHostError } from './errors/errors.ts';
export { waitingFor } from './events/interrupt-kinds.ts';
export type { InterruptKind } from './events/interrupt-kinds.ts';
export { isJsonObject } from './json/json.ts';
export type { Json, JsonObject } from './json/json.ts';
export { RESERVED_TYPE_PREFIXES } from './documents/reserved-type-prefixes.ts';
export { RUN_STATUSES } from './documents/run-statuses.ts';
export { SCOPES } from './documents/scopes.ts';
export { STREAM_MODES } from './events/stream-mode-names.ts';
export type { StreamMode } from './events/stream-mode-names.ts';
export { PACKS_PATH, endpointOf, pathOf, takesIdempotencyKey } from './routes/endpoints.ts';
export type { Endpoint } from './routes/endpoints.ts';
export { parseStrictJson } from './json/strict-json.ts';
export type {
  Ancestry,
  Annotation,
  AnnotationCreate,
  AuditVerificationDocument,
  Capabilities,
  ClusterNodeDocument,
  DeadDelivery,
  DebugBundle,
  EventPayloads,
  ForkRunResponse,
  NodeTypeDocument,
  RegisteredWorker,
  RegisterWorkerRequest,
  RunOptions,
  RunSnapshot,
  RunSummary,
  TaskError,
  TaskReceipt,
  TaskReport,
  WorkerMessage,
  WorkflowDefinition,
} from './wire-types.ts';
