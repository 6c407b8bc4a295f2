import { type Static, Type } from 'typebox';
import type { JsonObject } from '../json/json.ts';
import {
  anyJson,
  closed,
  count,
  dateTime,
  jsonObject,
  name,
  nameOf,
  namedValues,
  nonEmpty,
  open,
  positive,
} from './schema-parts.ts';

/**
 * How code of users is offered to a host, and how tasks reach it (docs/guide/worker-protocol.md, ADR 0045). A worker registers the
 * node types that it serves, reads its tasks from one streaming response, and posts what became of them.
 */

const optional = Type.Optional;

/** As in a workflow's nodes. */
export const TYPE_ID_PATTERN = '^[a-z][a-zA-Z0-9_-]*(\\.[a-zA-Z0-9_-]+)+$';

export { RESERVED_TYPE_PREFIXES } from './reserved-type-prefixes.ts';

const typeId = Type.String({ pattern: TYPE_ID_PATTERN, maxLength: 128 });

/** Semantic version; what follows a plus sign is given by a host in development mode. */
const typeVersion = Type.String({
  pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}(-[0-9A-Za-z.-]{1,64})?(\\+[0-9A-Za-z.-]{1,64})?$',
});

const objectSchema = Type.Unsafe<JsonObject>({
  type: 'object',
  description: 'A JSON Schema (2020-12) of type "object"; its properties are named.',
});

const secretId = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' });

/** What a worker says about a node type. The digest that identifies its schemas is computed by the host. */
export const NodeTypeDocumentSchema = closed({
  typeId,
  version: typeVersion,
  title: optional(nameOf({ minLength: 1, maxLength: 128 })),
  summary: optional(Type.String({ maxLength: 1024 })),
  category: optional(nameOf({ minLength: 1, maxLength: 64 })),
  role: optional(nameOf({ minLength: 1, maxLength: 64 })),
  config: optional(objectSchema),
  inputs: optional(objectSchema),
  outputs: optional(objectSchema),
  secrets: optional(Type.Array(secretId, { maxItems: 32, uniqueItems: true })),
  timeoutMs: optional(
    Type.Integer({ minimum: 0, description: 'Per attempt, where a node’s settings say nothing; 0 = none.' }),
  ),
  heartbeatTimeoutMs: optional(
    Type.Integer({
      minimum: 100,
      description: 'An attempt whose code reports no progress for so long has failed.',
    }),
  ),
  uses: optional(
    Type.Array(Type.Enum(['questions', 'variables', 'channels']), {
      minItems: 1,
      uniqueItems: true,
      description:
        'What the code needs of its run: it asks people, or reads and sets variables or channels. Each of its calls is then a step of its node.',
    }),
  ),
});

const taskRef = {
  taskId: nameOf({ minLength: 1, maxLength: 512 }),
  lease: positive,
};

const TaskRefSchema = closed(taskRef);

export const RegisterWorkerSchema = closed({
  name: nameOf({ minLength: 1, maxLength: 128, description: 'For people; need not be unique.' }),
  capacity: Type.Integer({ minimum: 1, maximum: 1000, description: 'Tasks at the same time.' }),
  types: Type.Array(NodeTypeDocumentSchema, { minItems: 1, maxItems: 200 }),
  sdk: optional(nameOf({ minLength: 1, maxLength: 128 })),
  dev: optional(
    Type.Boolean({
      description: 'A version whose schemas have changed is registered as VERSION+HEX, not refused.',
    }),
  ),
  resume: optional(
    Type.Array(TaskRefSchema, {
      maxItems: 1000,
      description: 'Tasks that are still in hand from a session that was cut off.',
    }),
  ),
});

const ServedTypeSchema = open({
  typeId: nonEmpty,
  version: nonEmpty,
  digest: Type.String({ description: 'SHA-256 over the canonical form of its schemas and secrets, hex.' }),
});

export const RegisteredWorkerSchema = open({
  workerId: nonEmpty,
  leaseMs: positive,
  heartbeatMs: positive,
  types: Type.Array(ServedTypeSchema),
  resumed: Type.Array(TaskRefSchema, {
    description: 'Those of `resume` that the worker still holds. The others are to be stopped.',
  }),
});

/** For a type that `uses` something of its run. */
export const TaskRunSchema = open({
  answers: Type.Array(jsonObject, { description: 'To the questions asked so far, in order.' }),
  record: optional(
    Type.Unsafe<JsonObject>({ type: 'object', description: 'As the last call of this node returned it.' }),
  ),
  variables: optional(
    Type.Unsafe<JsonObject>({
      type: 'object',
      description: 'As they were when the node began, in all its calls.',
    }),
  ),
  channels: optional(
    Type.Unsafe<JsonObject>({ type: 'object', description: 'Those it may read, likewise.' }),
  ),
  writable: optional(Type.Array(nonEmpty, { description: 'Channels that it may write.' })),
});

/** One line of the stream of a worker. A worker ignores types of lines that it does not know. */
export const WorkerMessageSchema = Type.Union([
  open({
    type: Type.Literal('task'),
    ...taskRef,
    typeId: nonEmpty,
    version: nonEmpty,
    runId: nonEmpty,
    workflowId: nonEmpty,
    nodeId: nonEmpty,
    invocationId: Type.String({ description: 'The same on every repeat: an idempotency key.' }),
    attempt: positive,
    config: jsonObject,
    inputs: jsonObject,
    secrets: optional(
      Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
    ),
    timeoutMs: optional(positive),
    traceparent: optional(Type.String()),
    run: optional(TaskRunSchema),
  }),
  open({
    type: Type.Literal('cancel'),
    ...taskRef,
    reason: Type.Enum(['cancelled', 'timeout', 'lease_lost', 'shutdown']),
  }),
  open({ type: Type.Literal('ping') }),
  open({ type: Type.Literal('close'), reason: Type.Enum(['replaced', 'shutdown', 'lease_lost', 'revoked']) }),
]);

export const TaskErrorSchema = closed({
  code: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
  message: Type.String({ minLength: 1, maxLength: 8192 }),
  retryable: optional(Type.Boolean()),
  retryAfterMs: optional(count),
  details: optional(jsonObject),
});

/** What a call of a type that `uses` something of its run ends with, in addition to outputs. */
const usedOfRun = {
  ask: optional(
    closed({
      kind: Type.Enum(['approval', 'clarification', 'external-event', 'custom']),
      data: optional(jsonObject),
      resumeSchema: optional(jsonObject),
      timeoutMs: optional(positive),
    }),
  ),
  record: optional(jsonObject),
  variables: optional(namedValues),
  channels: optional(Type.Array(closed({ channel: name, value: anyJson }), { maxItems: 1000 })),
};

export const TaskReportSchema = closed({
  capacity: optional(
    Type.Integer({ minimum: 0, maximum: 1000, description: '0: no new tasks; the worker is draining.' }),
  ),
  results: optional(
    Type.Array(
      closed({
        ...taskRef,
        outputs: optional(namedValues),
        error: optional(TaskErrorSchema),
        ...usedOfRun,
      }),
      { maxItems: 1000 },
    ),
  ),
  chunks: optional(
    Type.Array(closed({ ...taskRef, index: count, text: Type.String({ maxLength: 65_536 }) }), {
      maxItems: 1000,
    }),
  ),
  progress: optional(Type.Array(closed({ ...taskRef, details: optional(anyJson) }), { maxItems: 1000 })),
  logs: optional(
    Type.Array(
      closed({
        ...taskRef,
        level: Type.Enum(['debug', 'info', 'warn', 'error']),
        message: Type.String({ maxLength: 8192 }),
        fields: optional(jsonObject),
      }),
      { maxItems: 1000 },
    ),
  ),
  returned: optional(
    Type.Array(TaskRefSchema, {
      maxItems: 1000,
      description: 'Handed back before they were begun; performed by another worker.',
    }),
  ),
});

export const TaskReceiptSchema = open({
  leaseMs: Type.Integer({
    minimum: 0,
    description: 'From when this report was sent, so long the worker holds its tasks.',
  }),
  refused: Type.Array(
    open(
      { ...taskRef, error: nonEmpty, message: nonEmpty },
      'Reports on tasks that the worker holds no longer.',
    ),
  ),
});

export const WorkerListSchema = open({
  workers: Type.Array(
    open({
      workerId: nonEmpty,
      name: nonEmpty,
      node: Type.String({ description: 'The process that it is connected to.' }),
      state: Type.Enum(['active', 'draining', 'disconnected']),
      connectedAt: dateTime,
      capacity: count,
      running: count,
      types: Type.Array(ServedTypeSchema),
      sdk: optional(nonEmpty),
    }),
  ),
});

export const NodeTypeListSchema = open({
  types: Type.Array(
    open({
      typeId: nonEmpty,
      version: optional(nonEmpty),
      title: optional(nonEmpty),
      summary: optional(Type.String()),
      category: optional(nonEmpty),
      role: optional(nonEmpty),
      builtin: Type.Boolean(),
      workers: optional(count),
      config: jsonObject,
      inputs: optional(jsonObject),
      outputs: optional(jsonObject),
      secrets: optional(Type.Array(nonEmpty)),
      digest: optional(nonEmpty),
    }),
  ),
});

export const MapNodeTypeSchema = closed({
  version: name,
  to: optional(nameOf({ minLength: 1, description: 'Absent: the mapping is removed.' })),
});

export type NodeTypeEntry = Static<typeof NodeTypeListSchema>['types'][number];
export type NodeTypeDocument = Static<typeof NodeTypeDocumentSchema>;
export type RegisterWorkerRequest = Static<typeof RegisterWorkerSchema>;
export type RegisteredWorker = Static<typeof RegisteredWorkerSchema>;
export type WorkerMessage = Static<typeof WorkerMessageSchema>;
export type TaskMessage = Extract<WorkerMessage, { type: 'task' }>;
export type TaskReport = Static<typeof TaskReportSchema>;
export type TaskReceipt = Static<typeof TaskReceiptSchema>;
export type WorkerDocument = Static<typeof WorkerListSchema>['workers'][number];
export type TaskError = Static<typeof TaskErrorSchema>;
