import { Type } from 'typebox';
import { COST_ERRORS } from '../errors/errors.ts';
import {
  AncestrySchema,
  ForkRunResponseSchema,
  ForkRunSchema,
  HostForkRunSchema,
} from '../documents/forks.ts';
import {
  describeRoutes,
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY,
  type RouteDescription,
} from './route-description.ts';
import { RunSnapshotSchema } from '../documents/runs.ts';

const FORK_ERRORS: RouteDescription['errors'] = [
  'validation_error',
  ...COST_ERRORS,
  'unsupported_mock_provider',
  'mock_provider_forbidden',
  'fork_out_of_range',
  'fork_incompatible',
  'definition_missing',
  'values_missing',
  ...IDEMPOTENCY_ERRORS,
  'payload_too_large',
];

const FORKED: RouteDescription['responses'] = {
  201: { description: 'The fork exists.', schema: ForkRunResponseSchema, headers: ['Location'] },
};

/** Forks of runs, their ancestry, and what they were at an earlier sequence. */
export const FORK_ROUTES = describeRoutes({
  forkRun: {
    scope: 'runs:create',
    alsoScope: 'runs:read',
    summary:
      'Starts a run whose log begins as that of another: a replay repeats it by its record, a branch goes its own way.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: ForkRunSchema, required: true },
    responses: FORKED,
    errors: FORK_ERRORS,
  },
  getRunAncestry: {
    scope: 'runs:read',
    summary: 'Which run started this one as a child, if any. One step up.',
    responses: { 200: { description: 'The run and its parent.', schema: AncestrySchema } },
    errors: [],
  },
  forkRunWith: {
    scope: 'runs:create',
    alsoScope: 'runs:read',
    summary: 'The same, and a branch may have other inputs or another version of the workflow.',
    headers: [IDEMPOTENCY_KEY],
    request: { schema: HostForkRunSchema, required: true },
    responses: FORKED,
    errors: FORK_ERRORS,
  },
  getRunState: {
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
});
