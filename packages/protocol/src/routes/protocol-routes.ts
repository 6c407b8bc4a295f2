import { Type } from 'typebox';
import { AnnotationCreateSchema, AnnotationListSchema, AnnotationSchema } from '../documents/annotations.ts';
import { CapabilitiesSchema } from '../documents/capabilities.ts';
import { DebugBundleSchema } from '../documents/debug-bundle.ts';
import { COST_ERRORS } from '../errors/errors.ts';
import { EventStreamSchema } from '../documents/event-stream.ts';
import {
  type Answer,
  describeRoutes,
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY,
  LINK_ERRORS,
  type Parameter,
  type RouteDescription,
} from './route-description.ts';
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

const ANSWER_ERRORS: RouteDescription['errors'] = [
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

const PREFER_WAIT: Parameter = {
  name: 'Prefer',
  description:
    'wait=SECONDS: answers when the run has ended, is paused or waits for someone, or when the time is over. At most 60; other preferences are ignored.',
  schema: Type.String(),
};

const VALIDATED: Answer['headers'] = ['ETag'];
const NEGOTIATED: Answer['headers'] = ['ETag', 'Capabilities-Etag'];
const UNCHANGED: Answer = { description: 'Nothing has changed.', headers: VALIDATED };

const discovery = describeRoutes({
  getCapabilities: {
    scope: null,
    summary: 'What this host can do.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: { description: 'The discovery document.', schema: CapabilitiesSchema, headers: NEGOTIATED },
      304: { ...UNCHANGED, headers: NEGOTIATED },
    },
    errors: [],
  },
  getOpenApiSpec: {
    scope: null,
    summary: 'This document.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: { description: 'An OpenAPI 3.1 document.', schema: jsonObject, headers: VALIDATED },
      304: UNCHANGED,
    },
    errors: [],
  },
  getAsyncApiSpec: {
    scope: null,
    summary: 'The event streams, as an AsyncAPI document.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: { description: 'An AsyncAPI 3.1 document.', schema: jsonObject, headers: VALIDATED },
      304: UNCHANGED,
    },
    errors: [],
  },
  getProto: {
    scope: null,
    summary: 'The gRPC service, as a .proto file; also where gRPC is not served.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: {
        description: 'A proto3 file.',
        schema: Type.String(),
        contentType: 'text/plain',
        headers: VALIDATED,
      },
      304: UNCHANGED,
    },
    errors: [],
  },
  getSchema: {
    scope: null,
    summary: 'One of the schemas that this document is made of, complete in itself.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: { description: 'A JSON Schema of the dialect 2020-12.', schema: jsonObject, headers: VALIDATED },
      304: UNCHANGED,
    },
    errors: [],
  },
  getWorkflow: {
    scope: 'manifest:read',
    summary: 'The current definition of a workflow, as it was registered.',
    responses: { 200: { description: 'The definition.', schema: WorkflowDefinitionSchema } },
    errors: [],
  },
});

const runs = describeRoutes({
  createRun: {
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
      PREFER_WAIT,
    ],
    request: { schema: CreateRunSchema, required: true },
    responses: {
      201: {
        description:
          'The run exists. Where it was waited for, `weft.lastEvent` is the newest event of its log.',
        schema: CreateRunResponseSchema,
        headers: ['Location', 'Preference-Applied'],
      },
    },
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
  getRun: {
    scope: 'runs:read',
    summary: 'A run as it stands now.',
    headers: [IF_NONE_MATCH, PREFER_WAIT],
    responses: {
      200: {
        description: 'The snapshot.',
        schema: RunSnapshotSchema,
        headers: ['ETag', 'Preference-Applied'],
      },
      304: UNCHANGED,
    },
    errors: ['run_expired'],
  },
  diffRun: {
    scope: 'runs:read',
    summary: 'How two runs differ: event by event, and in the states they have reached. Canonical JSON.',
    query: [{ name: 'against', description: 'The other run.', schema: name, required: true }],
    responses: { 200: { description: 'The differences, in order.', schema: RunDiffSchema } },
    errors: ['validation_error'],
  },
  cancelRun: {
    scope: 'runs:cancel',
    summary: 'Cancels a run. Cancelling a run that has ended changes nothing.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: CancelRequestSchema, required: false },
    responses: { 200: { description: 'Cancelled, or about to be.', schema: CancelResponseSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  bulkCancelRuns: {
    scope: 'runs:cancel',
    summary: 'Cancels up to 100 runs; each has its own result, in the order asked.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: BulkCancelRequestSchema, required: true },
    responses: { 200: { description: 'One result per run.', schema: BulkCancelResponseSchema } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS],
  },
  pauseRun: {
    scope: 'runs:cancel',
    summary: 'Pauses a run, by default after the running node.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: PauseRequestSchema, required: false },
    responses: { 202: { description: 'The pause is accepted.', schema: PauseResponseSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  resumeRun: {
    scope: 'runs:cancel',
    summary: 'Resumes a paused run.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: ResumeRequestSchema, required: false },
    responses: { 202: { description: 'The run continues.', schema: ResumeResponseSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  resolveInterruptByRun: {
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
  resolveApproval: {
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
  inspectInterruptByToken: {
    scope: null,
    summary: 'The question behind a signed link.',
    responses: { 200: { description: 'The question.', schema: OpenQuestionSchema } },
    errors: LINK_ERRORS,
  },
  resolveInterruptByToken: {
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
});

const events = describeRoutes({
  streamRunEvents: {
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
        description:
          'One frame per event; the id is the sequence. With "Accept: application/json", the whole log as it is now.',
        schema: EventStreamSchema,
        contentType: 'text/event-stream',
        asJson: PollResponseSchema,
        headers: ['X-Accel-Buffering'],
      },
    },
    errors: ['validation_error', 'unsupported_stream_mode', 'run_expired'],
  },
  pollRunEvents: {
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
});

const aboutRuns = describeRoutes({
  getArtifact: {
    scope: 'artifacts:read',
    summary: 'The bytes of something a run has produced, under the media type it was produced with.',
    headers: [IF_NONE_MATCH],
    responses: {
      200: {
        description: 'The bytes. The ETag is their SHA-256.',
        schema: Type.String(),
        contentType: '*/*',
        headers: ['ETag', 'Content-Disposition', 'Content-Security-Policy'],
      },
      304: UNCHANGED,
    },
    errors: [],
  },
  getDebugBundle: {
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
    responses: {
      200: { description: 'The bundle.', schema: DebugBundleSchema },
    },
    errors: ['validation_error', 'run_expired'],
  },
  createAnnotation: {
    scope: 'runs:annotate',
    summary: 'Says something about a run, one of its nodes or one of its events; also when it has ended.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: AnnotationCreateSchema, required: true },
    responses: { 201: { description: 'It is kept.', schema: AnnotationSchema } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  listAnnotations: {
    scope: 'runs:read',
    summary: 'What was said about a run, in the order in which it was said.',
    responses: { 200: { description: 'All of it.', schema: AnnotationListSchema } },
    errors: ['run_expired'],
  },
});

/** What the protocol defines. */
export const PROTOCOL_ROUTES = { ...discovery, ...runs, ...events, ...aboutRuns };
