import type { Check } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

const UNVERSIONED = ['/runs', '/workflows/conformance-noop', '/openapi.json', '/interrupts/none'];

export const ROUTE_CHECKS: readonly Check[] = [
  {
    id: 'errors/unknown-route',
    title: 'unknown routes and methods are refused with the envelope',
    proves: ['ERR-24'],
    async run({ host, expect, unique }) {
      const refused = { status: [400, 403, 404, 405, 501] };
      expect.envelope(await host.request('GET', `/v1/${unique()}`), refused);
      expect.envelope(await host.request('POST', `/v1/${unique()}/x`, { body: {} }), refused);
      expect.envelope(await host.request('PATCH', `/v1/runs/${unique()}`, { body: {} }), refused);
      expect.envelope(await host.request('DELETE', '/v1/runs'), refused);
    },
  },
  {
    id: 'errors/unversioned-root',
    title: 'what is not under /v1 is answered with 400',
    proves: ['ERR-25'],
    async run({ host, expect }) {
      for (const path of UNVERSIONED) expect.envelope(await host.request('GET', path), { status: 400 });
      expect.envelope(await host.request('POST', '/runs', { body: { workflowId: 'conformance-noop' } }), {
        status: 400,
      });
    },
  },
  {
    id: 'errors/unknown-query',
    title: 'unknown query parameters are ignored',
    proves: ['ERR-26'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, runs, expect }) {
      const runId = await runs.endedRun('conformance-noop');
      const answer = await host.request('GET', `/v1/runs/${runId}?weftUnknown=1&view=compact`);

      expect.status(answer, 200);
      const run = objectOf(answer.json);
      expect.equal(run['runId'], runId, 'the answer is the run that was asked for');
    },
  },
  {
    id: 'errors/long-ids',
    title: 'ids that are too long are refused',
    proves: ['ERR-27'],
    async run({ host, expect }) {
      const long = 'a'.repeat(129);
      for (const path of [`/v1/runs/${long}`, `/v1/workflows/${long}`])
        expect.envelope(await host.request('GET', path), { status: [400, 403, 404, 414, 422] });
      const answer = await host.request('POST', '/v1/runs', { body: { workflowId: long } });
      expect.envelope(answer, { status: [400, 404, 422] });
    },
  },
  {
    id: 'errors/workflow',
    title: 'a workflow can be read',
    proves: ['ERR-10'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, expect }) {
      const answer = await host.request('GET', '/v1/workflows/conformance-noop');

      expect.status(answer, 200);
      const workflow = expect.object(answer.json, 'a workflow is answered with an object');
      expect.equal(workflow['id'], 'conformance-noop', 'a workflow is answered with its id');
      expect.array(workflow['nodes'], 'a workflow is answered with its nodes');
    },
  },
  {
    id: 'errors/webhook-url',
    title: 'a webhook for something that is not an address is refused',
    proves: ['ERR-28'],
    async run({ host, expect }) {
      const body = { url: 'not an address', events: ['run.completed'] };

      const answer = await host.request('POST', '/v1/webhooks', { body });
      expect.envelope(answer, { status: [400, 403, 404, 405, 422, 501] });
    },
  },
  {
    id: 'errors/unknown-webhook',
    title: 'removing an unknown webhook is answered with 204, 403 or 404',
    proves: ['ERR-29'],
    async run({ host, expect, unique }) {
      const answer = await host.request('DELETE', `/v1/webhooks/${unique()}`);

      if (answer.status === 204) expect.equal(answer.text, '', 'an answer with 204 has no body');
      else expect.envelope(answer, { status: [403, 404, 405, 501] });
    },
  },
];
