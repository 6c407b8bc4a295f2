import { isJsonObject } from '@weft/protocol';
import type { Check } from '../../suite/check.ts';
import { errorOf, ofType, payloadOf } from '../events/log.ts';
import { RUN_CANCEL_CHECKS } from './cancel.ts';
import { RUN_OPTION_CHECKS } from './options.ts';
import { RUN_PAUSE_CHECKS } from './pause.ts';

const CREATED_STATUSES = ['pending', 'running', 'waiting-approval', 'waiting-input', 'waiting-external'];
/** More than any published suite has. */
const MOST_FIXTURES = 200;
const STATUSES = [...CREATED_STATUSES, 'paused', 'cancelling', 'completed', 'failed', 'cancelled'];

export const RUN_CHECKS: readonly Check[] = [
  {
    id: 'runs/create',
    title: 'a run is created, and ends',
    proves: ['RUN-1', 'RUN-6'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const answer = await runs.tryCreate('conformance-noop');

      expect.status(answer, 201);
      const created = expect.object(answer.json, 'a created run is answered with an object');
      const runId = expect.string(created['runId'], 'a created run has a runId');
      expect.string(created['status'], 'a created run has a status');
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run of one node that does nothing completes');
    },
  },
  {
    id: 'runs/created-answer',
    title: 'the answer to a creation has a status of the beginning, a usable id and the URL of the events',
    proves: ['RUN-2', 'RUN-3', 'RUN-17'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, host, expect }) {
      const answer = await runs.tryCreate('conformance-noop');

      expect.status(answer, 201);
      const created = expect.object(answer.json, 'a created run is answered with an object');
      const runId = expect.string(created['runId'], 'a created run has a runId');
      expect.that(
        CREATED_STATUSES.includes(String(created['status'])),
        'the status of a created run is pending, running or a waiting one',
        created['status'],
      );
      expect.that(
        runId.length <= 128 && !runId.includes(':'),
        'a runId has at most 128 characters and no colon',
        runId,
      );
      const eventsUrl = expect.string(created['eventsUrl'], 'a created run has an eventsUrl');
      expect.that(
        URL.canParse(eventsUrl, host.url) && eventsUrl.includes(encodeURIComponent(runId)),
        'the eventsUrl is a URL or path with the runId',
        eventsUrl,
      );
    },
  },
  {
    id: 'runs/snapshot',
    title: 'a snapshot tells which run of which workflow it is, and how far it has come',
    proves: ['RUN-4', 'RUN-5', 'RUN-16'],
    needs: { fixtures: ['conformance-noop', 'conformance-delay'] },
    async run({ runs, host, expect, eventually }) {
      for (const workflowId of ['conformance-noop', 'conformance-delay']) {
        const runId = await runs.create(workflowId);

        // A run may not be readable at once after it was created.
        const snapshot = await eventually('a run that was created can be read', async () => {
          const answer = await host.request('GET', `/v1/runs/${runId}`);
          if (answer.status === 404) return undefined;
          expect.status(answer, 200);
          return expect.object(answer.json, 'a run is answered with an object');
        });

        expect.equal(snapshot['runId'], runId, 'the snapshot is of the run that was asked for');
        expect.equal(snapshot['workflowId'], workflowId, 'the snapshot names the workflow of the run');
        expect.that(
          STATUSES.includes(String(snapshot['status'])),
          'the status is one of the vocabulary',
          snapshot['status'],
        );
        for (const name of ['startedAt', 'completedAt']) {
          const time = snapshot[name];
          expect.that(
            time === undefined || (typeof time === 'string' && !Number.isNaN(Date.parse(time))),
            `${name} is a time where it is shown`,
            time,
          );
        }
        const { owner } = snapshot;
        expect.that(
          owner === undefined || (isJsonObject(owner) && typeof owner['tenant'] === 'string'),
          'the owner of a run, where it is shown, is an object with a tenant',
          owner,
        );
        await runs.cancel(runId);
      }
    },
  },
  {
    id: 'runs/unknown',
    title: 'an unknown run is answered with 404 or 403',
    proves: ['RUN-7'],
    async run({ host, expect, unique }) {
      const answer = await host.request('GET', `/v1/runs/${unique()}`);

      expect.envelope(answer, { status: [404, 403] });
    },
  },
  {
    id: 'runs/bad-creations',
    title: 'a creation without workflowId, or with inputs that are not an object, is refused',
    proves: ['RUN-8'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, expect }) {
      for (const body of [
        {},
        { workflowId: '' },
        { workflowId: 7 },
        { workflowId: 'conformance-noop', inputs: ['not', 'an', 'object'] },
        { workflowId: 'conformance-noop', inputs: 'text' },
      ]) {
        const answer = await host.request('POST', '/v1/runs', { body });
        // An empty id may be looked up, and then it is not found.
        expect.envelope(answer, { status: 'inputs' in body ? [400, 422] : [400, 404, 422] });
      }
    },
  },
  {
    id: 'runs/unknown-workflow',
    title: 'a creation that names an unknown workflow is refused',
    proves: ['RUN-9'],
    async run({ runs, expect, unique }) {
      const answer = await runs.tryCreate(unique('no-such-workflow'));

      expect.envelope(answer, { status: [400, 403, 404, 422] });
    },
  },
  {
    id: 'runs/wrong-inputs',
    title: 'inputs that do not fit the declared variables are refused',
    proves: ['RUN-10'],
    needs: { fixtures: ['conformance-identity'] },
    async run({ runs, expect }) {
      const answer = await runs.tryCreate('conformance-identity', { inputs: { payload: 'not an object' } });

      expect.envelope(answer, { status: [400, 422] });
    },
  },
  {
    id: 'runs/identity-passthrough',
    title: 'an input is found unchanged in the variables of the run',
    proves: ['RUN-11'],
    needs: { fixtures: ['conformance-identity'] },
    async run({ runs, expect, unique }) {
      const payload = {
        text: unique('täxt ☃ 𝄞'),
        numbers: [0, -1, 1.5, 9_007_199_254_740_991],
        nothing: null,
        flags: [true, false],
        nested: { list: [{ deep: { deeper: ['', {}, []] } }], 'a key with spaces': 'x' },
      };
      const runId = await runs.create('conformance-identity', { inputs: { payload } });

      const ended = await runs.ended(runId);

      expect.equal(ended['status'], 'completed', 'the run completes');
      const variables = expect.object(ended['variables'], 'the snapshot has variables');
      expect.equal(variables['payload'], payload, 'the variable payload equals the input');
    },
  },
  {
    id: 'runs/default-inputs',
    title: 'the default of a variable stands in for a missing input',
    proves: ['RUN-12'],
    needs: { fixtures: ['conformance-delay'] },
    async run({ runs, expect }) {
      const answer = await runs.tryCreate('conformance-delay');

      expect.status(answer, 201);
      const { runId } = expect.object(answer.json, 'a created run is answered with an object');
      const ended = await runs.ended(expect.string(runId, 'a created run has a runId'));
      expect.equal(ended['status'], 'completed', 'a run without its optional input completes');
    },
  },
  {
    id: 'runs/running-while-waiting',
    title: 'a run is seen as running while its node waits for time to pass',
    proves: ['RUN-13'],
    needs: { fixtures: ['conformance-delay'] },
    async run({ runs, expect }) {
      const runId = await runs.create('conformance-delay', { inputs: { delayMs: 1_000 } });

      await runs.reaches(runId, 'running');

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'the run completes after its delay');
    },
  },
  {
    id: 'runs/failure',
    title: 'a run whose node fails ends as failed, with the same error wherever it is shown',
    proves: ['RUN-14', 'RUN-15'],
    needs: { fixtures: ['conformance-failure'] },
    async run({ runs, expect }) {
      const runId = await runs.create('conformance-failure');

      const ended = await runs.ended(runId);

      expect.equal(ended['status'], 'failed', 'a run whose node fails ends as failed');
      const error = expect.object(ended['error'], 'the snapshot of a failed run has an error');
      const code = expect.string(error['code'], 'the error of a failed run has a code');
      expect.string(error['message'], 'the error of a failed run has a message');
      const [failed] = ofType(await runs.events(runId), 'run.failed');
      expect.equal(
        errorOf(payloadOf(failed))['code'],
        code,
        'run.failed and the snapshot say the same error code',
      );
    },
  },
  {
    id: 'runs/foreign-tenant',
    title: 'a tenantId in the body does not widen what the credential allows',
    proves: ['RUN-18'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect, unique }) {
      const tenantId = unique('some-other-tenant');

      const answer = await runs.tryCreate('conformance-noop', { tenantId });

      if (answer.status !== 201) {
        expect.envelope(answer, { status: [400, 403, 404, 422] });
        return;
      }
      const created = expect.object(answer.json, 'a created run is answered with an object');
      const ended = await runs.ended(expect.string(created['runId'], 'a created run has a runId'));
      const { owner } = ended;
      expect.that(
        !isJsonObject(owner) || owner['tenant'] !== tenantId,
        'a run belongs to the tenant of the credential',
        owner,
      );
    },
  },
  {
    id: 'runs/dedup',
    title: 'under X-Dedup: enforce a scope has one active run',
    proves: ['RUN-19'],
    needs: { fixtures: ['conformance-cancellable', 'conformance-noop'] },
    async run({ runs, expect, unique }) {
      const scopeId = unique('scope');
      const headers = { 'x-dedup': 'enforce' };
      const first = await runs.create('conformance-cancellable', { scopeId }, { headers });

      const second = await runs.tryCreate('conformance-noop', { scopeId }, { headers });

      const { details } = expect.envelope(second, { status: 409, code: 'run_already_active' });
      expect.header(second, 'retry-after');
      const { activeRunId } = expect.object(details, 'the refusal has details');
      expect.equal(activeRunId, first, 'details.activeRunId is the run that is active');
      await runs.cancel(first);
      await runs.ended(first);
      const third = await runs.tryCreate('conformance-noop', { scopeId }, { headers });
      expect.status(third, 201);
    },
  },
  {
    id: 'runs/workflow',
    title: 'a workflow is read with its id and its nodes',
    proves: ['RUN-52'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, expect }) {
      const answer = await host.request('GET', '/v1/workflows/conformance-noop');

      expect.status(answer, 200);
      const workflow = expect.object(answer.json, 'a workflow is answered with an object');
      expect.equal(workflow['id'], 'conformance-noop', 'the workflow has the id that was asked for');
      const nodes = expect.array(workflow['nodes'], 'a workflow has a list of nodes');
      expect.that(nodes.length > 0, 'a workflow has at least one node');
      for (const node of nodes) {
        const { id, typeId } = expect.object(node, 'a node is an object');
        expect.string(id, 'a node has an id');
        expect.string(typeId, 'a node has a typeId');
      }
    },
  },
  {
    id: 'runs/workflow-unknown',
    title: 'an unknown workflow is answered with 404 or 403',
    proves: ['RUN-53'],
    async run({ host, expect, unique }) {
      const answer = await host.request('GET', `/v1/workflows/${unique('no-such-workflow')}`);

      expect.envelope(answer, { status: [404, 403] });
    },
  },
  {
    id: 'runs/fixtures-readable',
    title: 'every fixture that discovery lists can be read',
    proves: ['RUN-54'],
    async run({ host, discovery, expect }) {
      const listed = expect.array(discovery['fixtures'], 'discovery lists fixtures');
      for (const name of listed.slice(0, MOST_FIXTURES)) {
        const id = expect.string(name, 'a listed fixture is a name');
        const answer = await host.request('GET', `/v1/workflows/${encodeURIComponent(id)}`);
        expect.status(answer, 200);
        const workflow = expect.object(answer.json, 'a workflow is answered with an object');
        expect.equal(workflow['id'], id, 'a listed fixture is the workflow of this id');
      }
    },
  },
  ...RUN_CANCEL_CHECKS,
  ...RUN_PAUSE_CHECKS,
  ...RUN_OPTION_CHECKS,
];
