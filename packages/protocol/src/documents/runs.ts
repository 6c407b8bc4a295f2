import { type Static, Type } from 'typebox';
import {
  OwnerSchema,
  closed,
  count,
  dateTime,
  jsonObject,
  mapOf,
  name,
  namedValues,
  nameOf,
  nonEmpty,
  open,
  openNamed,
  positive,
  runId,
  uri,
} from './schema-parts.ts';
import { InterruptKind } from '../events/catalogue/payload-parts.ts';
import { RunEventDocSchema } from '../events/events.ts';
import { RUN_STATUSES } from './run-statuses.ts';
import { AgentRefSchema } from './workflow.ts';

/** Requests and answers about runs. What clients send is closed; what the host sends is open. */

const optional = Type.Optional;

export const RunStatusSchema = Type.Enum(RUN_STATUSES);

const MockProviderSchema = closed({
  id: nameOf({ minLength: 1, maxLength: 128 }),
  config: optional(jsonObject),
});

const BudgetSchema = closed({
  maxTokens: optional(positive),
  maxCostUsd: optional(Type.Number({ minimum: 0 })),
  maxToolCalls: optional(positive),
  maxRetries: optional(count),
  modelAllow: optional(Type.Array(nameOf(), { maxItems: 256 })),
  modelDeny: optional(Type.Array(nameOf(), { maxItems: 256 })),
  thresholdPercent: optional(Type.Number({ minimum: 0, maximum: 100 })),
  onExhaustion: optional(Type.Enum(['fail', 'interrupt'])),
});

export const ConfigurableSchema = openNamed(
  {
    recursionLimit: optional(
      Type.Integer({ minimum: 1, description: 'Node executions; the host’s own ceiling still holds.' }),
    ),
    runTimeoutMs: optional(
      Type.Integer({ minimum: 1, description: 'Active time; the host’s own ceiling still holds.' }),
    ),
    model: optional(name),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: optional(positive),
    promptOverrides: optional(mapOf<string>(Type.String())),
    mockProvider: optional(MockProviderSchema),
    'ai.provider': optional(nameOf()),
    'ai.model': optional(nameOf()),
    'ai.credentialRef': optional(nameOf()),
    maxLoopIterations: optional(positive),
    'distillation.tokenBudget': optional(positive),
    budget: optional(BudgetSchema),
    escalationThreshold: optional(Type.Number({ minimum: 0, maximum: 1 })),
    reasoningVerbosity: optional(Type.Enum(['summary', 'full', 'off'])),
    'weft.workflowVersion': optional(
      nameOf({ minLength: 1, description: 'Runs this version instead of the current one.' }),
    ),
  },
  'Overrides for one run. Reserved keys are typed; other keys reach the nodes unchanged.',
);

/** Open by itself: the request it is part of closes it (RFC 0094 §A). */
export const RunOptionsSchema = Type.Object({
  configurable: optional(ConfigurableSchema),
  tags: optional(Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { maxItems: 100 })),
  metadata: optional(jsonObject),
});

const CreateRunFieldsSchema = Type.Object({
  workflowId: nameOf({ minLength: 1, maxLength: 128 }),
  inputs: optional(namedValues),
  tenantId: optional(nameOf()),
  scopeId: optional(nameOf({ minLength: 1, maxLength: 256 })),
  callbackUrl: optional(uri),
  residency: optional(closed({ region: name })),
  mode: optional(Type.Enum(['eval'])),
  evalSuiteRef: optional(name),
  agentId: optional(name),
});

/** Neither half is closed alone; the composition is, once. */
export const CreateRunSchema = Type.Intersect([CreateRunFieldsSchema, RunOptionsSchema], {
  type: 'object',
  unevaluatedProperties: false,
});

export const CreateRunResponseSchema = open({
  runId,
  status: RunStatusSchema,
  eventsUrl: uri,
  statusUrl: optional(uri),
  weft: optional(
    open({
      ignoredInputs: optional(
        Type.Array(Type.String(), { description: 'Inputs that the workflow does not declare.' }),
      ),
      lastEvent: optional(RunEventDocSchema),
    }),
  ),
});

export const RunErrorSchema = closed({ code: nonEmpty, message: nonEmpty, details: optional(jsonObject) });

const CostSchema = closed({
  usd: optional(Type.Number({ minimum: 0 })),
  tokens: optional(closed({ input: optional(count), output: optional(count) })),
  model: optional(Type.String()),
  provider: optional(Type.String()),
  duration_ms: optional(count),
});

export const RunSnapshotSchema = open({
  runId,
  workflowId: nonEmpty,
  status: RunStatusSchema,
  owner: optional(OwnerSchema),
  currentNodeId: optional(Type.String()),
  startedAt: optional(dateTime),
  completedAt: optional(dateTime),
  agent: optional(AgentRefSchema),
  runOrchestrator: optional(AgentRefSchema),
  nodeStates: optional(jsonObject),
  variables: optional(jsonObject),
  channels: optional(jsonObject),
  error: optional(RunErrorSchema),
  engineVersion: optional(Type.String()),
  eventLogSchemaVersion: optional(count),
  tags: optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 })),
  metadata: optional(jsonObject),
  configurable: optional(jsonObject),
  metrics: optional(open({ openwopCost: optional(CostSchema) })),
});

export const CancelRequestSchema = closed({ reason: optional(Type.String({ maxLength: 512 })) });

/** A run that had already ended answers with the status it ended in. */
export const CancelResponseSchema = open({ runId, status: RunStatusSchema });

export const BULK_CANCEL_MAX_RUN_IDS = 100;

export const BulkCancelRequestSchema = closed({
  runIds: Type.Array(runId, { minItems: 1, maxItems: BULK_CANCEL_MAX_RUN_IDS }),
  reason: optional(Type.String({ maxLength: 512 })),
});

export const BulkCancelResponseSchema = open({
  results: Type.Array(
    open({
      runId: Type.String(),
      ok: Type.Boolean(),
      status: optional(RunStatusSchema),
      error: optional(open({ code: nonEmpty, message: nonEmpty })),
    }),
  ),
});

export const PauseRequestSchema = closed({
  reason: optional(Type.String({ maxLength: 512 })),
  drainPolicy: optional(Type.Enum(['immediate', 'drain-current-node'])),
});

export const PauseResponseSchema = open({
  runId,
  status: Type.Literal('paused'),
  pausedAt: optional(dateTime),
});

export const ResolveRequestSchema = closed({
  resumeValue: Type.Unknown({ description: 'The answer; its shape depends on the kind of the question.' }),
});

export const ResolveResponseSchema = open({ runId, nodeId: nonEmpty, status: RunStatusSchema });

/** What a signed link shows: the question, and nothing of the run around it. */
export const OpenQuestionSchema = closed({
  kind: InterruptKind,
  key: nonEmpty,
  data: Type.Record(Type.String(), Type.Unknown()),
  resumeSchema: optional(Type.Record(Type.String(), Type.Unknown())),
  timeoutMs: optional(Type.Integer({ minimum: 0 })),
});

export const ResumeRequestSchema = closed({ reason: optional(Type.String({ maxLength: 512 })) });

export const ResumeResponseSchema = open({
  runId,
  status: Type.Literal('running'),
  resumedAt: optional(dateTime),
});

/** `isComplete` and `isTerminal` say the same; older and newer clients read one or the other. */
export const PollResponseSchema = open({
  runId,
  events: Type.Array(RunEventDocSchema),
  isComplete: Type.Boolean(),
  lastEventSeq: Type.Integer({ minimum: -1 }),
  runStatus: RunStatusSchema,
  isTerminal: Type.Boolean(),
});

/** What extensions add to an answer: readers ignore what they do not know. */
interface Extra {
  readonly [extra: string]: unknown;
}

export type RunSnapshot = Static<typeof RunSnapshotSchema> & Extra;
export type RunOptions = Static<typeof RunOptionsSchema>;
export type Configurable = Static<typeof ConfigurableSchema>;
export type CreateRunRequest = Static<typeof CreateRunSchema>;
export type CreateRunResponse = Static<typeof CreateRunResponseSchema>;
export type RunOwner = Static<typeof OwnerSchema>;
export type RunError = Static<typeof RunErrorSchema>;
export type CancelRequest = Static<typeof CancelRequestSchema>;
export type CancelResponse = Static<typeof CancelResponseSchema>;
export type BulkCancelRequest = Static<typeof BulkCancelRequestSchema>;
export type BulkCancelResponse = Static<typeof BulkCancelResponseSchema>;
export type PauseRequest = Static<typeof PauseRequestSchema>;
export type PauseResponse = Static<typeof PauseResponseSchema>;
export type ResumeRequest = Static<typeof ResumeRequestSchema>;
export type ResumeResponse = Static<typeof ResumeResponseSchema>;
export type PollResponse = Static<typeof PollResponseSchema>;
