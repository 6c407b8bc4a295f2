import { Type } from 'typebox';
import {
  ExplanationSchema,
  ImportedRunSchema,
  InterruptListSchema,
  LinkedQuestionSchema,
  RegistrationSchema,
  ReleasedRunSchema,
  RetentionSchema,
  RUN_BUCKETS,
  RunCountsSchema,
  RunListSchema,
  SetRetentionSchema,
  StatsSchema,
  WorkflowListSchema,
  WorkflowReportSchema,
} from '../documents/host-extension.ts';
import { KEY_ROUTES } from './key-routes.ts';
import {
  describeRoutes,
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY,
  LINK_ERRORS,
  PAGE,
  type Parameter,
} from './route-description.ts';
import { RUN_STATUSES } from '../documents/run-statuses.ts';
import { dateTime, jsonObject, name, nameOf } from '../documents/schema-parts.ts';
import {
  ArtifactListSchema,
  SECRET_SCOPES,
  SecretListSchema,
  SecretSchema,
  SetSecretSchema,
} from '../documents/secrets-and-artifacts.ts';
import { WorkflowDefinitionSchema, WorkflowSourceSchema } from '../documents/workflow.ts';

const STRICT: Parameter = {
  name: 'strict',
  description: 'Warnings count as errors.',
  schema: Type.Boolean(),
};

const workflows = describeRoutes({
  registerWorkflow: {
    scope: 'workflows:write',
    summary: 'Registers a workflow. The same content again changes nothing.',
    query: [STRICT],
    headers: [IDEMPOTENCY_KEY],
    request: { schema: WorkflowSourceSchema, required: true },
    responses: {
      200: { description: 'The same content is registered already.', schema: RegistrationSchema },
      201: { description: 'Registered, and now the current version.', schema: RegistrationSchema },
    },
    errors: [
      'validation_error',
      'capability_required',
      'workflow_version_exists',
      ...IDEMPOTENCY_ERRORS,
      'payload_too_large',
    ],
  },
  listWorkflows: {
    scope: 'manifest:read',
    summary: 'The registered workflows.',
    query: PAGE,
    responses: { 200: { description: 'A page of workflows.', schema: WorkflowListSchema } },
    errors: ['validation_error'],
  },
  getWorkflowVersion: {
    scope: 'manifest:read',
    summary: 'One version of a workflow.',
    query: [{ name: 'version', description: 'Default: the current one.', schema: name }],
    responses: { 200: { description: 'The definition.', schema: WorkflowDefinitionSchema } },
    errors: ['validation_error'],
  },
  checkWorkflow: {
    scope: 'manifest:read',
    summary: 'Says everything that is wrong with a definition; writes nothing.',
    query: [STRICT],
    request: { schema: jsonObject, required: true },
    responses: { 200: { description: 'The report.', schema: WorkflowReportSchema } },
    errors: ['validation_error', 'payload_too_large'],
  },
});

const RUN_FILTERS: readonly Parameter[] = [
  { name: 'workflowId', description: 'Only runs of this workflow.', schema: name },
  { name: 'tag', description: 'Only runs with this tag.', schema: name },
  { name: 'source', description: 'Only runs started by schedule:NAME or trigger:ID.', schema: name },
  { name: 'errorCode', description: 'Only runs that failed with this.', schema: name },
  {
    name: 'q',
    description: 'Only runs whose id begins with this; they are listed by id, the greatest first.',
    schema: nameOf({ pattern: '^[0-9A-Fa-f-]{1,36}$' }),
  },
  { name: 'quarantined', description: 'Only quarantined runs.', schema: Type.Literal(true) },
];

const runs = describeRoutes({
  listRuns: {
    scope: 'runs:read',
    summary: 'Runs, newest first.',
    query: [
      {
        name: 'status',
        description: `One or several of ${RUN_STATUSES.join(', ')}, separated by commas.`,
        schema: name,
      },
      ...RUN_FILTERS,
      { name: 'since', description: 'Created at this time or later.', schema: dateTime },
      { name: 'until', description: 'Created before this time.', schema: dateTime },
      ...PAGE,
    ],
    responses: { 200: { description: 'A page of runs.', schema: RunListSchema } },
    errors: ['validation_error'],
  },
  countRuns: {
    scope: 'runs:read',
    summary: 'How many runs were created when, by status. Of very many, the newest are counted.',
    query: [
      {
        name: 'bucket',
        description: 'The time that runs are counted by. At most 1,000 of them fit between since and until.',
        schema: Type.Enum(Object.keys(RUN_BUCKETS)),
        required: true,
      },
      { name: 'since', description: 'Created at this time or later.', schema: dateTime, required: true },
      { name: 'until', description: 'Created before this time. Default: now.', schema: dateTime },
      {
        name: 'status',
        description:
          'One or several of those of a list, separated by commas; a run that is cancelling counts as what it was.',
        schema: name,
      },
      ...RUN_FILTERS,
    ],
    responses: { 200: { description: 'The counts.', schema: RunCountsSchema } },
    errors: ['validation_error'],
  },
  explainRun: {
    scope: 'runs:read',
    summary: 'What a run waits for, as a sentence and as data.',
    responses: { 200: { description: 'The explanation.', schema: ExplanationSchema } },
    errors: [],
  },
  releaseRun: {
    scope: 'host:admin',
    summary: 'Gives a quarantined run another chance.',
    responses: { 200: { description: 'Released; it continues where it was.', schema: ReleasedRunSchema } },
    errors: ['conflict', 'run_damaged'],
  },
});

const imports = describeRoutes({
  importBundle: {
    scope: 'runs:create',
    summary:
      'Makes a run that is only read out of a debug bundle of any OpenWOP host. The same bundle again changes nothing.',
    request: { schema: jsonObject, required: true },
    responses: {
      200: { description: 'This bundle was imported before.', schema: ImportedRunSchema },
      201: { description: 'Imported.', schema: ImportedRunSchema },
    },
    headers: [
      {
        name: 'Content-Encoding',
        description: 'With "gzip", the body is unpacked, up to the same limit.',
        schema: Type.Enum(['gzip', 'identity']),
      },
    ],
    errors: ['validation_error', 'bundle_invalid', 'payload_too_large', 'unsupported_encoding'],
  },
});

const secrets = describeRoutes({
  setSecret: {
    scope: 'secrets:manage',
    summary: 'Keeps a secret, encrypted, in place of an earlier one. Its value cannot be read again.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: SetSecretSchema, required: true },
    responses: { 200: { description: 'It is kept.', schema: SecretSchema } },
    errors: ['validation_error', 'capability_not_provided', ...IDEMPOTENCY_ERRORS, 'payload_too_large'],
  },
  listSecrets: {
    scope: 'secrets:manage',
    summary: 'The tenant’s secrets and the caller’s own, without their values.',
    responses: { 200: { description: 'All of them, by id.', schema: SecretListSchema } },
    errors: [],
  },
  removeSecret: {
    scope: 'secrets:manage',
    summary: 'Removes a secret.',
    query: [
      {
        name: 'scope',
        description: 'The tenant’s, or the caller’s own. Default: tenant.',
        schema: Type.Enum([...SECRET_SCOPES]),
      },
    ],
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Removed.' } },
    errors: ['validation_error', ...IDEMPOTENCY_ERRORS],
  },
});

const artifacts = describeRoutes({
  listArtifacts: {
    scope: 'artifacts:read',
    summary: 'Artifacts of a run, newest first.',
    query: PAGE,
    responses: { 200: { description: 'A page of artifacts.', schema: ArtifactListSchema } },
    errors: ['validation_error'],
  },
});

const interrupts = describeRoutes({
  listInterrupts: {
    scope: 'runs:read',
    summary: 'Questions that wait for an answer, across runs. A page is counted in runs.',
    query: PAGE,
    responses: { 200: { description: 'Open questions.', schema: InterruptListSchema } },
    errors: ['validation_error'],
  },
  readQuestionLink: {
    scope: null,
    summary: 'The question behind a signed link, with the workflow that asks it and until when.',
    responses: { 200: { description: 'The question.', schema: LinkedQuestionSchema } },
    errors: LINK_ERRORS,
  },
});

const observation = describeRoutes({
  readStats: {
    scope: 'host:admin',
    summary: 'Counters of this process: runs in memory, commits, event-loop delay.',
    responses: { 200: { description: 'The counters as of now.', schema: StatsSchema } },
    errors: [],
  },
  readMetrics: {
    scope: 'host:admin',
    summary: 'Metrics of this process in Prometheus text format 0.0.4.',
    responses: {
      200: { description: 'The metrics as of now.', schema: Type.String(), contentType: 'text/plain' },
    },
    errors: [],
  },
});

const TENANT: Parameter = {
  name: 'tenant',
  description: 'Default: the caller’s own.',
  schema: nameOf({ minLength: 1, maxLength: 128 }),
};

const retention = describeRoutes({
  removeRun: {
    scope: 'host:admin',
    summary: 'Removes a run that has ended, with all that belongs to it. Afterwards it is answered with 410.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Removed.' } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  eraseRun: {
    scope: 'host:admin',
    summary:
      'Erases what is kept behind the masks of a run that has ended: inputs and masked values. Its log stays.',
    headers: [IDEMPOTENCY_KEY],
    responses: { 204: { description: 'Erased.' } },
    errors: ['validation_error', 'conflict', ...IDEMPOTENCY_ERRORS],
  },
  getRetention: {
    scope: 'host:admin',
    summary: 'How long a tenant’s runs are kept after their end.',
    query: [TENANT],
    responses: { 200: { description: 'The retention that holds.', schema: RetentionSchema } },
    errors: ['validation_error'],
  },
  setRetention: {
    scope: 'host:admin',
    summary:
      'Says how long a tenant’s runs are kept after their end. Older ones are removed within the hour.',
    query: [TENANT],
    request: { schema: SetRetentionSchema, required: true },
    responses: { 200: { description: 'It holds from now on.', schema: RetentionSchema } },
    errors: ['validation_error', 'payload_too_large'],
  },
  resetRetention: {
    scope: 'host:admin',
    summary: 'A tenant’s runs are kept again as long as the host keeps runs by default.',
    query: [TENANT],
    responses: { 200: { description: 'The retention that holds now.', schema: RetentionSchema } },
    errors: ['validation_error'],
  },
  backUp: {
    scope: 'host:admin',
    summary: 'A copy of the whole store, of all tenants, as a file, while the host continues to work.',
    responses: {
      200: {
        description: 'The file; all that was acknowledged before the request is in it.',
        schema: Type.String(),
        contentType: 'application/octet-stream',
        headers: ['Content-Disposition'],
      },
    },
    errors: ['conflict', 'capability_not_provided'],
  },
});

/** What Weft adds under its own prefix. */
export const HOST_ROUTES = {
  ...workflows,
  ...runs,
  ...imports,
  ...interrupts,
  ...secrets,
  ...artifacts,
  ...KEY_ROUTES,
  ...observation,
  ...retention,
};
