// Generated from the schemas of documents and events; change those, then run `npm run docs`.

import type { Json, JsonObject } from './json/json.ts';

/** What extensions add to an answer. */
interface Extras {
  readonly [extra: string]: unknown;
}

export type Ancestry = {
  runId: string;
  hostId: string;
  parent: null | {
    runId: string;
    hostId: string;
    wellKnownUrl?: string;
    cause: 'mcp-tool-call' | 'a2a-message' | 'core.subWorkflow' | 'core.dispatch';
  };
};

export type Annotation = {
  annotationId: string;
  target: {
    runId: string;
    eventId?: string;
    nodeId?: string;
  };
  signal: {
    kind: 'rating' | 'correction' | 'label' | 'flag';
    rating?: number;
    label?: string;
    correction?: string;
  };
  actor: {
    principalRef: string;
  };
  note?: string;
  createdAt: string;
};

export type AnnotationCreate = {
  signal: {
    kind: 'rating';
    rating: number;
  } | {
    kind: 'correction';
    correction: string;
  } | {
    kind: 'label';
    label: string;
  } | {
    kind: 'flag';
  };
  target?: {
    eventId?: string;
    nodeId?: string;
  };
  note?: string;
};

export type AuditVerificationDocument = {
  fromSeq: number;
  /** As asked, or the end of the log when that comes first. */
  toSeq: number;
  /** Every entry gives its recorded hash, no checkpoint is wrong, and the log still holds what this host has sealed last. */
  chainValid: boolean;
  /** Absent when the host has no key to check them with. */
  checkpointsValid?: boolean;
  checkpoints: Array<{
    checkpoint: string;
    atSequence: number;
    /** RFC 6962 tree over the hashes of the entries 0 to atSequence, hex. */
    merkleRoot: string;
    /** Ed25519 over the 32 raw bytes of the root, base64. */
    signature: string;
  }>;
  /** At most the first 1,000. */
  anomalies: Array<{
    /** Whose previous hash is wrong: the entry after the one that was touched. */
    atSeq: number;
    /** What the entry before it gives now, hex. */
    expectedPrevHash: string;
    /** What was recorded; empty when there is no record. */
    actualPrevHash: string;
  }>;
};

export type Capabilities = {
  protocolVersion: string;
  supportedEnvelopes: Array<string>;
  schemaVersions: Record<string, number>;
  limits: {
    clarificationRounds: number;
    schemaRounds: number;
    envelopesPerTurn: number;
    maxNodeExecutions?: number;
    maxRunDurationMs?: number;
    maxLoopIterations?: number;
    maxBudgetTokens?: number;
    maxBudgetCostUsd?: number;
    maxRequestBodyBytes?: number;
  };
  implementation?: {
    name: string;
    version: string;
    vendor?: string;
  };
  protocolVersions?: Array<string>;
  engineVersion?: number;
  eventLogSchemaVersion?: number;
  minClientVersion?: string;
  supportedTransports?: Array<'rest' | 'mcp' | 'a2a' | 'grpc'>;
  grpc?: {
    supported: boolean;
    service: 'openwop.v1.Engine';
    tls: 'required' | 'optional' | 'disabled';
    endpoint?: string;
  };
  configurable?: Record<string, {
    type?: string;
    min?: number;
    max?: number;
  }>;
  observability?: {
    namespace?: string;
  };
  runtimeCapabilities?: Array<string>;
  secrets?: {
    supported: boolean;
    scopes?: Array<'tenant' | 'user' | 'run'>;
    resolution?: 'host-managed';
  };
  testing?: {
    mockProviders?: Array<string>;
    testKeyPrefix?: string;
    forceEngineVersionRange?: {
      min: number;
      max: number;
    };
  };
  fixtures?: Array<string>;
  compliance?: {
    defaultMode?: 'mask' | 'omit' | 'hash' | 'passthrough';
    supportedClasses?: Array<'public' | 'pii' | 'phi' | 'pci' | 'regulated'>;
  };
  replay?: {
    supported?: boolean;
    modes?: Array<'replay' | 'branch'>;
    fork?: boolean;
    sideEffectSuppression?: 'none' | 'recorded-outcome';
  };
  debugBundle?: {
    supported: boolean;
  };
  runs?: {
    pauseResume?: {
      supported: boolean;
      drainPolicies?: Array<'immediate' | 'drain-current-node'>;
    };
  };
  idempotency?: {
    supported?: boolean;
    layer1RetentionSeconds?: number;
    layer2RetentionSeconds?: number;
    crossRegion?: 'single-region';
  };
  webhooks?: {
    supported?: boolean;
    signatureAlgorithms?: Array<string>;
    durable?: boolean;
  };
  scheduling?: {
    supported: boolean;
    cron?: boolean;
    delayed?: boolean;
    calendar?: boolean;
    maxFutureHorizon?: string;
  };
  deadLetter?: {
    supported: boolean;
    retentionDays?: number;
  };
  triggerBridge?: {
    supported: boolean;
    subscriptionStates?: Array<string>;
    dedup?: boolean;
    retryPolicy?: {
      maxAttempts?: number;
      backoff?: string;
    };
    sources?: Array<string>;
    ingestion?: {
      externalSources?: Array<string>;
      maxBodyBytes?: number;
      verification?: Array<string>;
      registrationEndpoint?: boolean;
    };
  };
  auth?: {
    profiles?: Array<string>;
    auditLogIntegrity?: {
      hashChain: true;
      checkpointSignatureAlgorithm: 'ed25519';
      checkpointPublicKey: string;
      checkpointIntervalEntries: number;
      checkpointIntervalSeconds: number;
    };
  };
  restTransport?: {
    conditionalRunGet?: boolean;
    contentEncodings?: Array<'gzip' | 'br' | 'zstd'>;
  };
  i18n?: {
    supported: boolean;
    defaultLocale?: string;
    supportedLocales?: Array<string>;
  };
  httpClient?: {
    supported: boolean;
    ssrfGuard?: boolean;
    maxResponseBodyBytes?: number;
    requestTimeoutMs?: number;
    methods?: Array<string>;
    safeFetch?: {
      supported: boolean;
    };
    egressPolicy?: {
      supported: boolean;
      decisions?: Array<'allowed' | 'denied' | 'downgraded' | 'approval-required'>;
    };
  };
  aiProviders?: JsonObject;
  prompts?: JsonObject;
  interrupt?: JsonObject;
  conversationPrimitive?: boolean;
  agents?: JsonObject;
  orchestrator?: {
    supported: boolean;
    workerIdInterpretation?: 'node' | 'agent' | 'either';
    fanOutSupported?: boolean;
  };
  dispatch?: {
    supported: boolean;
    models?: Array<string>;
    fanOutSupported?: boolean;
    fanOutPolicies?: Array<string>;
    askUserRoutings?: Array<string>;
  };
  subWorkflow?: {
    inputMapping?: boolean;
  };
  feedback?: JsonObject;
  production?: JsonObject;
  extensions?: JsonObject;
  /** Deprecated mirror of the families at the root. */
  capabilities?: Record<string, Json>;
} & Extras;

export type ClusterNodeDocument = {
  name: string;
  state: 'active' | 'draining' | 'drained' | 'lost';
  version?: string;
  startedAt?: string;
  deadline: string;
  runs: number;
  /** True for the process that answers. */
  isSelf: boolean;
};

export type DeadDelivery = {
  deliveryId: string;
  kind: 'webhook' | 'callback' | 'push';
  webhookId?: string;
  runId: string;
  sequence: number;
  attempts: number;
  reason: string;
  failedAt: string;
};

export type DebugBundle = {
  bundleVersion: string;
  generatedAt: string;
  host: {
    name: string;
    version: string;
    vendor?: string;
  };
  run: {
    runId: string;
    workflowId: string;
    status: string;
    startedAt?: string;
    endedAt: string | null;
    error: Json;
    inputs?: JsonObject;
    variables?: JsonObject;
    currentNodeId: string | null;
  };
  events: Array<{
    eventId: string;
    sequence: number;
    type: string;
    timestamp: string;
    nodeId?: string;
    payload: Json;
    data: Json;
  }>;
  spans: Array<{
    name: string;
    traceId: string;
    spanId: string;
    parentSpanId: string | null;
    kind?: 'internal' | 'server' | 'client';
    status?: {
      code: 'unset' | 'ok' | 'error';
      message?: string;
    };
    startedAt: string;
    endedAt: string | null;
    attributes: Record<string, string | number | boolean>;
  }>;
  metrics: {
    openwopCost: Json;
    nodeCount: number;
    eventCount: number;
  };
  redactionApplied: boolean;
  redactionMode: 'mask' | 'omit' | 'hash' | 'passthrough';
  truncated?: boolean;
  truncatedReason?: string;
  annotations: Array<{
    annotationId: string;
    target: {
      runId: string;
      eventId?: string;
      nodeId?: string;
    };
    signal: {
      kind: 'rating' | 'correction' | 'label' | 'flag';
      rating?: number;
      label?: string;
      correction?: string;
    };
    actor: {
      principalRef: string;
    };
    note?: string;
    createdAt: string;
  }>;
  weft?: {
    /** SHA-256 of the canonical bundle (RFC 8785) without this member. */
    digest: string;
    definition?: JsonObject;
    definitionDigest: string;
    /** JSON Pointers of everything masked or left out. */
    masked: Array<string>;
    /** JSON Pointers of what did not fit below the size limit. */
    omitted?: Array<string>;
    totals: {
      annotations: number;
      events: number;
      masked: number;
      nodes: number;
      spans: number;
    };
  };
} & Extras;

export type ForkRunResponse = {
  runId: string;
  sourceRunId: string;
  fromSeq: number;
  mode: 'replay' | 'branch';
  status: 'pending' | 'running' | 'paused' | 'waiting-approval' | 'waiting-input' | 'waiting-external' | 'completed' | 'failed' | 'cancelling' | 'cancelled';
  eventsUrl: string;
};

export type NodeTypeDocument = {
  typeId: string;
  version: string;
  title?: string;
  summary?: string;
  category?: string;
  role?: string;
  /** A JSON Schema (2020-12) of type "object"; its properties are named. */
  config?: JsonObject;
  /** A JSON Schema (2020-12) of type "object"; its properties are named. */
  inputs?: JsonObject;
  /** A JSON Schema (2020-12) of type "object"; its properties are named. */
  outputs?: JsonObject;
  secrets?: Array<string>;
  /** Per attempt, where a node’s settings say nothing; 0 = none. */
  timeoutMs?: number;
  /** An attempt whose code reports no progress for so long has failed. */
  heartbeatTimeoutMs?: number;
  /** What the code needs of its run: it asks people, or reads and sets variables or channels. Each of its calls is then a step of its node. */
  uses?: Array<'questions' | 'variables' | 'channels'>;
};

export type RegisteredWorker = {
  workerId: string;
  leaseMs: number;
  heartbeatMs: number;
  types: Array<{
    typeId: string;
    version: string;
    /** SHA-256 over the canonical form of its schemas and secrets, hex. */
    digest: string;
  }>;
  /** Those of `resume` that the worker still holds. The others are to be stopped. */
  resumed: Array<{
    taskId: string;
    lease: number;
  }>;
};

export type RegisterWorkerRequest = {
  /** For people; need not be unique. */
  name: string;
  /** Tasks at the same time. */
  capacity: number;
  types: Array<{
    typeId: string;
    version: string;
    title?: string;
    summary?: string;
    category?: string;
    role?: string;
    /** A JSON Schema (2020-12) of type "object"; its properties are named. */
    config?: JsonObject;
    /** A JSON Schema (2020-12) of type "object"; its properties are named. */
    inputs?: JsonObject;
    /** A JSON Schema (2020-12) of type "object"; its properties are named. */
    outputs?: JsonObject;
    secrets?: Array<string>;
    /** Per attempt, where a node’s settings say nothing; 0 = none. */
    timeoutMs?: number;
    /** An attempt whose code reports no progress for so long has failed. */
    heartbeatTimeoutMs?: number;
    /** What the code needs of its run: it asks people, or reads and sets variables or channels. Each of its calls is then a step of its node. */
    uses?: Array<'questions' | 'variables' | 'channels'>;
  }>;
  sdk?: string;
  /** A version whose schemas have changed is registered as VERSION+HEX, not refused. */
  dev?: boolean;
  /** Tasks that are still in hand from a session that was cut off. */
  resume?: Array<{
    taskId: string;
    lease: number;
  }>;
};

export type RunOptions = {
  /** Overrides for one run. Reserved keys are typed; other keys reach the nodes unchanged. */
  configurable?: {
    /** Node executions; the host’s own ceiling still holds. */
    recursionLimit?: number;
    /** Active time; the host’s own ceiling still holds. */
    runTimeoutMs?: number;
    model?: string;
    temperature?: number;
    maxTokens?: number;
    promptOverrides?: Record<string, string>;
    mockProvider?: {
      id: string;
      config?: JsonObject;
    };
    'ai.provider'?: string;
    'ai.model'?: string;
    'ai.credentialRef'?: string;
    maxLoopIterations?: number;
    'distillation.tokenBudget'?: number;
    budget?: {
      maxTokens?: number;
      maxCostUsd?: number;
      maxToolCalls?: number;
      maxRetries?: number;
      modelAllow?: Array<string>;
      modelDeny?: Array<string>;
      thresholdPercent?: number;
      onExhaustion?: 'fail' | 'interrupt';
    };
    escalationThreshold?: number;
    reasoningVerbosity?: 'summary' | 'full' | 'off';
    /** Runs this version instead of the current one. */
    'weft.workflowVersion'?: string;
  };
  tags?: Array<string>;
  metadata?: JsonObject;
};

export type RunSnapshot = {
  runId: string;
  workflowId: string;
  status: 'pending' | 'running' | 'paused' | 'waiting-approval' | 'waiting-input' | 'waiting-external' | 'completed' | 'failed' | 'cancelling' | 'cancelled';
  owner?: {
    tenant: string;
    workspace?: string;
    principal?: string;
  };
  currentNodeId?: string;
  startedAt?: string;
  completedAt?: string;
  agent?: {
    agentId: string;
    name?: string;
    modelClass?: 'reasoning' | 'tool-using' | 'chat' | 'code' | 'vision' | 'multimodal' | 'embedding' | 'classification' | 'retrieval';
    memoryRef?: string;
    version?: string;
    channel?: string;
    sourceManifestId?: string;
  };
  runOrchestrator?: {
    agentId: string;
    name?: string;
    modelClass?: 'reasoning' | 'tool-using' | 'chat' | 'code' | 'vision' | 'multimodal' | 'embedding' | 'classification' | 'retrieval';
    memoryRef?: string;
    version?: string;
    channel?: string;
    sourceManifestId?: string;
  };
  nodeStates?: JsonObject;
  variables?: JsonObject;
  channels?: JsonObject;
  error?: {
    code: string;
    message: string;
    details?: JsonObject;
  };
  engineVersion?: string;
  eventLogSchemaVersion?: number;
  tags?: Array<string>;
  metadata?: JsonObject;
  configurable?: JsonObject;
  metrics?: {
    openwopCost?: {
      usd?: number;
      tokens?: {
        input?: number;
        output?: number;
      };
      model?: string;
      provider?: string;
      duration_ms?: number;
    };
  };
} & Extras;

export type RunSummary = {
  runId: string;
  workflowId: string;
  workflowVersion: string;
  status: 'pending' | 'running' | 'paused' | 'waiting-approval' | 'waiting-input' | 'waiting-external' | 'completed' | 'failed' | 'cancelling' | 'cancelled';
  createdAt: string;
  startedAt?: string;
  completedAt?: string;
  currentNodeId?: string;
  errorCode?: string;
  tags: Array<string>;
  /** What started it: schedule:NAME or trigger:ID. */
  source?: string;
  events: number;
  /** Executed elsewhere, and only read here. */
  imported?: true;
  /** The store holds something else of it than was written. */
  damaged?: true;
  quarantined?: {
    since: string;
    reason: string;
  };
};

export type TaskError = {
  code: string;
  message: string;
  retryable?: boolean;
  retryAfterMs?: number;
  details?: JsonObject;
};

export type TaskReceipt = {
  /** From when this report was sent, so long the worker holds its tasks. */
  leaseMs: number;
  refused: Array<{
    taskId: string;
    lease: number;
    error: string;
    message: string;
  }>;
};

export type TaskReport = {
  /** 0: no new tasks; the worker is draining. */
  capacity?: number;
  results?: Array<{
    taskId: string;
    lease: number;
    outputs?: JsonObject;
    error?: {
      code: string;
      message: string;
      retryable?: boolean;
      retryAfterMs?: number;
      details?: JsonObject;
    };
    ask?: {
      kind: 'approval' | 'clarification' | 'external-event' | 'custom';
      data?: JsonObject;
      resumeSchema?: JsonObject;
      timeoutMs?: number;
    };
    record?: JsonObject;
    variables?: JsonObject;
    channels?: Array<{
      channel: string;
      value: Json;
    }>;
  }>;
  chunks?: Array<{
    taskId: string;
    lease: number;
    index: number;
    text: string;
  }>;
  progress?: Array<{
    taskId: string;
    lease: number;
    details?: Json;
  }>;
  logs?: Array<{
    taskId: string;
    lease: number;
    level: 'debug' | 'info' | 'warn' | 'error';
    message: string;
    fields?: JsonObject;
  }>;
  /** Handed back before they were begun; performed by another worker. */
  returned?: Array<{
    taskId: string;
    lease: number;
  }>;
};

export type WorkerMessage = {
  type: 'task';
  taskId: string;
  lease: number;
  typeId: string;
  version: string;
  runId: string;
  workflowId: string;
  nodeId: string;
  /** The same on every repeat: an idempotency key. */
  invocationId: string;
  attempt: number;
  config: JsonObject;
  inputs: JsonObject;
  secrets?: Record<string, string>;
  timeoutMs?: number;
  traceparent?: string;
  run?: {
    /** To the questions asked so far, in order. */
    answers: Array<JsonObject>;
    /** As the last call of this node returned it. */
    record?: JsonObject;
    /** As they were when the node began, in all its calls. */
    variables?: JsonObject;
    /** Those it may read, likewise. */
    channels?: JsonObject;
    /** Channels that it may write. */
    writable?: Array<string>;
  };
} | {
  type: 'cancel';
  taskId: string;
  lease: number;
  reason: 'cancelled' | 'timeout' | 'lease_lost' | 'shutdown';
} | {
  type: 'ping';
} | {
  type: 'close';
  reason: 'replaced' | 'shutdown' | 'lease_lost' | 'revoked';
};

export type WorkflowDefinition = {
  id: string;
  name: string;
  description?: string;
  version: string;
  type?: string;
  isActive?: boolean;
  status?: 'active' | 'inactive' | 'draft' | 'archived';
  tenantId?: string;
  scopeId?: string;
  slug?: string;
  nodes: Array<{
    id: string;
    typeId: string;
    name: string;
    position: {
      x: number;
      y: number;
    };
    config: JsonObject;
    inputs: Record<string, {
      type: 'static';
      value: Json;
    } | {
      type: 'expression';
      expression: string;
    } | {
      type: 'connection';
      nodeId: string;
      outputKey: string;
      optional?: boolean;
    } | {
      type: 'variable';
      variableName: string;
      optional?: boolean;
    }>;
    credentialsRef?: string;
    settings?: {
      /** Per attempt; 0 means none. */
      timeoutMs?: number;
      retry?: {
        /** Attempts in all, the first included; 1 means no retry. */
        maxAttempts?: number;
        /** Delay before the first retry. */
        initialMs?: number;
        /** Each delay is the one before times this. */
        factor?: number;
        /** No delay is longer. */
        maxMs?: number;
        /** Share of the delay that is drawn at random. */
        jitter?: number;
        /** Error codes that are not retried. */
        never?: Array<string>;
      };
      /** What to do when the host stopped while an effect was in flight. */
      onUnknownOutcome?: 'repeat' | 'fail';
      /** Of a node type that workers serve: the version to use. The registered form always has it; left out, it is the newest. */
      typeVersion?: string;
    };
    outputRole?: 'primary' | 'secondary';
    disabled?: boolean;
    notes?: string;
    groupId?: string;
    agent?: {
      agentId: string;
      name?: string;
      modelClass?: 'reasoning' | 'tool-using' | 'chat' | 'code' | 'vision' | 'multimodal' | 'embedding' | 'classification' | 'retrieval';
      memoryRef?: string;
      version?: string;
      channel?: string;
      sourceManifestId?: string;
    };
    envelopeContract?: JsonObject;
    artifactType?: string;
    cardType?: string;
    outputSensitivity?: Record<string, boolean>;
  }>;
  edges: Array<{
    id: string;
    sourceNodeId: string;
    sourceOutput?: string;
    targetNodeId: string;
    targetInput?: string;
    condition?: {
      type?: 'expression' | 'equals' | 'notEquals' | 'contains' | 'regex' | 'truthy' | 'falsy';
      left?: string;
      right?: Json;
      expression?: string;
    };
    label?: string;
    triggerRule?: 'all_success' | 'any_success' | 'all_complete' | 'none_failed' | 'any_failed';
  }>;
  triggers: Array<{
    id: string;
    type: 'manual' | 'schedule' | 'webhook' | 'event' | 'artifact' | 'canvas' | 'envelope' | 'command' | 'chat-message' | 'channel-write';
    name?: string;
    description?: string;
    config?: JsonObject;
    enabled?: boolean;
    nodeId?: string;
    eventType?: string;
  }>;
  variables: Array<{
    name: string;
    type: 'string' | 'number' | 'boolean' | 'object' | 'array';
    description?: string;
    required?: boolean;
    defaultValue?: Json;
    sensitive?: boolean;
  }>;
  groups?: Array<{
    id: string;
    name: string;
    color?: string;
    collapsed?: boolean;
    nodeIds: Array<string>;
    position: {
      x: number;
      y: number;
    };
    size: {
      width: number;
      height: number;
    };
  }>;
  channels?: Record<string, {
    reducer: string;
    schema?: JsonObject;
    default?: Json;
    maxSize?: number;
    ttlMs?: number;
    options?: JsonObject;
    access?: 'public' | 'private' | {
      readers?: Array<string>;
      writers?: Array<string>;
    };
    schemaVersion?: number;
    compatibleWith?: Array<number>;
    sensitive?: boolean;
  }>;
  configurableSchema?: JsonObject;
  defaults?: {
    promptRefs?: {
      system?: string | {
        libraryId?: string;
        templateId: string;
        version?: string;
        variableOverrides?: JsonObject;
      };
      user?: string | {
        libraryId?: string;
        templateId: string;
        version?: string;
        variableOverrides?: JsonObject;
      };
      'few-shot'?: string | {
        libraryId?: string;
        templateId: string;
        version?: string;
        variableOverrides?: JsonObject;
      };
      'schema-hint'?: string | {
        libraryId?: string;
        templateId: string;
        version?: string;
        variableOverrides?: JsonObject;
      };
    };
  };
  metadata: {
    createdBy?: string;
    createdAt?: string;
    updatedBy?: string;
    updatedAt?: string;
    tags?: Array<string>;
    category?: string;
    author?: string;
    codeVersion?: string;
    customizedAt?: string;
    customizedBy?: string;
    forkedFrom?: string;
    clonedFrom?: string;
    clonedAt?: string;
    customProperties?: JsonObject;
    complianceClass?: 'public' | 'pii' | 'phi' | 'pci' | 'regulated';
    complianceConfig?: {
      maskingMode?: 'mask' | 'omit' | 'hash' | 'passthrough';
    };
  };
  settings: {
    /** Milliseconds of active time; 0 means none. */
    timeout?: number;
    maxRetries?: number;
    logLevel?: 'debug' | 'info' | 'warn' | 'error';
    maxLoopbackIterations?: number;
  };
  acceptsInheritedArtifacts?: Array<JsonObject>;
  createdAt?: string;
  updatedAt?: string;
};

/** The payload of each event type: those of the protocol, then those of this host. */
export type EventPayloads = {
  /** The run leaves pending and begins; the first event of its log. */
  'run.started': {
    workflowId: string;
    inputs?: JsonObject;
    transport?: 'rest' | 'mcp' | 'a2a' | 'ui';
    engineVersion?: string;
    owner?: {
      tenant: string;
      workspace?: string;
      principal?: string;
    };
    tags?: Array<string>;
    metadata?: JsonObject;
  };
  /** Every end of the graph is done; the last event of the log. */
  'run.completed': {
    outputs?: JsonObject;
    durationMs?: number;
  };
  /** The run ended with an error; the last event of the log. */
  'run.failed': {
    error: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
    failedNodeId?: string;
    durationMs?: number;
  };
  /** The run was cancelled, directly or with its parent; the last event of the log. */
  'run.cancelled': {
    reason?: string;
    cancelledBy?: string;
    durationMs?: number;
    parentRunId?: string;
  };
  /** A resume was accepted and work is about to continue. */
  'run.resuming': {
    fromStatus?: string;
  };
  /** A pause took effect; the drain policy that was asked for stands in the payload. */
  'run.paused': {
    reason?: string;
    drainPolicy?: 'immediate' | 'drain-current-node';
  };
  /** The run left its pause. */
  'run.resumed': JsonObject;
  /** The state was rebuilt from a checkpoint after a restart. */
  'run.restored-from-snapshot': {
    snapshotSeq?: number;
    engineVersion?: string;
  };
  /** Retries are spent and the run was put aside for a person. */
  'run.dead_lettered': {
    runId: string;
    reason: string;
    attempts: number;
    nodeId?: string;
  };
  /** An attempt of a node begins; attempts count from zero. */
  'node.started': {
    nodeId: string;
    typeId: string;
    attempt?: number;
  };
  /** A node succeeded; its outputs stand in the payload, sensitive ones masked. */
  'node.completed': {
    nodeId: string;
    outputs?: JsonObject;
    durationMs?: number;
  };
  /** A node failed for good, after its last retry. */
  'node.failed': {
    nodeId: string;
    error: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
    attempts?: number;
  };
  /** A node waits for an interrupt to be answered. */
  'node.suspended': {
    nodeId: string;
    interruptId: string;
    kind?: 'approval' | 'clarification' | 'external-event' | 'custom' | 'conversation.start' | 'conversation.exchange' | 'conversation.close' | 'low-confidence';
    key?: string;
    reason?: string;
  };
  /** A node should have been suspended, but the suspension could not be stored. */
  'node.suspend-failed': {
    nodeId: string;
    error: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
  };
  /** A suspended node received its answer. */
  'node.resumed': {
    nodeId: string;
    interruptId?: string;
    resumeValue?: Json;
  };
  /** An attempt failed and another follows after a delay. */
  'node.retried': {
    nodeId: string;
    attempt: number;
    delayMs?: number;
    lastError?: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
  };
  /** A node will not run: its edges were not taken, its rule cannot be met, or it is disabled. */
  'node.skipped': {
    nodeId: string;
    reason?: string;
  };
  /** A node was stopped while it ran, by a cancel or by a failure elsewhere. */
  'node.cancelled': {
    nodeId: string;
    reason?: string;
  };
  /** A node created a child run. */
  'node.dispatched': {
    childRunId: string;
    childWorkflowId: string;
    childStatus?: string;
  };
  /** A node asks a person or an external system for an answer. */
  'interrupt.requested': {
    kind: 'approval' | 'clarification' | 'external-event' | 'custom' | 'conversation.start' | 'conversation.exchange' | 'conversation.close' | 'low-confidence';
    key: string;
    data: Json;
    resumeSchema?: JsonObject;
    timeoutMs?: number;
    runId?: string;
    nodeId?: string;
    interruptId?: string;
    requestedAt?: string;
  };
  /** An interrupt got its answer. */
  'interrupt.resolved': {
    nodeId: string;
    interruptId: string;
    kind?: 'approval' | 'clarification' | 'external-event' | 'custom' | 'conversation.start' | 'conversation.exchange' | 'conversation.close' | 'low-confidence';
    resumeValue?: Json;
    resolvedAt?: string;
    resolvedBy?: string;
  };
  /** The approval form of an interrupt request, for older readers. */
  'approval.requested': {
    nodeId: string;
    artifactId: string;
    artifactType: string;
    actions: Array<'accept' | 'reject' | 'refine' | 'edit' | 'ask'>;
    interruptId?: string;
    title?: string;
    approversList?: Array<string>;
    requiredApprovals?: number;
  };
  /** A decision on an approval was recorded. */
  'approval.received': {
    nodeId: string;
    action: 'accept' | 'reject' | 'refine' | 'edit-accept' | 'timeout';
    decidedBy?: string;
    decidedAt?: string;
    comment?: string;
    feedback?: string;
    refineFeedback?: {
      scope: 'whole' | 'section' | 'items';
      sectionPath?: string;
      itemIds?: Array<string>;
      tags?: Array<string>;
      text?: string;
    };
    editedArtifactData?: Json;
  };
  /** An approver granted at a governance gate. */
  'approval.granted': {
    gateId: string;
    principal: string;
    quorumProgress?: {
      granted?: number;
      required?: number;
    };
  };
  /** An approver rejected at a governance gate. */
  'approval.rejected': {
    gateId: string;
    principal: string;
    reason?: string;
  };
  /** An authorized person overrode a governance gate. */
  'approval.overridden': {
    gateId: string;
    principal: string;
    reason: string;
  };
  /** The clarification form of an interrupt request, for older readers. */
  'clarification.requested': {
    nodeId: string;
    questions: Array<{
      id: string;
      question: string;
      schema?: JsonObject;
    }>;
    interruptId?: string;
  };
  /** Answers to a clarification were recorded, by question id. */
  'clarification.resolved': {
    nodeId: string;
    answers: JsonObject;
    answeredBy?: string;
  };
  /** A value was written to a channel, before the reducer is applied. */
  'channel.written': {
    channel: string;
    value: Json;
    reducer: string;
    writtenAt: string;
    nodeId?: string;
    schemaVersion?: number;
    sourceEngineId?: string;
    sourceRunId?: string;
  };
  /** A node produced a typed artifact. */
  'artifact.created': {
    artifactId: string;
    artifactType: string;
    nodeId?: string;
    version?: string;
    summary?: string;
    registered?: boolean;
    registrationSource?: 'pack' | 'host';
  };
  /** A piece of streamed output; in messages mode it is sent as ai.message.chunk. */
  'output.chunk': {
    nodeId: string;
    runId: string;
    chunk: string;
    isLast: boolean;
    channel?: string;
    meta?: {
      finishReason?: 'stop' | 'length' | 'tool_calls' | 'content_filter';
      logprobs?: Array<JsonObject>;
      toolCalls?: Array<{
        id: string;
        name: string;
        arguments: string;
      }>;
      model?: string;
      usage?: {
        promptTokens?: number;
        completionTokens?: number;
        totalTokens?: number;
      };
      provider?: string;
      providerExtensions?: JsonObject;
    };
  };
  /** A workflow variable changed; sensitive values are masked. */
  'variable.changed': {
    name: string;
    previous?: Json;
    next?: Json;
    nodeId?: string;
  };
  /** A node wrote a log line. */
  'log.appended': {
    level: 'debug' | 'info' | 'warn' | 'error';
    message: string;
    nodeId?: string;
    fields?: JsonObject;
  };
  /** A run fixed the version of a change for the rest of its life. */
  'version.pinned': {
    changeId: string;
    version: number;
    nodeId?: string;
  };
  /** An active run was taken over after a restart. */
  'workflow.restored': {
    fromSnapshotSeq?: number;
    engineVersion?: string;
  };
  /** A loop of requested changes reached its limit. */
  'workflow.loopback-limit': {
    nodeId: string;
    iterations: number;
    limit?: number;
  };
  /** A run made no progress for a while. */
  'workflow.stalled': {
    stalledForMs?: number;
    lastNodeId?: string;
  };
  /** A limit was exceeded; the failure follows. */
  'cap.breached': {
    kind: 'clarification' | 'schema' | 'envelopes' | 'node-executions' | 'wasm-memory' | 'wasm-fuel' | 'wasm-execution-time' | 'run-duration' | 'loop-iterations' | 'budget-tokens' | 'budget-cost' | 'budget-tool-calls' | 'budget-retries';
    limit: number;
    observed: number;
    nodeId?: string;
  };
  /** A lease on a run was taken. Weft keeps claims out of the log. */
  'lease.acquired': {
    leaseId: string;
    host: 'browser' | 'cloud';
    instanceId?: string;
    expiresAt?: string;
    previousHost?: 'browser' | 'cloud';
  };
  /** A lease on a run was renewed. Weft keeps claims out of the log. */
  'lease.renewed': {
    leaseId: string;
    host: 'browser' | 'cloud';
    instanceId?: string;
    expiresAt?: string;
    previousHost?: 'browser' | 'cloud';
  };
  /** A lease on a run was lost. Weft keeps claims out of the log. */
  'lease.lost': {
    leaseId: string;
    host: 'browser' | 'cloud';
    instanceId?: string;
    expiresAt?: string;
    previousHost?: 'browser' | 'cloud';
  };
  /** A lease moved between hosts. Weft keeps claims out of the log. */
  'lease.handed-off': {
    leaseId: string;
    fromHost: 'browser' | 'cloud';
    toHost: 'browser' | 'cloud';
    reason?: string;
  };
  /** A replay differs from its source at this sequence; it continues. */
  'replay.diverged': {
    sourceRunId: string;
    atSequence: number;
    originalEventId?: string;
    divergenceKind?: 'output' | 'missing' | 'extra' | 'type-mismatch';
    divergencePoint?: string;
    replayEventId?: string;
  };
  /** A replay got a refusal where the source had an answer, or the reverse; it fails. */
  'replay.divergedAtRefusal': {
    sourceRunId: string;
    atSequence: number;
    originalEnvelopeKind: 'valid' | 'refusal';
    replayEnvelopeKind: 'valid' | 'refusal';
    originalEventId?: string;
    nodeId?: string;
    refusalReason?: string;
  };
  /** The closing text of an agent’s reasoning. */
  'agent.reasoned': {
    agentId: string;
    reasoning: string;
    verbosity?: 'summary' | 'full' | 'off';
    causationHostId?: string;
  };
  /** A piece of an agent’s reasoning while it is running. */
  'agent.reasoning.delta': {
    agentId: string;
    delta: string;
    sequence: number;
    verbosity?: 'summary' | 'full' | 'off';
  };
  /** An agent calls a tool; the call id pairs it with its return. */
  'agent.toolCalled': {
    agentId: string;
    toolName: string;
    callId: string;
    inputs?: Json;
    argsHash?: string;
    principal?: string;
    transport?: 'mcp' | 'http' | 'native';
    causationHostId?: string;
  };
  /** A tool call ended, or never ran because it was forbidden or limited. */
  'agent.toolReturned': {
    agentId: string;
    toolName: string;
    callId: string;
    outcome?: Json;
    error?: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
    status?: 'ok' | 'error' | 'forbidden' | 'rate_limited';
    durationMs?: number;
    causationHostId?: string;
  };
  /** Control moves from one agent to another. */
  'agent.handoff': {
    fromAgentId: string;
    toAgentId: string;
    reason?: string;
    causationHostId?: string;
  };
  /** An agent made a decision, possibly with a confidence. */
  'agent.decided': {
    agentId: string;
    decision: Json;
    confidence?: number;
    causationHostId?: string;
  };
  /** A critic evaluated a result before it is merged. */
  'agent.verified': {
    agentId: string;
    target: string;
    verdict: 'pass' | 'fail' | 'revise';
    criteria?: Array<string>;
    confidence?: number;
    causationHostId?: string;
  };
  /** The invocation of an agent begins. */
  'agent.invocation.started': {
    invocationId: string;
    agentId: string;
    source: 'workflow-node' | 'run-api' | 'chat-mention';
    modelClass?: string;
    resolvedModel?: string;
    resolvedProvider?: string;
    resolvedAgentVersion?: string;
    resolvedChannel?: string;
    toolSurfaceCount?: number;
    memoryBound?: boolean;
  };
  /** The invocation of an agent ended. */
  'agent.invocation.completed': {
    invocationId: string;
    agentId: string;
    outcome: 'completed' | 'handed-off' | 'escalated' | 'refused' | 'failed';
    schemaValidated?: boolean;
    confidence?: number;
    enqueuedRunId?: string;
  };
  /** The orchestrator decided its turn: next worker, ask the user, or end. */
  'runOrchestrator.decided': {
    agentId: string;
    decision: {
      kind: 'next-worker';
      nextWorkerIds: Array<string>;
      confidence?: number;
    } | {
      kind: 'ask-user';
      prompt: string;
    } | {
      kind: 'terminate';
      reason?: string;
      confidence?: number;
      successCriteria?: Array<{
        key: string;
        met: boolean;
      }>;
    };
    iteration?: number;
    causationHostId?: string;
  };
  /** A handoff from planner to worker changed its state. */
  'core.workflowChain.event': {
    phase: 'dispatch.began' | 'dispatch.succeeded' | 'dispatch.failed' | 'child.completed' | 'child.failed' | 'child.cancelled' | 'output.harvested';
    workerId: string;
    parentRunId: string;
    childRunId?: string;
    harvestedKeys?: Array<string>;
    attestation?: {
      checksum: string;
      algorithm: 'sha256';
    };
    error?: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
    causationHostId?: string;
  };
  /** A decision was below the confidence floor and goes to a person. */
  'core.workflowChain.confidence-escalated': {
    confidence: number;
    floor: number;
    escalationKind: 'clarify' | 'escalate';
    parentRunId: string;
    workerId?: string;
    originalDecision?: {
      kind: 'next-worker';
      nextWorkerIds: Array<string>;
      confidence?: number;
    } | {
      kind: 'ask-user';
      prompt: string;
    } | {
      kind: 'terminate';
      reason?: string;
      confidence?: number;
      successCriteria?: Array<{
        key: string;
        met: boolean;
      }>;
    };
    causationHostId?: string;
  };
  /** A conversation began with its first turn. */
  'conversation.opened': {
    conversationId: string;
    initialTurn: {
      messageId: string;
      from: Json;
      content: Json;
      /** Milliseconds since the epoch. */
      ts: number;
      role: 'user' | 'agent' | 'system';
      turnIndex: number;
    };
    agentId?: string;
    participants?: Array<{
      agentId: string;
      name?: string;
    }>;
    schema?: JsonObject;
    capabilities?: Array<'multi-turn' | 'streaming'>;
    openedBy?: string;
  };
  /** One turn of a conversation is done; its index only grows. */
  'conversation.exchanged': {
    conversationId: string;
    turnIndex: number;
    turn: {
      messageId: string;
      from: Json;
      content: Json;
      /** Milliseconds since the epoch. */
      ts: number;
      role: 'user' | 'agent' | 'system';
      turnIndex: number;
    };
    outcome?: Json;
  };
  /** A conversation ended; its id is not used again in the run. */
  'conversation.closed': {
    conversationId: string;
    turnIndex: number;
    finalTurn: {
      messageId: string;
      from: Json;
      content: Json;
      /** Milliseconds since the epoch. */
      ts: number;
      role: 'user' | 'agent' | 'system';
      turnIndex: number;
    };
    outcome?: Json;
    reason?: string;
    turnCount?: number;
  };
  /** Tokens and cost of one model call. */
  'provider.usage': {
    provider: string;
    model: string;
    inputTokens: number;
    outputTokens: number;
    totalTokens?: number;
    costEstimateUsd?: number;
    currency?: string;
    cacheHit?: boolean;
    cacheReadTokens?: number;
    cacheWriteTokens?: number;
    nodeId?: string;
    traceId?: string;
  };
  /** A prompt was composed for a node, named by its hash. */
  'prompt.composed': {
    nodeId: string;
    refs: Array<string>;
    kind: 'system+user' | 'system-only' | 'user-only' | 'agent-reasoning';
    hash: string;
    composed?: string;
    systemPrompt?: string;
    userPrompt?: string;
    variableBindings?: JsonObject;
    variableHashes?: JsonObject;
    contentTrust?: 'trusted' | 'untrusted';
    causationHostId?: string;
  };
  /** Which layer supplied a prompt, and which were looked at. */
  'agent.promptResolved': {
    nodeId: string;
    kind: 'system' | 'user' | 'few-shot' | 'schema-hint';
    chain: Array<{
      layer: 'run-configurable' | 'node' | 'agent-intrinsic' | 'agent-overrides' | 'agent-library-default' | 'workflow-defaults' | 'host-defaults';
      source?: string;
      applied: boolean;
      reason?: string;
    }>;
    resolved: string | null;
    agentId?: string;
    causationHostId?: string;
  };
  /** A model lacked a capability and the declared fallback was used. */
  'model.capability.substituted': {
    nodeId: string;
    originalProvider: string;
    originalModel: string;
    fallbackProvider: string;
    fallbackModel: string;
    missingCapabilities: Array<string>;
  };
  /** A model lacks a capability and there is no fallback. */
  'model.capability.insufficient': {
    nodeId: string;
    provider: string;
    model: string;
    missingCapabilities: Array<string>;
    fallbackAttempted?: boolean;
  };
  /** A malformed model answer is asked for again. */
  'envelope.retry.attempted': {
    nodeId: string;
    attempt: number;
    reason: string;
    previousError?: string | null;
  };
  /** A model answer stayed malformed to the end. */
  'envelope.retry.exhausted': {
    nodeId: string;
    totalAttempts: number;
    finalReason: string;
    finalError?: string | null;
  };
  /** The provider refused; this is never retried. */
  'envelope.refusal': {
    nodeId: string;
    provider: string;
    model: string;
    refusalText?: string | null;
    safetyCategory?: string | null;
  };
  /** The provider cut an answer off. */
  'envelope.truncated': {
    nodeId: string;
    provider: string;
    model: string;
    stopReason: 'max_tokens' | 'length' | 'stop_sequence' | 'unknown';
    partialPayloadAvailable?: boolean;
    outputTokenCount?: number | null;
  };
  /** A second call reformats an answer into the wanted shape. */
  'envelope.nlToFormat.engaged': {
    nodeId: string;
    originalEnvelopeType: string;
    fallbackCalls?: number;
  };
  /** A malformed answer could be read by a lenient parser. */
  'envelope.recovery.applied': {
    nodeId: string;
    path: 'direct' | 'jsonrepair' | 'markdown-fence' | 'brace-walker' | 'custom';
    byteOffset?: number | null;
  };
  /** The budget in force was fixed at the start of the run. */
  'budget.reserved': {
    effectiveBudget: {
      maxTokens?: number;
      maxCostUsd?: number;
      maxToolCalls?: number;
      maxRetries?: number;
    };
    scope: 'run' | 'workflow' | 'agent' | 'project';
  };
  /** What was spent so far in one dimension. */
  'budget.consumed': {
    dimension: 'tokens' | 'cost' | 'toolCalls' | 'retries';
    consumed: number;
    limit: number;
    remaining?: number;
  };
  /** Spending in one dimension crossed its warning threshold. */
  'budget.threshold.crossed': {
    dimension: 'tokens' | 'cost' | 'toolCalls' | 'retries';
    consumed: number;
    limit: number;
    percent: number;
  };
  /** Spending in one dimension reached its limit. */
  'budget.exhausted': {
    dimension: 'tokens' | 'cost' | 'toolCalls' | 'retries';
    consumed: number;
    limit: number;
  };
  /** A memory entry was written; the event holds ids, not content. */
  'memory.written': {
    memoryRef: string;
    memoryId: string;
    nodeId?: string;
    agentId?: string;
    tags?: Array<string>;
  };
  /** Memory entries were compacted into one. */
  'memory.compacted': {
    memoryRef: string;
    outputId: string;
    sourceCount: number;
    trigger: 'host-managed' | 'client-requested' | 'both';
    byteSize: number;
    sourceIds?: Array<string>;
    distillation?: {
      tokenBudget: number;
      tokensUsed: number;
      indexUpdated?: boolean;
    };
  };
  /** A pass over long-term memory ended. */
  'agent.memory.consolidated': {
    memoryRef: string;
    inputCount: number;
    outputCount: number;
    mergedIds?: Array<string>;
    trigger?: 'host-managed' | 'scheduled' | 'on-demand';
  };
  /** A standing commitment came due. */
  'commitment.fired': {
    commitmentId: string;
    memoryRef: string;
    condition: 'time' | 'predicate';
    memoryId?: string;
    enqueuedRunId?: string;
  };
  /** A workspace file was written or deleted. */
  'workspace.updated': {
    path: string;
    version: number;
  };
  /** A session of several tool steps was opened. */
  'tool.session.opened': {
    sessionId: string;
    toolId: string;
  };
  /** A session of several tool steps was closed. */
  'tool.session.closed': {
    sessionId: string;
    toolId: string;
    outcome: 'completed' | 'failed' | 'cancelled';
  };
  /** An outgoing call with a credential was allowed or not. */
  'egress.decided': {
    decision: 'allowed' | 'denied' | 'downgraded' | 'approval-required';
    destination: string;
    credentialId?: string;
    reason?: 'ok' | 'out-of-audience' | 'expired' | 'ssrf-blocked' | 'provenance-unevaluable' | 'scope-denied' | 'policy-denied';
    auditCorrelationId?: string;
  };
  /** A connector obtained its token; the event holds a reference only. */
  'connector.authorized': {
    provider: string;
    credentialRef: string;
    scopes?: Array<string>;
  };
  /** A connector’s token could not be refreshed. */
  'connector.auth_expired': {
    provider: string;
    credentialRef: string;
    reason?: string;
  };
  /** A principal was allowed or refused an action. */
  'authorization.decided': {
    principal: string;
    action: string;
    resource: string;
    allowed: boolean;
    reason?: string;
  };
  /** An evaluation run begins. */
  'eval.started': {
    suiteId: string;
    suiteVersion: string;
    taskCount: number;
    modes: Array<'golden' | 'rubric' | 'adversarial' | 'regression' | 'live-shadow'>;
    baselineRunId?: string;
  };
  /** One task of an evaluation has its score. */
  'eval.scored': {
    taskId: string;
    score: number;
    passed: boolean;
    costUsd?: number;
    latencyMs?: number;
    schemaValid?: boolean;
    safetyFindingCount?: number;
  };
  /** All tasks of an evaluation have their scores. */
  'eval.completed': {
    aggregateScore: number;
    passed: boolean;
    taskCount: number;
    passedCount: number;
    regressionVsBaseline?: number;
  };
  /** A version of an agent was promoted. */
  'deployment.promoted': {
    agentId: string;
    toVersion: string;
    toState: 'draft' | 'test' | 'staged' | 'active' | 'paused' | 'deprecated' | 'rolled-back';
    fromVersion?: string;
    channel?: string;
    canaryPercent?: number;
    evalRunId?: string;
    approvalGateId?: string;
  };
  /** A version of an agent was rolled back. */
  'deployment.rolled-back': {
    agentId: string;
    fromVersion: string;
    toVersion: string;
    rollbackPointer: string;
    reason?: string;
  };
  /** The share of traffic a canary gets changed. */
  'deployment.canary.adjusted': {
    agentId: string;
    version: string;
    fromPercent: number;
    toPercent: number;
  };
  /** A deployment was paused, resumed or deprecated. */
  'deployment.state.changed': {
    agentId: string;
    version: string;
    fromState: 'draft' | 'test' | 'staged' | 'active' | 'paused' | 'deprecated' | 'rolled-back';
    toState: 'draft' | 'test' | 'staged' | 'active' | 'paused' | 'deprecated' | 'rolled-back';
  };
  /** A roster member’s trigger started the run. */
  'roster.run.initiated': {
    rosterId: string;
    persona: string;
    agentId: string;
    workflowId: string;
    triggerSource: string;
    triggerSubscriptionId?: string;
  };
  /** A trigger subscription changed its state. */
  'trigger.subscription.state.changed': {
    subscriptionId: string;
    source: 'webhook' | 'schedule' | 'queue' | 'email' | 'form';
    fromState: 'active' | 'paused' | 'failed' | 'dead-lettered';
    toState: 'active' | 'paused' | 'failed' | 'dead-lettered';
    reason?: 'retry-exhausted' | 'operator-paused' | 'signature-invalid' | 'backpressure' | 'source-removed' | 'provenance-unevaluable';
  };
  /** An inbound delivery was attempted. */
  'trigger.delivery.attempted': {
    subscriptionId: string;
    dedupKey: string;
    attempt: number;
    outcome: 'delivered' | 'retrying' | 'dead-lettered';
    runId?: string;
  };
  /** A draft was learned from earlier runs. */
  'proposal.created': {
    proposalId: string;
    kind: 'agent-pack' | 'workflow-chain-pack' | 'prompt-template' | 'automation';
    sourceRunIds?: Array<string>;
    duplicateOf?: string | null;
  };
  /** A learned draft was applied. */
  'proposal.activated': {
    proposalId: string;
    kind: 'agent-pack' | 'workflow-chain-pack' | 'prompt-template' | 'automation';
    installedArtifactRef: string;
    approvalId?: string | null;
  };
  /** A standing goal was evaluated. */
  'goal.evaluated': {
    goalId: string;
    satisfied: boolean;
    runId: string;
    iterations: number;
    confidence?: number;
  };
  /** A standing goal ended. */
  'goal.closed': {
    goalId: string;
    finalState: 'satisfied' | 'escalated' | 'abandoned' | 'bound-exceeded';
  };
  /** An import was applied; the event holds counts and references only. */
  'import.applied': {
    bundleOrigin: string;
    counts: {
      created?: number;
      updated?: number;
      skipped?: number;
      failed?: number;
    };
    secretsToRebind?: Array<string>;
  };
  /** Speech begins. */
  'voice.speech_start': {
    atMs: number;
  };
  /** A part of a transcript; parts that are not final must not drive effects. */
  'voice.transcript': {
    text: string;
    isFinal: boolean;
    atMs: number;
    contentTrust: 'untrusted';
    committedPrefix?: string;
    stability?: number;
    formatted?: boolean;
  };
  /** The speaker’s turn has probably ended. */
  'voice.endpoint_candidate': {
    atMs: number;
    confidence?: number;
  };
  /** The speaker’s turn has ended. */
  'voice.turn_commit': {
    atMs: number;
    finalText: string;
  };
  /** A piece of synthesized speech, by reference or inline. */
  'voice.synthesis_chunk': {
    seq: number;
    mimeType: string;
    durationMs?: number;
    url?: string;
    streamRef?: string;
    base64?: string;
    final?: boolean;
  };
  /** The user spoke over the playback. */
  'voice.barge_in': {
    atMs: number;
  };
  /** Work for a spoken answer was stopped. */
  'voice.cancelled': {
    atMs: number;
    reason?: 'barge-in' | 'explicit';
  };
  /** An approver asked a question back; the approval stays open. */
  'weft.approval.asked': {
    nodeId: string;
    interruptId: string;
    value: Json;
    askedBy: string;
  };
  /** A node wrote to a channel of the parent run. */
  'weft.channel.sent': {
    nodeId: string;
    channel: string;
  };
  /** One step of a node begins, such as a turn of an agent; steps that run side by side have the same round. */
  'weft.step.started': {
    nodeId: string;
    step: string;
    round: number;
    attempt: number;
    request?: JsonObject;
    onUnknownOutcome?: 'repeat' | 'fail';
    childRunId?: string;
  };
  /** A step of a node ended well. */
  'weft.step.completed': {
    nodeId: string;
    step: string;
    result: JsonObject;
    childRunId?: string;
  };
  /** A step of a node failed for good; the node decides what that means. */
  'weft.step.failed': {
    nodeId: string;
    step: string;
    error: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
    attempts: number;
    childRunId?: string;
  };
  /** An attempt of a step failed or was cut short, and another follows after a delay. */
  'weft.step.retried': {
    nodeId: string;
    step: string;
    attempt: number;
    delayMs: number;
    lastError?: {
      code: string;
      message: string;
      details?: JsonObject;
      retryable?: boolean;
    };
    reason?: string;
  };
  /** A trigger starts its node; the nodes that run again with it are listed. */
  'weft.trigger.fired': {
    nodeId: string;
    trigger: 'channel-write';
    visit: number;
    reenters?: Array<string>;
  };
};
