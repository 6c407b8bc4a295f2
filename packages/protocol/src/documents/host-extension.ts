import { type Static, Type } from 'typebox';
import { OpenQuestionSchema, RunStatusSchema } from './runs.ts';
import { anyJson, closed, count, dateTime, nameOf, nonEmpty, open, runId } from './schema-parts.ts';

/** What Weft offers beyond the protocol, under a prefix of its own: registration, lists, keys and explanations. */

const optional = Type.Optional;

export const WorkflowProblemSchema = open({
  path: Type.String({ description: 'JSON Pointer of the place; empty for the whole definition.' }),
  message: nonEmpty,
  code: nonEmpty,
  details: optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Of a text that costs too much: limit and observed.',
    }),
  ),
});

export const RegistrationSchema = open({
  id: nonEmpty,
  version: nonEmpty,
  digest: Type.String({ description: 'SHA-256 of the canonical definition, hex.' }),
  created: Type.Boolean({ description: 'False when the same content was registered before.' }),
  warnings: Type.Array(WorkflowProblemSchema),
});

export const WorkflowReportSchema = open({
  ok: Type.Boolean(),
  errors: Type.Array(WorkflowProblemSchema),
  warnings: Type.Array(WorkflowProblemSchema),
  pinned: optional(
    Type.Array(
      open({
        path: Type.String({ description: 'JSON Pointer of the node.' }),
        typeId: nonEmpty,
        version: nonEmpty,
      }),
      { description: 'Nodes whose type workers serve, and the version each would use.' },
    ),
  ),
});

const nextCursor = optional(Type.String({ description: 'Absent on the last page.' }));

const WaitingWorkflowSchema = open({
  id: nonEmpty,
  version: nonEmpty,
  waitingFor: Type.Array(nonEmpty, { description: 'Ids of node types that no worker has served.' }),
});

export const WorkflowListSchema = open({
  waiting: optional(
    Type.Array(WaitingWorkflowSchema, {
      description:
        'On the first page: definitions that the process which answers holds until their node types are known.',
    }),
  ),
  workflows: Type.Array(
    open({
      id: nonEmpty,
      version: nonEmpty,
      name: nonEmpty,
      digest: nonEmpty,
      registeredAt: dateTime,
      nodes: count,
      current: Type.Boolean({ description: 'Runs that name no version get this one.' }),
    }),
  ),
  nextCursor,
});

/** How much time runs are counted by, in milliseconds. */
export const RUN_BUCKETS = {
  '1m': 60_000,
  '5m': 5 * 60_000,
  '15m': 15 * 60_000,
  '1h': 60 * 60_000,
  '6h': 6 * 60 * 60_000,
  '1d': 24 * 60 * 60_000,
} as const;

export const RunSummarySchema = open({
  runId,
  workflowId: nonEmpty,
  workflowVersion: Type.String(),
  status: RunStatusSchema,
  createdAt: dateTime,
  startedAt: optional(dateTime),
  completedAt: optional(dateTime),
  currentNodeId: optional(Type.String()),
  errorCode: optional(Type.String()),
  tags: Type.Array(Type.String()),
  source: optional(Type.String({ description: 'What started it: schedule:NAME or trigger:ID.' })),
  events: count,
  imported: optional(Type.Literal(true, { description: 'Executed elsewhere, and only read here.' })),
  damaged: optional(
    Type.Literal(true, { description: 'The store holds something else of it than was written.' }),
  ),
  quarantined: optional(open({ since: dateTime, reason: nonEmpty })),
});

export type RunSummary = Static<typeof RunSummarySchema>;

export const RunListSchema = open({ runs: Type.Array(RunSummarySchema), nextCursor });

export const RunCountsSchema = open({
  bucket: Type.Enum(Object.keys(RUN_BUCKETS)),
  since: dateTime,
  until: dateTime,
  countedSince: optional(
    Type.String({
      format: 'date-time',
      description: 'There are too many to count all: those created before this are left out.',
    }),
  ),
  buckets: Type.Array(
    open({
      at: dateTime,
      counts: Type.Record(Type.String(), count, { description: 'By status; none is 0.' }),
    }),
  ),
});

export const ExplanationSchema = open({
  runId,
  status: RunStatusSchema,
  waitingFor: Type.Enum([
    'nothing',
    'timer',
    'retry',
    'effect',
    'worker',
    'interrupt',
    'child',
    'claim',
    'queue',
    'resume',
    'command',
    'release',
  ]),
  sentence: nonEmpty,
  nodeId: optional(Type.String()),
  childRunId: optional(Type.String()),
  until: optional(dateTime),
  holder: optional(Type.String()),
  task: optional(
    open(
      {
        typeId: nonEmpty,
        version: nonEmpty,
        since: dateTime,
        worker: optional(nonEmpty),
        node: optional(Type.String({ description: 'The process that the worker is connected to.' })),
        progress: optional(open({ at: dateTime, details: optional(anyJson) })),
      },
      'The task of a node that workers perform.',
    ),
  ),
});

export const ReleasedRunSchema = open({ runId, released: Type.Literal(true) });

const KeyKindSchema = Type.Enum(['service', 'user']);

export const CreateKeySchema = closed({
  tenant: optional(nameOf({ minLength: 1, maxLength: 128, description: 'Default: the caller’s own.' })),
  principal: nameOf({ minLength: 1, maxLength: 128 }),
  workspace: optional(
    nameOf({
      minLength: 1,
      maxLength: 128,
      description: 'Binds the key to a part of the tenant: it reaches the runs of that part alone.',
    }),
  ),
  kind: KeyKindSchema,
  scopes: Type.Array(nameOf({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
  }),
  expiresAt: optional(dateTime),
  label: optional(nameOf({ minLength: 1, maxLength: 256 })),
});

const keyFields = {
  keyId: nonEmpty,
  tenant: nonEmpty,
  principal: nonEmpty,
  workspace: optional(nonEmpty),
  kind: KeyKindSchema,
  test: Type.Boolean(),
  scopes: Type.Array(Type.String()),
  createdAt: dateTime,
  expiresAt: optional(dateTime),
  revokedAt: optional(dateTime),
  label: optional(Type.String()),
};

export const KeyListSchema = open({ keys: Type.Array(open(keyFields)) });

export const CreatedKeySchema = open({
  key: optional(
    Type.String({
      description: 'Shown once; the host keeps only its hash, so a repeated request does not get it again.',
    }),
  ),
  ...keyFields,
});

export const SignInCodeSchema = open({
  code: Type.String({ description: 'Belongs into the fragment of a link: /studio/#code=…' }),
  expiresAt: dateTime,
});

export const OpenSessionSchema = closed({ code: nameOf({ minLength: 1, maxLength: 128 }) });

const holderFields = {
  tenant: nonEmpty,
  principal: nonEmpty,
  workspace: optional(nonEmpty),
  keyId: nonEmpty,
  kind: KeyKindSchema,
  scopes: Type.Array(nonEmpty),
};

export const SessionSchema = open({
  ...holderFields,
  expiresAt: optional(dateTime),
});

export const OpenedSessionSchema = open({
  key: Type.String({ description: 'Shown once; the host keeps only its hash.' }),
  ...holderFields,
  expiresAt: dateTime,
});

export const RotatedLinkKeySchema = open({
  keyId: nonEmpty,
  since: dateTime,
  previousKeyId: optional(
    Type.String({ description: 'Its links are still accepted, until the next rotation.' }),
  ),
});

export const InterruptListSchema = open({
  interrupts: Type.Array(
    open({
      runId,
      workflowId: nonEmpty,
      nodeId: nonEmpty,
      interruptId: nonEmpty,
      kind: nonEmpty,
      requestedAt: dateTime,
      expiresAt: optional(dateTime),
    }),
  ),
  nextCursor,
});

/** What the page behind a signed link shows: the question, which workflow asks it, and until when. */
export const LinkedQuestionSchema = open({
  question: OpenQuestionSchema,
  workflow: open({ id: nonEmpty, name: Type.String({ description: 'As its definition says.' }) }),
  requestedAt: dateTime,
  expiresAt: optional(dateTime),
  linkExpiresAt: dateTime,
});

export const StatsSchema = open({
  live: count,
  pending: count,
  commits: count,
  committedUnits: count,
  loopDelayMs: Type.Number({ minimum: 0 }),
});

const keepForSeconds = (description: string) =>
  Type.Union([Type.Integer({ minimum: 3_600, maximum: 3_155_760_000 }), Type.Null()], { description });

export const SetRetentionSchema = closed({
  keepForSeconds: keepForSeconds('How long runs are kept after their end; null: for ever.'),
});

export const RetentionSchema = open({
  tenant: nonEmpty,
  keepForSeconds: Type.Union([count, Type.Null()], {
    description: 'After the end of a run; null: for ever.',
  }),
  isDefault: Type.Boolean({ description: 'True where the tenant has none of its own and the host’s holds.' }),
});

export const ImportedRunSchema = open({
  runId,
  sourceRunId: nonEmpty,
  status: nonEmpty,
  verified: Type.Boolean({
    description: 'The bundle carries a digest, and it holds. Bundles of other hosts have none.',
  }),
  events: count,
  totalEvents: count,
  truncated: Type.Boolean({ description: 'The bundle holds only the first part of the log.' }),
  definition: Type.Enum(['present', 'missing', 'unusable'], {
    description: 'Unless it is present, the run can be shown and compared, but not forked as it is.',
  }),
});

export const IdentitySchema = open({
  hmac: Type.String({
    pattern: '^[A-Za-z0-9_-]{43}$',
    description:
      'HMAC-SHA-256, base64url, under the secret in the file "identity" of the data folder, over the lines "weft identity v1", the nonce, and the address and port that the request has reached.',
  }),
});

export const HealthSchema = open({ status: nonEmpty });

export type CreateKeyRequest = Static<typeof CreateKeySchema>;
