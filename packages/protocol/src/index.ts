export {
  ANNOTATION_TARGETS,
  AnnotationCreateSchema,
  AnnotationListSchema,
  AnnotationSchema,
  RUN_ANNOTATED,
  showsAnnotations,
  SIGNAL_KINDS,
} from './annotations.ts';
export type { Annotation, AnnotationCreate } from './annotations.ts';
export { createAllowance } from './allowance.ts';
export type { Allowance } from './allowance.ts';
export { AuditExportPageSchema, AuditIntegritySchema, AuditVerificationSchema } from './audit.ts';
export type { AuditVerificationDocument } from './audit.ts';
export { BudgetExceeded, DEFAULT_WORK_LIMITS, WorkBudget } from './budget.ts';
export type { WorkLimits } from './budget.ts';
export { CapabilitiesSchema, GrpcSchema, LimitsSchema, mirrorFamilies } from './capabilities.ts';
export type { Capabilities, CapabilityLimits } from './capabilities.ts';
export { canonicalJson, canonicalParts } from './canonical.ts';
export { INTERRUPT_KINDS } from './catalogue/payload-parts.ts';
export type { EventRow } from './catalogue/row.ts';
export { BUNDLE_VERSION, BundleExtrasSchema, DebugBundleSchema, SpanSchema } from './debug-bundle.ts';
export type { DebugBundle, Span } from './debug-bundle.ts';
export { ErrorEnvelopeSchema, toEnvelope } from './envelope.ts';
export type { EnvelopedError, ErrorEnvelope } from './envelope.ts';
export type { ClusterNodeDocument } from './cluster-routes.ts';
export { ERRORS, HostError, isHostError } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export {
  EVENT_CATALOGUE,
  EVENT_TYPES,
  eventType,
  isVendorType,
  VENDOR_TYPE_PATTERN,
} from './event-catalogue.ts';
export { RunEventDocSchema } from './events.ts';
export type { RunEventDoc } from './events.ts';
export {
  CreatedKeySchema,
  CreateKeySchema,
  ExplanationSchema,
  HealthSchema,
  IdentitySchema,
  ImportedRunSchema,
  InterruptListSchema,
  KeyListSchema,
  RegistrationSchema,
  RunListSchema,
  RunSummarySchema,
  RetentionSchema,
  SetRetentionSchema,
  StatsSchema,
  WorkflowListSchema,
  WorkflowProblemSchema,
  WorkflowReportSchema,
} from './host-extension.ts';
export type { CreateKeyRequest } from './host-extension.ts';
export { eventId } from './ids.ts';
export { isJsonObject } from './json.ts';
export type { Json, JsonObject } from './json.ts';
export { isName, NAME_FORMAT, nameProblem, shownName } from './names.ts';
export { compilePattern, PatternError } from './pattern/pattern.ts';
export type { Pattern } from './pattern/pattern.ts';
export { openApiDocument } from './openapi.ts';
export type { OpenApiOptions } from './openapi.ts';
export { renderReference } from './reference.ts';
export type { ReferencePage } from './reference.ts';
export { AncestrySchema, ForkRunResponseSchema, ForkRunSchema, HostForkRunSchema } from './forks.ts';
export type { Ancestry, ForkRunRequest, ForkRunResponse, HostForkRunRequest } from './forks.ts';
export { operationOf, pathParameters, ROUTES, route } from './routes.ts';
export type { Answer, Parameter, Route } from './routes.ts';
export {
  BULK_CANCEL_MAX_RUN_IDS,
  BulkCancelRequestSchema,
  BulkCancelResponseSchema,
  CancelRequestSchema,
  CancelResponseSchema,
  ConfigurableSchema,
  CreateRunResponseSchema,
  CreateRunSchema,
  PauseRequestSchema,
  PauseResponseSchema,
  PollResponseSchema,
  OpenQuestionSchema,
  ResolveRequestSchema,
  ResolveResponseSchema,
  ResumeRequestSchema,
  ResumeResponseSchema,
  RunOptionsSchema,
  RunSnapshotSchema,
  RunStatusSchema,
} from './runs.ts';
export type {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRequest,
  CancelResponse,
  Configurable,
  CreateRunRequest,
  CreateRunResponse,
  PauseRequest,
  PauseResponse,
  PollResponse,
  ResumeRequest,
  ResumeResponse,
  RunError,
  RunOptions,
  RunOwner,
  RunSnapshot,
} from './runs.ts';
export { ALL_SCOPES, isScope, SCOPES } from './scopes.ts';
export type { Scope } from './scopes.ts';
export { RUN_STATUSES } from './run-statuses.ts';
export type { SnapshotStatus } from './run-statuses.ts';
export { mapOf, namedValues, nameOf } from './schema-parts.ts';
export { createSseParser, sseComment, sseFrame } from './sse.ts';
export type { SseEvent, SseFrame, SseParser } from './sse.ts';
export {
  admits,
  DEFAULT_STREAM_MODE,
  parseStreamModes,
  triggersSnapshot,
} from './stream-modes.ts';
export { STREAM_MODES } from './stream-mode-names.ts';
export type { StreamMode } from './stream-mode-names.ts';
export { DIFF_EXCLUDED_NAMES } from './diff-excluded-names.ts';
export {
  ArtifactListSchema,
  SECRET_SCOPES,
  SecretListSchema,
  SecretSchema,
  SetSecretSchema,
} from './secrets-and-artifacts.ts';
export type { SetSecretRequest } from './secrets-and-artifacts.ts';
export { parseStrictJson, strictJsonInSteps } from './strict-json.ts';
export type { StrictJsonOptions } from './strict-json.ts';
export { countOf, indexOf, lastIndexOf, searchSteps } from './text-search.ts';
export { toIso } from './time.ts';
export { assertValid, compileValidator } from './validate.ts';
export type { Problem, Validator } from './validate.ts';
export { compileClientSchema } from './client-schema/client-schema.ts';
export type { ClientSchema } from './client-schema/client-schema.ts';
export {
  CallbackSecretSchema,
  DeliveryListSchema,
  RegisteredWebhookSchema,
  RegisterWebhookSchema,
  WebhookListSchema,
} from './webhooks.ts';
export type { RegisterWebhookRequest } from './webhooks.ts';
export { assembleWireEvent, EVENT_SCHEMA_VERSION } from './wire-event.ts';
export type { WireEventParts } from './wire-event.ts';
export { NodeSettingsSchema, WorkflowDefinitionSchema, WorkflowNodeSchema } from './workflow.ts';
export type {
  AgentRef,
  ChannelDeclaration,
  EdgeCondition,
  PortValue,
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowMetadata,
  WorkflowNode,
  WorkflowNodeSettings,
  WorkflowSettings,
  WorkflowTrigger,
  WorkflowVariable,
} from './workflow.ts';
