import { type Static, Type } from 'typebox';
import {
  anyJson,
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
  positive,
  runId,
  uri,
} from './schema-parts.ts';

/** Schedules, webhook triggers, and what they could not start. */

const optional = Type.Optional;
const nextCursor = optional(Type.String({ description: 'Absent on the last page.' }));

const OVERLAP = ['skip', 'queue-one', 'queue-all', 'cancel-other', 'allow'] as const;
const workflowId = nameOf({ minLength: 1, maxLength: 128 });
const milliseconds = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const CreateScheduleSchema = closed({
  name: nameOf({ pattern: '^[a-z][a-z0-9_-]*$', minLength: 1, maxLength: 128 }),
  workflowId,
  inputs: optional(namedValues),
  everyMs: optional(Type.Integer({ minimum: 1, description: 'The interval. Either this or cron.' })),
  cron: optional(
    nameOf({ maxLength: 256, description: 'Five fields: minute, hour, day of month, month, day of week.' }),
  ),
  timeZone: optional(
    nameOf({ minLength: 1, maxLength: 64, description: 'IANA name, for cron. Default: UTC.' }),
  ),
  overlap: optional(
    Type.Enum([...OVERLAP], { description: 'What happens while a run is open. Default: skip.' }),
  ),
  jitterMs: optional(milliseconds),
  catchUpMs: optional(
    Type.Integer({ minimum: 0, description: 'Due times missed by more are skipped. Default: an hour.' }),
  ),
  start: optional(dateTime),
  end: optional(dateTime),
  pauseOnFailure: optional(Type.Boolean()),
});

const FiringSchema = open({
  dueAt: dateTime,
  until: optional(dateTime),
  at: dateTime,
  outcome: Type.Enum(['started', 'queued', 'skipped', 'dead-lettered']),
  runId: optional(runId),
  reason: optional(nonEmpty),
});

const scheduleFields = {
  name: nonEmpty,
  workflowId: nonEmpty,
  state: Type.Enum(['active', 'paused', 'ended']),
  inputs: jsonObject,
  everyMs: optional(positive),
  cron: optional(nonEmpty),
  timeZone: optional(nonEmpty),
  overlap: Type.Enum([...OVERLAP]),
  jitterMs: count,
  catchUpMs: count,
  start: optional(dateTime),
  end: optional(dateTime),
  pauseOnFailure: Type.Boolean(),
  createdAt: dateTime,
  createdBy: nonEmpty,
  ownedBy: optional(open({ workflowId: nonEmpty, triggerId: nonEmpty })),
  paused: optional(open({ at: dateTime, reason: nonEmpty, by: optional(nonEmpty) })),
  nextDueAt: optional(dateTime),
  openRuns: Type.Array(runId),
  queued: Type.Array(dateTime),
  counts: open({ started: count, queued: count, skipped: count, 'dead-lettered': count }),
};

export const ScheduleSchema = open(scheduleFields);
export const ScheduleListSchema = open({ schedules: Type.Array(ScheduleSchema), nextCursor });
export const ScheduleDetailsSchema = open({
  ...scheduleFields,
  firings: Type.Array(FiringSchema, { description: 'The last ones, newest first.' }),
  upcoming: Type.Array(dateTime, { description: 'The next ten due times.' }),
});

export const BackfillScheduleSchema = closed({ from: dateTime, to: dateTime });
export const BackfillSchema = open({ dueTimes: count, from: dateTime, to: dateTime });
export const StartedRunSchema = open({ runId });

const RETRY_POLICY = {
  maxAttempts: optional(Type.Integer({ minimum: 1, maximum: 10 })),
  backoff: optional(Type.Enum(['none', 'fixed', 'exponential'])),
};
const SCHEMES = ['hmac', 'github', 'stripe', 'slack', 'shared-secret'] as const;
const InputMapping = mapOf<string>(
  Type.String({ maxLength: 4_096 }),
  'By input: a CEL expression over body, headers, deliveryId and receivedAt.',
);

/** As the protocol has it. */
export const RegisterTriggerSchema = closed({
  source: Type.Enum(['webhook', 'email', 'form']),
  workflowId,
  dedupEnabled: optional(Type.Boolean()),
  retryPolicy: optional(closed(RETRY_POLICY)),
  verification: optional(closed({ mode: optional(Type.Enum(['required', 'best-effort', 'none'])) })),
  inputMapping: optional(InputMapping),
});

const retryPolicy = open({ maxAttempts: positive, backoff: nonEmpty });

export const RegisteredTriggerSchema = closed({
  subscription: closed({
    subscriptionId: nonEmpty,
    source: Type.Literal('webhook'),
    state: nonEmpty,
    dedupEnabled: Type.Boolean(),
    retryPolicy,
    secretFingerprint: optional(Type.String({ minLength: 1, maxLength: 32 })),
  }),
  binding: closed({
    ingestUrl: uri,
    secretFingerprint: optional(Type.String({ minLength: 1, maxLength: 32 })),
  }),
});

export const CreateTriggerSchema = closed({
  workflowId,
  scheme: optional(Type.Enum([...SCHEMES], { description: 'How deliveries are signed. Default: hmac.' })),
  secret: optional(
    Type.String({ maxLength: 1_024, description: 'The sender’s; one is made where the scheme allows it.' }),
  ),
  secretId: optional(name),
  inputMapping: optional(InputMapping),
  dedupEnabled: optional(Type.Boolean()),
  retryPolicy: optional(closed(RETRY_POLICY)),
});

const triggerFields = {
  id: nonEmpty,
  workflowId: nonEmpty,
  scheme: Type.Enum([...SCHEMES]),
  state: Type.Enum(['active', 'paused', 'dead-lettered']),
  ingestUrl: uri,
  secretFingerprint: optional(nonEmpty),
  secretId: optional(nonEmpty),
  inputMapping: optional(jsonObject),
  dedupEnabled: Type.Boolean(),
  retryPolicy,
  createdAt: dateTime,
  createdBy: nonEmpty,
  ownedBy: optional(open({ workflowId: nonEmpty, triggerId: nonEmpty })),
  changes: Type.Array(open({ at: dateTime, from: nonEmpty, to: nonEmpty, reason: nonEmpty, by: nonEmpty })),
};

export const TriggerSchema = open(triggerFields);
export const CreatedTriggerSchema = open({
  ...triggerFields,
  secret: optional(Type.String({ description: 'Shown once, where this host made it.' })),
});
export const TriggerListSchema = open({ triggers: Type.Array(TriggerSchema), nextCursor });

export const TestTriggerSchema = closed({ body: anyJson, headers: optional(namedValues) });
export const TriggerInputsSchema = open({ inputs: jsonObject });

export const IngestAnswerSchema = open({
  runId: optional(runId),
  duplicate: optional(Type.Boolean()),
  retrying: optional(Type.Boolean()),
  deadLetterId: optional(nonEmpty),
  reason: optional(nonEmpty),
});

export const DeadLetterListSchema = open({
  deadLetters: Type.Array(
    open({
      id: nonEmpty,
      source: nonEmpty,
      reason: nonEmpty,
      message: nonEmpty,
      at: dateTime,
      attempts: positive,
      dueAt: optional(dateTime),
      deliveryId: optional(nonEmpty),
      bytes: optional(count),
      runId: optional(runId),
      nodeId: optional(nonEmpty),
    }),
  ),
  nextCursor,
});

export type CreateScheduleRequest = Static<typeof CreateScheduleSchema>;
export type CreateTriggerRequest = Static<typeof CreateTriggerSchema>;
