import { isJsonObject, type JsonObject } from '@weft/protocol';
import {
  answered,
  events,
  numbered,
  omit,
  payloads,
  refusal,
  replyWith,
  run,
  status,
  variables,
} from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { bodyOf, ignoresHeader, sent } from '../../mutants/requests.ts';
import { CANCEL, CREATE, PAUSE, POLL, RESOLVE, RESUME, RUNS, SNAPSHOT } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

const BULK = { method: 'POST', path: /:bulk-cancel$/ } as const;

export const RUN_MUTANTS: readonly Mutant[] = [
  {
    id: 'runs/created-with-200',
    breaks: 'a created run is answered with 200',
    caughtBy: ['runs/create'],
    says: /status 201/,
    on: CREATE,
    answer: status(201, 200),
  },
  {
    id: 'runs/created-without-id',
    breaks: 'a created run is answered with its id under another name',
    caughtBy: ['runs/create'],
    says: /created run has a runId/,
    on: CREATE,
    answer: run((created) => ({ ...omit(created, 'runId'), id: created['runId'] ?? '' })),
  },
  {
    id: 'runs/noop-fails',
    breaks: 'a run that does nothing fails',
    caughtBy: ['runs/create'],
    says: /does nothing completes/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['status'] === 'completed' ? { ...snapshot, status: 'failed' } : snapshot,
    ),
  },
  {
    id: 'runs/created-as-completed',
    breaks: 'the answer to a creation says completed',
    caughtBy: ['runs/created-answer'],
    says: /pending, running or a waiting one/,
    on: CREATE,
    answer: run((created) => ({ ...created, status: 'completed' })),
  },
  {
    id: 'runs/no-events-url',
    breaks: 'the answer to a creation has no eventsUrl',
    caughtBy: ['runs/created-answer'],
    says: /has an eventsUrl/,
    on: CREATE,
    answer: run((created) => omit(created, 'eventsUrl')),
  },
  {
    id: 'runs/colon-in-id',
    breaks: 'run ids have colons',
    caughtBy: ['runs/created-answer'],
    says: /no colon/,
    on: CREATE,
    answer: run((created) => ({ ...created, runId: `run:${String(created['runId'])}` })),
  },
  {
    id: 'runs/another-run',
    breaks: 'a snapshot is of another run',
    caughtBy: ['runs/snapshot'],
    says: /run that was asked for/,
    on: SNAPSHOT,
    answer: run((snapshot) => ({ ...snapshot, runId: 'another-run' })),
  },
  {
    id: 'runs/status-outside-vocabulary',
    breaks: 'the host has a status of its own',
    caughtBy: ['runs/snapshot'],
    says: /one of the vocabulary/,
    on: SNAPSHOT,
    answer: run((snapshot) => ({ ...snapshot, status: 'succeeded' })),
  },
  {
    id: 'runs/owner-as-text',
    breaks: 'the owner of a run is a text',
    caughtBy: ['runs/snapshot'],
    says: /object with a tenant/,
    on: SNAPSHOT,
    answer: run((snapshot) => ({ ...snapshot, owner: 'tenant-1' })),
  },
  {
    id: 'runs/unknown-is-empty',
    breaks: 'an unknown run is answered with an empty object',
    caughtBy: ['runs/unknown'],
    says: /status 404 or 403/,
    on: SNAPSHOT,
    answer: status(404, 200),
  },
  {
    id: 'runs/nested-error',
    breaks: 'the code of an error is nested',
    caughtBy: ['runs/unknown', 'runs/cancel-unknown'],
    says: /error's error is a text/,
    on: { path: /^\/v1\/runs\// },
    answer: answered((body) =>
      typeof body['error'] === 'string'
        ? { error: { code: body['error'] }, message: body['message'] ?? '' }
        : body,
    ),
  },
  {
    id: 'runs/workflow-not-required',
    breaks: 'a creation without workflowId starts some workflow',
    caughtBy: ['runs/bad-creations'],
    says: /status 400/,
    on: CREATE,
    request: sent((body) => ({ workflowId: 'conformance-noop', ...body })),
  },
  {
    id: 'runs/unknown-workflow-started',
    breaks: 'a run of an unknown workflow is created, and fails later',
    caughtBy: ['runs/unknown-workflow'],
    says: /status 400/,
    on: CREATE,
    answer: (answer) =>
      answer.status === 404 ? replyWith(201, { runId: 'run-of-nothing', status: 'pending' }) : answer,
  },
  {
    id: 'runs/inputs-unchecked',
    breaks: 'inputs are not compared with the declared variables',
    caughtBy: ['runs/wrong-inputs'],
    says: /status 400/,
    on: CREATE,
    request: sent((body) => ({ ...body, inputs: { payload: {} } })),
  },
  {
    id: 'runs/null-dropped',
    breaks: 'members that are null are dropped from inputs',
    caughtBy: ['runs/identity-passthrough'],
    says: /variable payload equals the input/,
    on: SNAPSHOT,
    answer: variables((all) => ({ ...all, payload: omit(objectOf(all['payload']), 'nothing') })),
  },
  {
    id: 'runs/default-ignored',
    breaks: 'a required variable has no default',
    caughtBy: ['runs/default-inputs'],
    says: /status 201/,
    on: CREATE,
    request: (request) =>
      bodyOf(request)['inputs'] === undefined ? { instead: refusal(400, 'validation_error') } : request,
  },
  {
    id: 'runs/never-running',
    breaks: 'a run is pending until it has ended',
    caughtBy: ['runs/running-while-waiting'],
    says: /the run becomes running/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['status'] === 'running' ? { ...snapshot, status: 'pending' } : snapshot,
    ),
  },
  {
    id: 'runs/failed-without-error',
    breaks: 'a failed run does not say why',
    caughtBy: ['runs/failure'],
    says: /has an error/,
    on: SNAPSHOT,
    answer: run((snapshot) => omit(snapshot, 'error')),
  },
  {
    id: 'runs/other-error-code',
    breaks: 'the snapshot has another error code than run.failed',
    caughtBy: ['runs/failure'],
    says: /same error code/,
    on: SNAPSHOT,
    answer: run((snapshot) => ({ ...snapshot, error: { code: 'run_failed', message: 'It failed.' } })),
  },
  {
    id: 'runs/foreign-tenant',
    breaks: 'a tenantId in the body is believed',
    caughtBy: ['runs/foreign-tenant'],
    says: /tenant of the credential/,
    on: RUNS,
    request: (request, memory) => {
      const { tenantId, ...rest } = bodyOf(request);
      if (request.method !== 'POST' || typeof tenantId !== 'string') return request;
      memory.set('tenant', tenantId);
      return { ...request, body: JSON.stringify(rest) };
    },
    answer: run((snapshot, _, memory) => ({ ...snapshot, owner: { tenant: memory.get('tenant') ?? '' } })),
  },
  {
    id: 'runs/dedup-ignored',
    breaks: 'X-Dedup is ignored',
    caughtBy: ['runs/dedup'],
    says: /status 409/,
    on: CREATE,
    request: ignoresHeader('x-dedup'),
  },
  {
    id: 'runs/dedup-without-run',
    breaks: 'the refusal of a second run does not name the active one',
    caughtBy: ['runs/dedup'],
    says: /details\.activeRunId/,
    on: CREATE,
    answer: answered((body) =>
      isJsonObject(body['details']) ? { ...body, details: omit(body['details'], 'activeRunId') } : body,
    ),
  },
  {
    id: 'runs/workflow-without-nodes',
    breaks: 'a workflow is read as a summary',
    caughtBy: ['runs/workflow'],
    says: /list of nodes/,
    on: { method: 'GET', path: /^\/v1\/workflows\// },
    answer: answered((body) => omit(body, 'nodes')),
  },
  {
    id: 'runs/fixture-not-there',
    breaks: 'a fixture is listed and not there',
    caughtBy: ['runs/fixtures-readable'],
    says: /status 200/,
    on: { method: 'GET', path: /^\/v1\/workflows\/conformance-identity$/ },
    answer: () => refusal(404, 'not_found'),
  },
  {
    id: 'runs/unknown-workflow-read',
    breaks: 'an unknown workflow is answered with null',
    caughtBy: ['runs/workflow-unknown'],
    says: /status 404 or 403/,
    on: { method: 'GET', path: /^\/v1\/workflows\// },
    answer: (answer) => (answer.status === 404 ? replyWith(200, null) : answer),
  },
  ...cancelMutants(),
  ...pauseMutants(),
  ...optionMutants(),
  {
    id: 'runs/every-input-shown',
    breaks: 'a snapshot shows inputs that the workflow does not declare',
    caughtBy: ['runs/inputs-shown'],
    says: /inputs are the declared ones/,
    on: SNAPSHOT,
    answer: run((snapshot) => ({ ...snapshot, inputs: { ...objectOf(snapshot['inputs']), other: 'x' } })),
  },
];

function cancelMutants(): Mutant[] {
  return [
    {
      id: 'runs/cancel-with-202',
      breaks: 'a cancel is answered with 202',
      caughtBy: ['runs/cancel', 'runs/cancel-ended'],
      says: /status 200/,
      on: CANCEL,
      answer: status(200, 202),
    },
    {
      id: 'runs/cancel-other-word',
      breaks: 'a cancel is answered with a status of its own',
      caughtBy: ['runs/cancel'],
      says: /cancelled or cancelling/,
      on: CANCEL,
      answer: run((answer) => ({ ...answer, status: 'canceled' })),
    },
    {
      id: 'runs/cancel-recorded-as-failure',
      breaks: 'a cancel is recorded as a failure',
      caughtBy: ['runs/cancel'],
      says: /ends with run\.cancelled/,
      on: POLL,
      answer: events((all) =>
        all.map((event) => (event['type'] === 'run.cancelled' ? { ...event, type: 'run.failed' } : event)),
      ),
    },
    {
      id: 'runs/cancelled-node-completes',
      breaks: 'a cancelled node completes',
      caughtBy: ['runs/cancel'],
      says: /interrupted does not complete/,
      on: POLL,
      answer: events((all) =>
        all.map((event) =>
          event['type'] === 'node.cancelled' ? { ...event, type: 'node.completed' } : event,
        ),
      ),
    },
    {
      id: 'runs/cancel-names-parent',
      breaks: 'a direct cancel names a parent',
      caughtBy: ['runs/cancel'],
      says: /names no parentRunId/,
      on: POLL,
      answer: payloads('run.cancelled', (payload) => ({ ...payload, parentRunId: 'some-run' })),
    },
    {
      id: 'runs/late-cancel-conflicts',
      breaks: 'a cancel of a run that has ended is a conflict',
      caughtBy: ['runs/cancel-ended'],
      says: /status 200/,
      on: CANCEL,
      answer: (answer) => (answer.body.includes('completed') ? refusal(409, 'conflict') : answer),
    },
    {
      id: 'runs/late-cancel-wins',
      breaks: 'a cancel overwrites the status of a run that has completed',
      caughtBy: ['runs/cancel-ended'],
      says: /leaves the status/,
      on: { path: /^\/v1\/runs\/[^:?]+$/ },
      request: (request, memory) => {
        if (CANCEL.path.test(request.path)) memory.set(request.path.slice(0, -'/cancel'.length), true);
        return request;
      },
      answer: run((snapshot, request, memory) =>
        memory.get(request.path) === true && snapshot['status'] === 'completed'
          ? { ...snapshot, status: 'cancelled' }
          : snapshot,
      ),
    },
    {
      id: 'runs/unknown-cancelled',
      breaks: 'a cancel of an unknown run is fine',
      caughtBy: ['runs/cancel-unknown'],
      says: /status 404 or 403/,
      on: CANCEL,
      answer: (answer) =>
        answer.status === 404 ? replyWith(200, { runId: 'x', status: 'cancelled' }) : answer,
    },
    {
      id: 'runs/answer-after-cancel',
      breaks: 'a cancelled run takes an answer to its interrupt',
      caughtBy: ['runs/cancel-waiting'],
      says: /status 400 or 403/,
      on: RESOLVE,
      answer: (answer) => (answer.status >= 400 ? replyWith(200, {}) : answer),
    },
    {
      id: 'runs/bulk-other-order',
      breaks: 'the results of a bulk cancel are sorted',
      caughtBy: ['runs/bulk-cancel'],
      says: /in its order/,
      on: BULK,
      answer: results((items) => [...items].reverse()),
    },
    {
      id: 'runs/bulk-ends-again',
      breaks: 'a bulk cancel says of a completed run that it is cancelled',
      caughtBy: ['runs/bulk-cancel'],
      says: /says run_terminal/,
      on: BULK,
      answer: results((items) =>
        items.map((item) =>
          JSON.stringify(item['error'] ?? '').includes('run_terminal')
            ? { ...omit(item, 'error'), ok: true, status: 'cancelled' }
            : item,
        ),
      ),
    },
    {
      id: 'runs/bulk-unknown-dropped',
      breaks: 'a bulk cancel leaves unknown runs out of its results',
      caughtBy: ['runs/bulk-cancel'],
      says: /those of the request/,
      on: BULK,
      answer: results((items) =>
        items.filter((item) => !JSON.stringify(item['error'] ?? '').includes('not_found')),
      ),
    },
    {
      id: 'runs/bulk-of-nothing',
      breaks: 'a bulk cancel of nothing is fine',
      caughtBy: ['runs/bulk-cancel-refused'],
      says: /status 400/,
      on: BULK,
      answer: (answer) => (answer.status === 400 ? replyWith(200, { results: [] }) : answer),
    },
    {
      id: 'runs/bulk-without-limit',
      breaks: 'the refusal of too many ids does not say how many are taken',
      caughtBy: ['runs/bulk-cancel-refused'],
      says: /details\.maxRunIds/,
      on: BULK,
      answer: answered((body) =>
        isJsonObject(body['details']) ? { ...body, details: omit(body['details'], 'maxRunIds') } : body,
      ),
    },
  ];
}

function results(change: (items: JsonObject[]) => JsonObject[]): Required<Mutant>['answer'] {
  return answered((body) =>
    Array.isArray(body['results'])
      ? { ...body, results: change(body['results'].filter(isJsonObject)) }
      : body,
  );
}

function pauseMutants(): Mutant[] {
  return [
    {
      id: 'runs/paused-with-200',
      breaks: 'a pause is answered with 200',
      caughtBy: ['runs/pause-drained', 'runs/pause-immediate'],
      says: /status 202/,
      on: PAUSE,
      answer: status(202, 200),
    },
    {
      id: 'runs/resumed-as-pending',
      breaks: 'a resume is answered with pending',
      caughtBy: ['runs/pause-drained'],
      says: /answer says running/,
      on: RESUME,
      answer: run((answer) => ({ ...answer, status: 'pending' })),
    },
    {
      id: 'runs/pause-before-drain',
      breaks: 'run.paused comes before the node has ended',
      caughtBy: ['runs/pause-drained'],
      says: /node ends before run\.paused/,
      on: POLL,
      answer: events((all) => {
        const marker = all.filter(({ type }) => type === 'run.paused' || type === 'run.resumed');
        const rest = all.filter((event) => !marker.includes(event));
        const started = rest.findIndex(({ type }) => type === 'node.started') + 1;
        return numbered([...rest.slice(0, started), ...marker, ...rest.slice(started)]);
      }),
    },
    {
      id: 'runs/policy-not-recorded',
      breaks: 'run.paused does not say which drainPolicy was chosen',
      caughtBy: ['runs/pause-drained', 'runs/pause-immediate'],
      says: /carries the drainPolicy/,
      on: POLL,
      answer: payloads('run.paused', (payload) => omit(payload, 'drainPolicy')),
    },
    {
      id: 'runs/resume-not-recorded',
      breaks: 'a resume leaves no event',
      caughtBy: ['runs/pause-drained'],
      says: /after run\.paused is run\.resumed/,
      on: POLL,
      answer: events((all) => numbered(all.filter(({ type }) => type !== 'run.resumed'))),
    },
    {
      id: 'runs/node-repeated-after-pause',
      breaks: 'a node that was paused completes twice',
      caughtBy: ['runs/pause-immediate'],
      says: /completes once/,
      on: POLL,
      answer: events((all) =>
        numbered(all.flatMap((event) => (event['type'] === 'node.completed' ? [event, event] : [event]))),
      ),
    },
    {
      id: 'runs/paused-twice',
      breaks: 'a second pause is accepted',
      caughtBy: ['runs/pause-refused'],
      says: /status 409/,
      on: PAUSE,
      answer: status(409, 202),
    },
    {
      id: 'runs/paused-since-unknown',
      breaks: 'the refusal of a second pause does not say since when the run is paused',
      caughtBy: ['runs/pause-refused'],
      says: /details\.pausedAt/,
      on: PAUSE,
      answer: answered((body) =>
        isJsonObject(body['details']) ? { ...body, details: omit(body['details'], 'pausedAt') } : body,
      ),
    },
    {
      id: 'runs/running-resumed',
      breaks: 'a resume of a running run is accepted',
      caughtBy: ['runs/resume-refused'],
      says: /status 409/,
      on: RESUME,
      answer: status(409, 202),
    },
    {
      id: 'runs/conflict-without-status',
      breaks: 'a refused resume does not say what the run is',
      caughtBy: ['runs/resume-refused'],
      says: /details\.runStatus/,
      on: RESUME,
      answer: answered((body) => omit(body, 'details')),
    },
    {
      id: 'runs/unknown-paused',
      breaks: 'a pause of an unknown run is a conflict',
      caughtBy: ['runs/pause-unknown'],
      says: /status 404 or 403/,
      on: PAUSE,
      answer: status(404, 409),
    },
    {
      id: 'runs/typo-pauses',
      breaks: 'a member that is not declared is ignored',
      caughtBy: ['runs/pause-closed-body'],
      says: /status 400/,
      on: PAUSE,
      request: sent((body) => omit(body, 'drainPolcy')),
    },
    {
      id: 'runs/pause-ends-itself',
      breaks: 'a paused run ends when its delay is over',
      caughtBy: ['runs/pause-lasts'],
      says: /still paused when its delay is over/,
      on: SNAPSHOT,
      answer: run((snapshot, _, memory) => {
        if (snapshot['status'] !== 'paused') return snapshot;
        if (memory.has('paused')) return { ...snapshot, status: 'completed' };
        memory.set('paused', true);
        return snapshot;
      }),
    },
    {
      id: 'runs/pause-loses-interrupt',
      breaks: 'a run that was to be paused no longer takes its answer',
      caughtBy: ['runs/pause-waiting'],
      says: /status 200/,
      on: RESOLVE,
      request: () => ({ instead: refusal(404, 'interrupt_not_found') }),
    },
  ];
}

function optionMutants(): Mutant[] {
  return [
    {
      id: 'runs/tags-sorted',
      breaks: 'tags are shown in another order',
      caughtBy: ['runs/options-kept'],
      says: /shows tags as it was given/,
      on: SNAPSHOT,
      answer: run((snapshot) =>
        Array.isArray(snapshot['tags']) ? { ...snapshot, tags: [...snapshot['tags']].reverse() } : snapshot,
      ),
    },
    {
      id: 'runs/metadata-flattened',
      breaks: 'nested metadata is dropped',
      caughtBy: ['runs/options-kept'],
      says: /shows metadata as it was given/,
      on: SNAPSHOT,
      answer: run((snapshot) =>
        isJsonObject(snapshot['metadata'])
          ? { ...snapshot, metadata: omit(snapshot['metadata'], 'nested') }
          : snapshot,
      ),
    },
    {
      id: 'runs/tags-cut',
      breaks: 'tags above the hundredth are cut off',
      caughtBy: ['runs/tags'],
      says: /status 400/,
      on: CREATE,
      request: sent((body) =>
        Array.isArray(body['tags']) ? { ...body, tags: body['tags'].slice(0, 100) } : body,
      ),
    },
    {
      id: 'runs/fewer-tags',
      breaks: 'fifty tags are the most',
      caughtBy: ['runs/tags'],
      says: /status 201/,
      on: CREATE,
      request: (request) => {
        const { tags } = bodyOf(request);
        return Array.isArray(tags) && tags.length > 50
          ? { instead: refusal(400, 'validation_error') }
          : request;
      },
    },
    {
      id: 'runs/reserved-keys-unchecked',
      breaks: 'reserved keys are not checked',
      caughtBy: ['runs/reserved-keys'],
      says: /status 400/,
      on: CREATE,
      request: sent((body) => omit(body, 'configurable')),
    },
    {
      id: 'runs/schema-not-shown',
      breaks: 'a workflow does not show its configurableSchema',
      caughtBy: ['runs/configurable-schema'],
      says: /shows its configurableSchema/,
      on: { method: 'GET', path: /^\/v1\/workflows\// },
      answer: answered((body) => omit(body, 'configurableSchema')),
    },
    {
      id: 'runs/schema-not-enforced',
      breaks: 'a configurableSchema is not enforced',
      caughtBy: ['runs/configurable-schema'],
      says: /status 400/,
      on: CREATE,
      request: sent((body) => omit(body, 'configurable')),
    },
  ];
}
