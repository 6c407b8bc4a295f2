import { type Static, Type } from 'typebox';
import {
  anyJson,
  closed,
  dateTime,
  jsonObject,
  mapOf,
  name,
  nameOf,
  nonEmpty,
  open,
  openNamed,
  positive,
} from './schema-parts.ts';

/** The workflow definition document. Closed wherever the protocol closes it, so a misspelt key is an error, not a no-op. */

const optional = Type.Optional;

export const PortValueSchema = Type.Union([
  closed({ type: Type.Literal('static'), value: anyJson }),
  closed({ type: Type.Literal('expression'), expression: nonEmpty }),
  closed({
    type: Type.Literal('connection'),
    nodeId: name,
    outputKey: name,
    optional: optional(Type.Boolean()),
  }),
  closed({ type: Type.Literal('variable'), variableName: name, optional: optional(Type.Boolean()) }),
]);

export const RetrySettingsSchema = closed({
  maxAttempts: optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Attempts in all, the first included; 1 means no retry.',
    }),
  ),
  initialMs: optional(Type.Integer({ minimum: 0, description: 'Delay before the first retry.' })),
  factor: optional(
    Type.Number({ minimum: 1, maximum: 100, description: 'Each delay is the one before times this.' }),
  ),
  maxMs: optional(Type.Integer({ minimum: 0, description: 'No delay is longer.' })),
  jitter: optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Share of the delay that is drawn at random.' }),
  ),
  never: optional(Type.Array(name, { maxItems: 100, description: 'Error codes that are not retried.' })),
});

export const NodeSettingsSchema = closed({
  timeoutMs: optional(Type.Integer({ minimum: 0, description: 'Per attempt; 0 means none.' })),
  retry: optional(RetrySettingsSchema),
  onUnknownOutcome: optional(
    Type.Enum(['repeat', 'fail'], {
      description: 'What to do when the host stopped while an effect was in flight.',
    }),
  ),
  typeVersion: optional(
    nameOf({
      minLength: 1,
      maxLength: 160,
      description:
        'Of a node type that workers serve: the version to use. The registered form always has it; left out, it is the newest.',
    }),
  ),
});

export const AgentRefSchema = Type.Object(
  {
    agentId: nameOf({ minLength: 3, maxLength: 256 }),
    name: optional(nameOf({ maxLength: 256 })),
    modelClass: optional(
      Type.Enum([
        'reasoning',
        'tool-using',
        'chat',
        'code',
        'vision',
        'multimodal',
        'embedding',
        'classification',
        'retrieval',
      ]),
    ),
    memoryRef: optional(nameOf({ minLength: 1, maxLength: 256 })),
    version: optional(nameOf({ maxLength: 64 })),
    channel: optional(nameOf({ minLength: 1, maxLength: 64 })),
    sourceManifestId: optional(nameOf({ maxLength: 256 })),
  },
  // An exact version and a named channel exclude each other.
  {
    additionalProperties: false,
    not: { type: 'object', properties: { version: true, channel: true }, required: ['version', 'channel'] },
  },
);

const PointSchema = open({ x: Type.Number(), y: Type.Number() });

export const WorkflowNodeSchema = closed({
  id: name,
  typeId: Type.String({ minLength: 1, pattern: '^[a-z][a-zA-Z0-9._-]*$' }),
  name,
  position: PointSchema,
  config: jsonObject,
  inputs: mapOf<PortValue>(PortValueSchema),
  credentialsRef: optional(nameOf()),
  settings: optional(NodeSettingsSchema),
  outputRole: optional(Type.Enum(['primary', 'secondary'])),
  disabled: optional(Type.Boolean()),
  notes: optional(Type.String()),
  groupId: optional(nameOf()),
  agent: optional(AgentRefSchema),
  envelopeContract: optional(jsonObject),
  artifactType: optional(nameOf()),
  cardType: optional(nameOf()),
  outputSensitivity: optional(mapOf<boolean>(Type.Boolean())),
});

export const EdgeConditionSchema = closed({
  type: optional(Type.Enum(['expression', 'equals', 'notEquals', 'contains', 'regex', 'truthy', 'falsy'])),
  left: optional(Type.String()),
  right: optional(anyJson),
  expression: optional(Type.String()),
});

export const WorkflowEdgeSchema = closed({
  id: name,
  sourceNodeId: name,
  sourceOutput: optional(nameOf()),
  targetNodeId: name,
  targetInput: optional(nameOf()),
  condition: optional(EdgeConditionSchema),
  label: optional(nameOf()),
  triggerRule: optional(
    Type.Enum(['all_success', 'any_success', 'all_complete', 'none_failed', 'any_failed']),
  ),
});

export const WorkflowTriggerSchema = closed({
  id: name,
  type: Type.Enum([
    'manual',
    'schedule',
    'webhook',
    'event',
    'artifact',
    'canvas',
    'envelope',
    'command',
    'chat-message',
    'channel-write',
  ]),
  name: optional(nameOf()),
  description: optional(Type.String()),
  config: optional(jsonObject),
  enabled: optional(Type.Boolean()),
  nodeId: optional(nameOf()),
  eventType: optional(nameOf()),
});

export const WorkflowVariableSchema = closed({
  name,
  type: Type.Enum(['string', 'number', 'boolean', 'object', 'array']),
  description: optional(Type.String()),
  required: optional(Type.Boolean()),
  defaultValue: optional(anyJson),
  sensitive: optional(Type.Boolean()),
});

const ChannelAccessListSchema = Type.Array(
  Type.String({ minLength: 1, maxLength: 256, pattern: '^([a-z][a-zA-Z0-9._-]*\\*?|\\*)$' }),
  { uniqueItems: true, maxItems: 256 },
);

export const ChannelDeclarationSchema = closed({
  reducer: Type.String({
    pattern:
      '^(replace|append|merge|counter|votes|feedback|message|vendor\\.[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_-]*)$',
  }),
  schema: optional(jsonObject),
  default: optional(anyJson),
  maxSize: optional(positive),
  ttlMs: optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
  options: optional(jsonObject),
  access: optional(
    Type.Union([
      Type.Literal('public'),
      Type.Literal('private'),
      closed({ readers: optional(ChannelAccessListSchema), writers: optional(ChannelAccessListSchema) }),
    ]),
  ),
  schemaVersion: optional(positive),
  compatibleWith: optional(Type.Array(positive, { uniqueItems: true })),
  sensitive: optional(Type.Boolean()),
});

const NodeGroupSchema = closed({
  id: name,
  name,
  color: optional(nameOf()),
  collapsed: optional(Type.Boolean()),
  nodeIds: Type.Array(nameOf()),
  position: PointSchema,
  size: open({ width: Type.Number(), height: Type.Number() }),
});

const promptId = '[a-z0-9][a-z0-9._-]{0,127}';
const semver = '\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?';

/** Text of the compact prompt reference, also used by `prompt.composed`. */
export const PROMPT_REF_PATTERN = `^prompt:${promptId}(@${semver})?$`;

const PromptRefSchema = Type.Union([
  Type.String({ pattern: PROMPT_REF_PATTERN }),
  closed({
    libraryId: optional(Type.String({ pattern: `^${promptId}$` })),
    templateId: Type.String({ pattern: `^${promptId}$` }),
    version: optional(Type.String({ pattern: `^${semver}$` })),
    variableOverrides: optional(jsonObject),
  }),
]);

export const WorkflowMetadataSchema = openNamed({
  createdBy: optional(nameOf()),
  createdAt: optional(dateTime),
  updatedBy: optional(nameOf()),
  updatedAt: optional(dateTime),
  tags: optional(Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { maxItems: 100 })),
  category: optional(nameOf()),
  author: optional(nameOf()),
  codeVersion: optional(nameOf()),
  customizedAt: optional(dateTime),
  customizedBy: optional(nameOf()),
  forkedFrom: optional(nameOf()),
  clonedFrom: optional(nameOf()),
  clonedAt: optional(dateTime),
  customProperties: optional(jsonObject),
  complianceClass: optional(Type.Enum(['public', 'pii', 'phi', 'pci', 'regulated'])),
  complianceConfig: optional(
    open({ maskingMode: optional(Type.Enum(['mask', 'omit', 'hash', 'passthrough'])) }),
  ),
});

export const WorkflowSettingsSchema = openNamed({
  timeout: optional(Type.Integer({ minimum: 0, description: 'Milliseconds of active time; 0 means none.' })),
  maxRetries: optional(Type.Integer({ minimum: 0 })),
  logLevel: optional(Type.Enum(['debug', 'info', 'warn', 'error'])),
  maxLoopbackIterations: optional(positive),
});

export const WorkflowDefinitionSchema = closed({
  id: Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-z][a-z0-9_-]*$' }),
  name: nameOf({ minLength: 1, maxLength: 256 }),
  description: optional(Type.String()),
  version: name,
  type: optional(nameOf()),
  isActive: optional(Type.Boolean()),
  status: optional(Type.Enum(['active', 'inactive', 'draft', 'archived'])),
  tenantId: optional(nameOf()),
  scopeId: optional(nameOf()),
  slug: optional(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]*$' })),
  nodes: Type.Array(WorkflowNodeSchema, { minItems: 1 }),
  edges: Type.Array(WorkflowEdgeSchema),
  triggers: Type.Array(WorkflowTriggerSchema),
  variables: Type.Array(WorkflowVariableSchema),
  groups: optional(Type.Array(NodeGroupSchema)),
  channels: optional(mapOf<ChannelDeclaration>(ChannelDeclarationSchema)),
  configurableSchema: optional(jsonObject),
  defaults: optional(
    closed({
      promptRefs: optional(
        closed({
          system: optional(PromptRefSchema),
          user: optional(PromptRefSchema),
          'few-shot': optional(PromptRefSchema),
          'schema-hint': optional(PromptRefSchema),
        }),
      ),
    }),
  ),
  metadata: WorkflowMetadataSchema,
  settings: WorkflowSettingsSchema,
  acceptsInheritedArtifacts: optional(Type.Array(jsonObject)),
  createdAt: optional(dateTime),
  updatedAt: optional(dateTime),
});

/** A node as authors write it: what is left out is filled in (full-form.ts). */
export const WorkflowSourceNodeSchema = closed({
  ...WorkflowNodeSchema.properties,
  name: optional(WorkflowNodeSchema.properties.name),
  position: optional(PointSchema),
  config: optional(jsonObject),
  inputs: optional(WorkflowNodeSchema.properties.inputs),
});

const { id, version, nodes: _, ...others } = WorkflowDefinitionSchema.properties;

/** A definition as authors write it, and as every way of registering takes it. */
export const WorkflowSourceSchema = closed(
  {
    $schema: optional(
      Type.String({ description: 'The address of this schema, for editors; it is not kept.' }),
    ),
    id,
    version,
    ...others,
    name: optional(others.name),
    nodes: Type.Array(WorkflowSourceNodeSchema, { minItems: 1 }),
    edges: optional(others.edges),
    triggers: optional(others.triggers),
    variables: optional(others.variables),
    metadata: optional(WorkflowMetadataSchema),
    settings: optional(WorkflowSettingsSchema),
  },
  'A workflow definition as it is written; members that are left out get their usual values when it is registered.',
);

export type PortValue = Static<typeof PortValueSchema>;
export type EdgeCondition = Static<typeof EdgeConditionSchema>;
export type ChannelDeclaration = Static<typeof ChannelDeclarationSchema>;
export type WorkflowNode = Static<typeof WorkflowNodeSchema>;
export type WorkflowNodeSettings = Static<typeof NodeSettingsSchema>;
export type WorkflowEdge = Static<typeof WorkflowEdgeSchema>;
export type WorkflowTrigger = Static<typeof WorkflowTriggerSchema>;
export type WorkflowVariable = Static<typeof WorkflowVariableSchema>;
export type WorkflowMetadata = Static<typeof WorkflowMetadataSchema>;
export type WorkflowSettings = Static<typeof WorkflowSettingsSchema>;
export type WorkflowDefinition = Static<typeof WorkflowDefinitionSchema>;
export type AgentRef = Static<typeof AgentRefSchema>;
