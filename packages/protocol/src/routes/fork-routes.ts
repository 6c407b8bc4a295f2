import { Type } from 'typebox';
import { COST_ERRORS } from '../errors/errors.ts';
import {
  AncestrySchema,
  ForkRunResponseSchema,
  ForkRunSchema,
  HostForkRunSchema,
} from '../documents/forks.ts';
import type { Parameter, Route } from './routes.ts';
import { RunSnapshotSchema } from '../documents/runs.ts';

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  description: 'The same key with the same content gets the first answer again, for 24 hours.',
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

const FORK_ERRORS: Route['errors'] = [
  'validation_error',
  ...COST_ERRORS,
  'unsupported_mock_provider',
  'mock_provider_forbidden',
  'fork_out_of_range',
  'fork_incompatible',
  'definition_missing',
  'values_missing',
  'idempotency_in_flight',
  'idempotency_key_mismatch',
  'payload_too_large',
];

const FORKED = { 201: { description: 'The fork exists.', schema: ForkRunResponseSchema } };

/** Forks of runs, their ancestry, and what they were at an earlier sequence. */
export const FORK_ROUTES: readonly Route[] = [
  {
    operationId: 'forkRun',
    method: 'POST',
    path: '/v1/runs/{runId}:fork',
    scope: 'runs:create',
    alsoScope: 'runs:read',
    summary:
      'Starts a run whose log begins as that of another: a replay repeats it by its record, a branch goes its own way.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: ForkRunSchema, required: true },
    responses: FORKED,
    errors: FORK_ERRORS,
  },
  {
    operationId: 'getAncestry',
    method: 'GET',
    path: '/v1/runs/{runId}/ancestry',
    scope: 'runs:read',
    summary: 'Which run started this one as a child, if any. One step up.',
    responses: { 200: { description: 'The run and its parent.', schema: AncestrySchema } },
    errors: [],
  },
  {
    operationId: 'forkRunWith',
    method: 'POST',
    path: '/v1/host/weft/runs/{runId}:fork',
    scope: 'runs:create',
    alsoScope: 'runs:read',
    summary: 'The same, and a branch may have other inputs or another version of the workflow.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: HostForkRunSchema, required: true },
    responses: FORKED,
    errors: FORK_ERRORS,
  },
  {
    operationId: 'getRunState',
    method: 'GET',
    path: '/v1/host/weft/runs/{runId}/state',
    scope: 'runs:read',
    summary: 'A run as it stood right after one of its events.',
    query: [
      {
        name: 'at',
        description: 'The sequence of that event. Default: the newest.',
        schema: Type.Integer({ minimum: 0 }),
      },
    ],
    responses: { 200: { description: 'The snapshot as of that event.', schema: RunSnapshotSchema } },
    errors: ['validation_error', 'sequence_out_of_range'],
  },
];
