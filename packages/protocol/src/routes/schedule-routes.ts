import { describeRoutes, IDEMPOTENCY_ERRORS, IDEMPOTENCY_KEY, PAGE } from './route-description.ts';
import { name } from '../documents/schema-parts.ts';
import {
  BackfillScheduleSchema,
  BackfillSchema,
  CreatedTriggerSchema,
  CreateScheduleSchema,
  CreateTriggerSchema,
  DeadLetterListSchema,
  IngestAnswerSchema,
  RegisteredTriggerSchema,
  RegisterTriggerSchema,
  ScheduleDetailsSchema,
  ScheduleListSchema,
  ScheduleSchema,
  StartedRunSchema,
  TestTriggerSchema,
  TriggerInputsSchema,
  TriggerListSchema,
  TriggerSchema,
} from '../documents/schedules.ts';

const MANAGE = 'schedules:manage';
const SOURCE = {
  name: 'source',
  description: 'schedule:NAME, trigger:ID, or runs for those that failed after their last retry.',
  schema: name,
  required: true,
} as const;

/** Trigger subscriptions as the protocol defines them. */
export const TRIGGER_SUBSCRIPTION_ROUTES = describeRoutes({
  registerTrigger: {
    scope: 'webhooks:manage',
    summary: 'Has a workflow started by what is delivered to a URL, signed with a secret that is shown once.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: RegisterTriggerSchema, required: true },
    responses: {
      201: {
        description: 'Registered. The secret is in the header Weft-Trigger-Secret.',
        schema: RegisteredTriggerSchema,
        headers: ['Weft-Trigger-Secret'],
      },
    },
    errors: [
      'validation_error',
      ...IDEMPOTENCY_ERRORS,
      'not_found',
      'conflict',
      'capability_not_provided',
      'payload_too_large',
    ],
  },
});

/** What Weft adds under its own prefix. */
export const SCHEDULE_ROUTES = describeRoutes({
  createSchedule: {
    scope: MANAGE,
    summary: 'Has a workflow started by the clock.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: CreateScheduleSchema, required: true },
    responses: { 201: { description: 'The schedule, active.', schema: ScheduleSchema } },
    errors: [
      'validation_error',
      ...IDEMPOTENCY_ERRORS,
      'not_found',
      'conflict',
      'schedule_exists',
      'schedule_horizon_exceeded',
      'payload_too_large',
    ],
  },
  listSchedules: {
    scope: MANAGE,
    summary: 'The schedules of the caller’s tenant, newest first.',
    query: PAGE,
    responses: { 200: { description: 'A page of schedules.', schema: ScheduleListSchema } },
    errors: ['validation_error'],
  },
  getSchedule: {
    scope: MANAGE,
    summary: 'One schedule, with its last and its next firings and why one was skipped.',
    responses: { 200: { description: 'The schedule.', schema: ScheduleDetailsSchema } },
    errors: [],
  },
  removeSchedule: {
    scope: MANAGE,
    summary: 'Removes a schedule. Its runs continue.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Removed.' } },
    errors: [...IDEMPOTENCY_ERRORS, 'conflict'],
  },
  pauseSchedule: {
    scope: MANAGE,
    summary: 'Starts nothing until the schedule is resumed.',
    responses: { 200: { description: 'The schedule, paused.', schema: ScheduleSchema } },
    errors: [],
  },
  resumeSchedule: {
    scope: MANAGE,
    summary: 'Continues a paused schedule; what was due meanwhile is skipped.',
    responses: { 200: { description: 'The schedule, active.', schema: ScheduleSchema } },
    errors: [],
  },
  triggerSchedule: {
    scope: MANAGE,
    summary: 'Starts a run of the schedule now, whatever its overlap policy.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 201: { description: 'The run.', schema: StartedRunSchema } },
    errors: [...IDEMPOTENCY_ERRORS, 'conflict'],
  },
  backfillSchedule: {
    scope: MANAGE,
    summary: 'Starts a run for each due time of a range in the past that has none.',
    request: { schema: BackfillScheduleSchema, required: true },
    responses: { 202: { description: 'How many due times the range holds.', schema: BackfillSchema } },
    errors: ['validation_error', 'conflict'],
  },
  createTrigger: {
    scope: MANAGE,
    summary: 'Has a workflow started by what is delivered, in the sender’s own signature scheme.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: CreateTriggerSchema, required: true },
    responses: { 201: { description: 'The trigger, active.', schema: CreatedTriggerSchema } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS, 'not_found', 'conflict', 'payload_too_large'],
  },
  listTriggers: {
    scope: MANAGE,
    summary: 'The webhook triggers of the caller’s tenant, newest first.',
    query: PAGE,
    responses: { 200: { description: 'A page of triggers.', schema: TriggerListSchema } },
    errors: ['validation_error'],
  },
  getTrigger: {
    scope: MANAGE,
    summary: 'One webhook trigger, without its secret.',
    responses: { 200: { description: 'The trigger.', schema: TriggerSchema } },
    errors: [],
  },
  removeTrigger: {
    scope: MANAGE,
    summary: 'Removes a webhook trigger; deliveries to it are refused at once.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Removed.' } },
    errors: [...IDEMPOTENCY_ERRORS, 'conflict'],
  },
  pauseTrigger: {
    scope: MANAGE,
    summary: 'Answers deliveries with 503 until the trigger is resumed.',
    responses: { 200: { description: 'The trigger, paused.', schema: TriggerSchema } },
    errors: [],
  },
  resumeTrigger: {
    scope: MANAGE,
    summary: 'Takes deliveries again.',
    responses: { 200: { description: 'The trigger, active.', schema: TriggerSchema } },
    errors: [],
  },
  testTrigger: {
    scope: MANAGE,
    summary: 'The inputs that a delivery with this content would start a run with. Starts nothing.',
    request: { schema: TestTriggerSchema, required: true },
    responses: { 200: { description: 'The inputs.', schema: TriggerInputsSchema } },
    errors: ['validation_error'],
  },
  ingestDelivery: {
    scope: null,
    summary:
      'A delivery to a webhook trigger. Needs no key: it is verified by its signature, over the bytes of the body.',
    responses: {
      200: {
        description: 'It came before, or only asked whether there is someone.',
        schema: IngestAnswerSchema,
      },
      202: {
        description: 'It started a run, or was kept with the reason why not.',
        schema: IngestAnswerSchema,
      },
    },
    errors: ['unauthenticated', 'payload_too_large', 'dead_letters_full'],
  },
  listDeadLetters: {
    scope: MANAGE,
    summary: 'What a schedule or trigger should have started and did not, newest first.',
    query: [SOURCE, ...PAGE],
    responses: { 200: { description: 'A page of dead letters.', schema: DeadLetterListSchema } },
    errors: ['validation_error'],
  },
  replayDeadLetter: {
    scope: MANAGE,
    summary: 'Starts what should have been started, and removes the letter.',
    query: [SOURCE],
    responses: { 201: { description: 'The run.', schema: StartedRunSchema } },
    errors: ['validation_error', 'conflict'],
  },
  removeDeadLetter: {
    scope: MANAGE,
    summary: 'Removes a dead letter without starting anything.',
    query: [SOURCE],
    responses: { 204: { description: 'Removed.' } },
    errors: ['validation_error'],
  },
});
