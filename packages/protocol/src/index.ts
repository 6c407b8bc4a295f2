export {
  AiEnvelopeSchema,
  ENVELOPE_KINDS,
  ENVELOPE_PAYLOADS,
  ENVELOPE_VERSION,
  isEnvelopeKind,
} from './documents/agents/ai-envelope.ts';
export type { EnvelopeKind, EnvelopePayload } from './documents/agents/ai-envelope.ts';
export {
  ANNOTATION_TARGETS,
  AnnotationCreateSchema,
  AnnotationListSchema,
  AnnotationSchema,
  RUN_ANNOTATED,
  showsAnnotations,
  SIGNAL_KINDS,
} from './documents/annotations.ts';
export type { Annotation, AnnotationCreate } from './documents/annotations.ts';
export { createAllowance } from './validation/allowance.ts';
export type { Allowance } from './validation/allowance.ts';
export { AuditExportPageSchema, AuditIntegritySchema, AuditVerificationSchema } from './documents/audit.ts';
export type { AuditVerificationDocument } from './documents/audit.ts';
export { BudgetExceeded, DEFAULT_WORK_LIMITS, WorkBudget } from './validation/budget.ts';
export type { WorkLimits } from './validation/budget.ts';
export { CapabilitiesSchema, GrpcSchema, LimitsSchema, mirrorFamilies } from './documents/capabilities.ts';
export type { Capabilities, CapabilityLimits } from './documents/capabilities.ts';
export { canonicalJson, canonicalParts } from './json/canonical.ts';
export { INTERRUPT_KINDS, waitingFor } from './events/interrupt-kinds.ts';
export type { InterruptKind } from './events/interrupt-kinds.ts';
export type { EventRow } from './events/catalogue/row.ts';
export { WEFT_EVENTS } from './events/catalogue/weft.ts';
export {
  BUNDLE_VERSION,
  BundleExtrasSchema,
  DebugBundleSchema,
  SpanSchema,
} from './documents/debug-bundle.ts';
export type { DebugBundle, Span } from './documents/debug-bundle.ts';
export { ErrorEnvelopeSchema, toEnvelope } from './errors/envelope.ts';
export type { EnvelopedError, ErrorEnvelope } from './errors/envelope.ts';
export type { ClusterNodeDocument } from './routes/cluster-routes.ts';
export { fieldName } from './json/field-name.ts';
export { ERRORS, HostError, isHostError } from './errors/errors.ts';
export type { ErrorCode } from './errors/errors.ts';
export { ENVELOPE_TYPE, GRPC_STATUS, grpcStatusOf } from './errors/grpc-status.ts';
export {
  EVENT_CATALOGUE,
  EVENT_TYPES,
  eventType,
  isVendorType,
  VENDOR_TYPE_PATTERN,
} from './events/event-catalogue.ts';
export type { DocumentedPayloads } from './events/event-catalogue.ts';
export { RunEventDocSchema } from './events/events.ts';
export type { RunEventDoc } from './events/events.ts';
export {
  CreatedKeySchema,
  CreateKeySchema,
  ExplanationSchema,
  HealthSchema,
  IdentitySchema,
  ImportedRunSchema,
  InterruptListSchema,
  LinkedQuestionSchema,
  KeyListSchema,
  OpenSessionSchema,
  RegistrationSchema,
  RUN_BUCKETS,
  RunListSchema,
  RunSummarySchema,
  RetentionSchema,
  SetRetentionSchema,
  StatsSchema,
  WorkflowListSchema,
  WorkflowProblemSchema,
  WorkflowReportSchema,
} from './documents/host-extension.ts';
export type { CreateKeyRequest, RunSummary } from './documents/host-extension.ts';
export { eventId } from './events/wire-event.ts';
export { isJsonObject } from './json/json.ts';
export type { Json, JsonObject } from './json/json.ts';
export { isName, NAME_FORMAT, nameProblem, shownName } from './json/names.ts';
export { compilePattern, paidPattern, PatternError } from './validation/pattern/pattern.ts';
export type { Pattern } from './validation/pattern/pattern.ts';
export { asyncApiDocument } from './emit/asyncapi.ts';
export { documentFiles } from './emit/document-files.ts';
export type { DocumentFile } from './emit/document-files.ts';
export { openApiDocument } from './emit/openapi.ts';
export { protoDocument } from './emit/proto.ts';
export { grpcService } from './grpc/message-shapes.ts';
export type { FieldShape, MessageShape, MethodShape } from './grpc/message-shapes.ts';
export { GRPC_SERVICE } from './grpc/methods.ts';
export { schemaDocument } from './emit/schema-document.ts';
export { renderReference } from './emit/reference.ts';
export type { ReferencePage } from './emit/reference.ts';
export { renderType, renderWireTypes } from './emit/wire-types.ts';
export {
  AncestrySchema,
  ForkRunResponseSchema,
  ForkRunSchema,
  HostForkRunSchema,
} from './documents/forks.ts';
export type { Ancestry, ForkRunRequest, ForkRunResponse, HostForkRunRequest } from './documents/forks.ts';
export {
  API_PREFIX,
  ENDPOINTS,
  PACKS_PATH,
  pathOf,
  pathParameters,
  REGISTRY_PATH,
} from './routes/endpoints.ts';
export type { Endpoint, OperationId } from './routes/endpoints.ts';
export { ANY_SCOPE } from './routes/route-description.ts';
export type { Answer, Parameter } from './routes/route-description.ts';
export { operationOf, ROUTES, route } from './routes/routes.ts';
export type { Route } from './routes/routes.ts';
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
} from './documents/runs.ts';
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
} from './documents/runs.ts';
export { ALL_SCOPES, isScope, SCOPES } from './documents/scopes.ts';
export type { Scope } from './documents/scopes.ts';
export { RUN_STATUSES } from './documents/run-statuses.ts';
export type { SnapshotStatus } from './documents/run-statuses.ts';
export { mapOf, namedValues, nameOf } from './documents/schema-parts.ts';
export { SENT_BATCH, SENT_CHUNK, SENT_SNAPSHOT } from './documents/event-stream.ts';
export { createSseParser, sseComment, sseFrame } from './events/sse.ts';
export type { SseEvent, SseFrame, SseParser } from './events/sse.ts';
export {
  admits,
  DEFAULT_STREAM_MODE,
  parseStreamModes,
  triggersSnapshot,
} from './events/stream-modes.ts';
export { STREAM_MODES } from './events/stream-mode-names.ts';
export type { StreamMode } from './events/stream-mode-names.ts';
export { DIFF_EXCLUDED_NAMES } from './documents/diff-excluded-names.ts';
export {
  ArtifactListSchema,
  SECRET_SCOPES,
  SecretListSchema,
  SecretSchema,
  SetSecretSchema,
} from './documents/secrets-and-artifacts.ts';
export type { SetSecretRequest } from './documents/secrets-and-artifacts.ts';
export {
  MapNodeTypeSchema,
  NodeTypeDocumentSchema,
  NodeTypeListSchema,
  RegisteredWorkerSchema,
  RegisterWorkerSchema,
  RESERVED_TYPE_PREFIXES,
  TaskReceiptSchema,
  TaskReportSchema,
  TYPE_ID_PATTERN,
  WorkerListSchema,
  WorkerMessageSchema,
} from './documents/workers.ts';
export type {
  NodeTypeDocument,
  NodeTypeEntry,
  RegisteredWorker,
  RegisterWorkerRequest,
  TaskError,
  TaskMessage,
  TaskReceipt,
  TaskReport,
  WorkerDocument,
  WorkerMessage,
} from './documents/workers.ts';
export {
  CreatePromptSchema,
  MAX_PROMPT_BYTES,
  PROMPT_KINDS,
  PROMPT_REF_TEXT,
  RenderPromptSchema,
  UpdatePromptSchema,
} from './documents/agents/prompts.ts';
export type {
  CreatePromptRequest,
  PromptTemplateDocument,
  RenderedPrompt,
  RenderPromptRequest,
  UpdatePromptRequest,
} from './documents/agents/prompts.ts';
export { composePrompt, placeholders } from './prompts/render-prompt.ts';
export type { ComposedPrompt } from './prompts/render-prompt.ts';
export { workflowInputSchema } from './documents/workflow-inputs.ts';
export { AGENT_TOOL_SCOPES } from './documents/agents/agents.ts';
export type { AgentEntry, AgentList } from './documents/agents/agents.ts';
export type { PeerDocument, PeerTest } from './documents/agents/peers.ts';
export { CallToolSchema } from './documents/agents/tools.ts';
export type {
  CallToolRequest,
  ToolOutcome,
  ToolServerDocument,
  ToolServerTest,
} from './documents/agents/tools.ts';
export { parseStrictJson, strictJsonInSteps } from './json/strict-json.ts';
export type { StrictJsonOptions } from './json/strict-json.ts';
export { countOf, indexOf, lastIndexOf, searchSteps } from './json/text-search.ts';
export { toIso } from './json/time.ts';
export { assertValid, compileValidator } from './validation/validate.ts';
export type { Problem, Validator } from './validation/validate.ts';
export { COST_REPORT_GROUPS, PriceListSchema } from './documents/agents/costs.ts';
export type { CostReport, PriceListDocument, PriceListSummary } from './documents/agents/costs.ts';
export { TestModelSchema } from './documents/agents/models.ts';
export type { ModelListDocument, ModelTest } from './documents/agents/models.ts';
export { compileClientSchema } from './validation/client-schema/client-schema.ts';
export type { ClientSchema } from './validation/client-schema/client-schema.ts';
export {
  CallbackSecretSchema,
  DeliveryListSchema,
  RegisteredWebhookSchema,
  RegisterWebhookSchema,
  WebhookListSchema,
} from './documents/webhooks.ts';
export type { DeadDelivery, RegisterWebhookRequest } from './documents/webhooks.ts';
export {
  BackfillScheduleSchema,
  CreateScheduleSchema,
  CreateTriggerSchema,
  RegisterTriggerSchema,
  TestTriggerSchema,
} from './documents/schedules.ts';
export type { CreateScheduleRequest, CreateTriggerRequest } from './documents/schedules.ts';
export { assembleWireEvent, EVENT_SCHEMA_VERSION } from './events/wire-event.ts';
export type { WireEventParts } from './events/wire-event.ts';
export { fullForm } from './documents/full-form.ts';
export {
  NodeSettingsSchema,
  WorkflowDefinitionSchema,
  WorkflowNodeSchema,
  WorkflowSourceSchema,
} from './documents/workflow.ts';
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
} from './documents/workflow.ts';
