import { Type } from 'typebox';
import { AnnotationCreateSchema, AnnotationListSchema, AnnotationSchema } from '../documents/annotations.ts';
import { CapabilitiesSchema } from '../documents/capabilities.ts';
import { DebugBundleSchema } from '../documents/debug-bundle.ts';
import { COST_ERRORS } from '../errors/errors.ts';
import type { Parameter, Route } from './routes.ts';
import { RunDiffSchema } from '../documents/run-diff.ts';
import {
  BulkCancelRequestSchema,
  BulkCancelResponseSchema,
  CancelRequestSchema,
  CancelResponseSchema,
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
  RunSnapshotSchema,
} from '../documents/runs.ts';
import { jsonObject, name } from '../documents/schema-parts.ts';
import { WorkflowDefinitionSchema } from '../documents/workflow.ts';

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  description: 'The same key with the same content gets the first answer again, for 24 hours.',
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

const LINK_ERRORS: Route['errors'] = [
  'interrupt_not_found',
  'interrupt_already_resolved',
  'interrupt_expired',
];

const ANSWER_ERRORS: Route['errors'] = [
  'validation_error',
  'interrupt_not_found',
  'interrupt_already_resolved',
  'correlation_mismatch',
  ...COST_ERRORS,
];

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  description: 'The ETag of an earlier answer; 304 when nothing has changed.',
  schema: Type.String(),
};

const UNCHANGED = { description: 'Nothing has changed.' };
const IDEMPOTENCY_ERRORS = ['idempotency_in_flight', 'idempotency_key_mismatch'] as const;

const discovery: readonly Route[] = [
  {
    operationId: 'discover',
    method: 'GET',
    path: '/.well-known/openwop',
    scope: null,
    summary: 'What this host can do.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: { description: 'The discovery document.', schema: CapabilitiesSchema },
      304: UNCHANGED,
    },
    errors: [],
  },
  {
    operationId: 'getOpenApi',
    method: 'GET',
    path: '/v1/openapi.json',
    scope: null,
    summary: 'This document.',
    headers: [IF_NONE_MATCH],
    responses: { 200: { description: 'An OpenAPI 3.1 document.', schema: jsonObject }, 304: UNCHANGED },
    errors: [],
  },
  {
    operationId: 'getWorkflow',
    method: 'GET',
    path: '/v1/workflows/{workflowId}',
    scope: 'manifest:read',
    summary: 'The current definition of a workflow, as it was registered.',
    responses: { 200: { description: 'The definition.', schema: WorkflowDefinitionSchema } },
    errors: [],
  },
];

const runs: readonly Route[] = [
  {
    operationId: 'createRun',
    method: 'POST',
    path: '/v1/runs',
    scope: 'runs:create',
    summary: 'Starts a run. It is durable before the answer.',
    headers: [
      IDEMPOTENCY_KEY,
      {
        name: 'X-Dedup',
        description: 'With "enforce", only one active run per scopeId.',
        schema: Type.Literal('enforce'),
      },
      {
        name: 'X-Force-Engine-Version',
        description: 'Test keys only: the engine version to stamp on the run.',
        schema: Type.Integer({ minimum: 0 }),
      },
    ],
    request: { schema: CreateRunSchema, required: true },
    responses: { 201: { description: 'The run exists.', schema: CreateRunResponseSchema } },
    errors: [
      'validation_error',
      ...COST_ERRORS,
      'unsupported_force_engine_version',
      'unsupported_mock_provider',
      'capability_required',
      'force_engine_version_forbidden',
      'mock_provider_forbidden',
      'run_already_active',
      ...IDEMPOTENCY_ERRORS,
      'payload_too_large',
      'capability_not_provided',
    ],
  },
  {
    operationId: 'getRun',
    method: 'GET',
    path: '/v1/runs/{runId}',
    scope: 'runs:read',
    summary: 'A run as it stands now.',
    headers: [IF_NONE_MATCH],
    responses: { 200: { description: 'The snapshot.', schema: RunSnapshotSchema }, 304: UNCHANGED },
    errors: ['run_expired'],
  },
  {
    operationId: 'diffRuns',
    method: 'GET',
    path: '/v1/runs/{runId}:diff',
    scope: 'runs:read',
    summary: 'How two runs differ: event by event, and in the states they have reached. Canonical JSON.',
    query: [{ name: 'against', description: 'The other run; needed.', schema: name }],
    responses: { 200: { description: 'The differences, in order.', schema: RunDiffSchema } },
    errors: ['validation_error'],
  },
  {
    operationId: 'cancelRun',
    method: 'POST',
    path: '/v1/runs/{runId}/cancel',
    scope: 'runs:cancel',
    summary: 'Cancels a run. Cancelling a run that has ended changes nothing.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: CancelRequestSchema, required: false },
    responses: { 200: { description: 'Cancelled, or about to be.', schema: CancelResponseSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  {
    operationId: 'bulkCancelRuns',
    method: 'POST',
    path: '/v1/runs:bulk-cancel',
    scope: 'runs:cancel',
    summary: 'Cancels up to 100 runs; each has its own result, in the order asked.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: BulkCancelRequestSchema, required: true },
    responses: { 200: { description: 'One result per run.', schema: BulkCancelResponseSchema } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS],
  },
  {
    operationId: 'pauseRun',
    method: 'POST',
    path: '/v1/runs/{runId}:pause',
    scope: 'runs:cancel',
    summary: 'Pauses a run, by default after the running node.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: PauseRequestSchema, required: false },
    responses: { 202: { description: 'The pause is accepted.', schema: PauseResponseSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  {
    operationId: 'resumeRun',
    method: 'POST',
    path: '/v1/runs/{runId}:resume',
    scope: 'runs:cancel',
    summary: 'Resumes a paused run.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: ResumeRequestSchema, required: false },
    responses: { 202: { description: 'The run continues.', schema: ResumeResponseSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  {
    operationId: 'resolveInterrupt',
    method: 'POST',
    path: '/v1/runs/{runId}/interrupts/{nodeId}',
    scope: 'approvals:respond',
    summary: 'Answers the question a node has asked.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: ResolveRequestSchema, required: true },
    responses: {
      200: { description: 'Accepted; the run may wait for more votes.', schema: ResolveResponseSchema },
      202: {
        description:
          'Stored, and evaluated as soon as a process claims the run; ask again with the same key.',
        schema: ResolveResponseSchema,
      },
    },
    errors: [...ANSWER_ERRORS, 'interrupt_gone', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  {
    operationId: 'resolveApproval',
    method: 'POST',
    path: '/v1/runs/{runId}/approvals/{nodeId}',
    scope: 'approvals:respond',
    summary: 'The same for clients of an earlier draft: the body is the answer itself.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: jsonObject, required: true },
    responses: {
      200: { description: 'Accepted; the run may wait for more votes.', schema: ResolveResponseSchema },
      202: {
        description:
          'Stored, and evaluated as soon as a process claims the run; ask again with the same key.',
        schema: ResolveResponseSchema,
      },
    },
    errors: [...ANSWER_ERRORS, 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  {
    operationId: 'inspectInterrupt',
    method: 'GET',
    path: '/v1/interrupts/{token}',
    scope: null,
    summary: 'The question behind a signed link.',
    responses: { 200: { description: 'The question.', schema: OpenQuestionSchema } },
    errors: LINK_ERRORS,
  },
  {
    operationId: 'resolveInterruptByLink',
    method: 'POST',
    path: '/v1/interrupts/{token}',
    scope: null,
    summary: 'Answers the question behind a signed link; needs no key.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: ResolveRequestSchema, required: true },
    responses: {
      200: { description: 'Accepted; the run may wait for more votes.', schema: ResolveResponseSchema },
      202: {
        description:
          'Stored, and evaluated as soon as a process claims the run; ask again with the same key.',
        schema: ResolveResponseSchema,
      },
    },
    errors: [
      ...LINK_ERRORS,
      'validation_error',
      'forbidden',
      'auth_elevation_required',
      'correlation_mismatch',
      ...IDEMPOTENCY_ERRORS,
      ...COST_ERRORS,
    ],
  },
];

const events: readonly Route[] = [
  {
    operationId: 'streamRunEvents',
    method: 'GET',
    path: '/v1/runs/{runId}/events',
    scope: 'runs:read',
    summary: 'The events of a run as server-sent events, until it ends.',
    query: [
      {
        name: 'streamMode',
        description: 'A mode, or several separated by commas. Default: updates.',
        schema: Type.String({
          pattern: '^(values|updates|messages|debug)(,(values|updates|messages|debug))*$',
        }),
      },
      {
        name: 'bufferMs',
        description: 'Collects events for this long and sends them as one batch; 0 sends at once.',
        schema: Type.Integer({ minimum: 0, maximum: 5000 }),
      },
    ],
    headers: [
      {
        name: 'Last-Event-ID',
        description: 'The last sequence already seen; the stream continues after it.',
        schema: Type.Integer({ minimum: -1 }),
      },
    ],
    responses: {
      200: {
        description: 'One frame per event; the id is the sequence.',
        schema: Type.String(),
        contentType: 'text/event-stream',
      },
    },
    errors: ['validation_error', 'unsupported_stream_mode', 'run_expired'],
  },
  {
    operationId: 'pollRunEvents',
    method: 'GET',
    path: '/v1/runs/{runId}/events/poll',
    scope: 'runs:read',
    summary: 'Events after a sequence; waits for one when there is none yet.',
    query: [
      {
        name: 'lastSequence',
        description: 'The last sequence already seen; leave it out to start at the first event.',
        schema: Type.Integer({ minimum: -1 }),
      },
      {
        name: 'timeout',
        description: 'Seconds to wait. Default: 30.',
        schema: Type.Integer({ minimum: 1, maximum: 60 }),
      },
      {
        name: 'limit',
        description: 'Events in one answer. Default: 100.',
        schema: Type.Integer({ minimum: 1, maximum: 1000 }),
      },
    ],
    responses: { 200: { description: 'A page of events.', schema: PollResponseSchema } },
    errors: ['validation_error', 'run_expired'],
  },
];

const aboutRuns: readonly Route[] = [
  {
    operationId: 'getArtifact',
    method: 'GET',
    path: '/v1/runs/{runId}/artifacts/{artifactId}',
    scope: 'artifacts:read',
    summary: 'The bytes of something a run has produced, under the media type it was produced with.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: {
        description: 'The bytes. The ETag is their SHA-256.',
        schema: Type.String(),
        contentType: 'application/octet-stream',
      },
      304: UNCHANGED,
    },
    errors: [],
  },
  {
    operationId: 'getDebugBundle',
    method: 'GET',
    path: '/v1/runs/{runId}/debug-bundle',
    scope: 'runs:read',
    summary: 'Everything about a run in one document to carry away, with secrets and inputs masked.',
    query: [
      {
        name: 'maxEvents',
        description: 'Takes only the first events of the log. The answer is cut at 8 MiB in any case.',
        schema: Type.Integer({ minimum: 0 }),
      },
      {
        name: 'host.weft.maxEvents',
        description: 'The same, by the name that the protocol leaves to this host.',
        schema: Type.Integer({ minimum: 0 }),
      },
    ],
    responses: { 200: { description: 'The bundle.', schema: DebugBundleSchema } },
    errors: ['validation_error', 'run_expired'],
  },
  {
    operationId: 'annotateRun',
    method: 'POST',
    path: '/v1/runs/{runId}/annotations',
    scope: 'runs:annotate',
    summary: 'Says something about a run, one of its nodes or one of its events; also when it has ended.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: AnnotationCreateSchema, required: true },
    responses: { 201: { description: 'It is kept.', schema: AnnotationSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  {
    operationId: 'listAnnotations',
    method: 'GET',
    path: '/v1/runs/{runId}/annotations',
    scope: 'runs:read',
    summary: 'What was said about a run, in the order in which it was said.',
    responses: { 200: { description: 'All of it.', schema: AnnotationListSchema } },
    errors: ['run_expired'],
  },
];

/** What the protocol defines. */
export const PROTOCOL_ROUTES: readonly Route[] = [...discovery, ...runs, ...events, ...aboutRuns];
