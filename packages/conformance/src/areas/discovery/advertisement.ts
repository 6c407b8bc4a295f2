import type { JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

/** An optional route, and what a host advertises when it serves it. */
interface OptionalRoute {
  /** A member that is `true`, or a list and what it holds. */
  readonly flag: string;
  readonly member?: string;
  readonly method?: 'GET' | 'POST';
  readonly path: (runId: string) => string;
  /** Some hosts serve it without saying so, as the first release did not ask them to. */
  readonly isServedUnsaid?: boolean;
}

const ANCESTRY_FLAG = 'multiAgent.executionModel.crossHostCausation.ancestryEndpointSupported';

const OPTIONAL_ROUTES: readonly OptionalRoute[] = [
  { flag: 'debugBundle.supported', path: (runId) => `/v1/runs/${runId}/debug-bundle` },
  { flag: 'feedback.supported', path: (runId) => `/v1/runs/${runId}/annotations` },
  { flag: ANCESTRY_FLAG, path: (runId) => `/v1/runs/${runId}/ancestry`, isServedUnsaid: true },
  {
    flag: 'auth.profiles',
    member: 'openwop-audit-log-integrity',
    path: () => '/v1/audit/verify?fromSeq=0&toSeq=0',
  },
  {
    flag: 'runs.pauseResume.supported',
    method: 'POST',
    path: (runId) => `/v1/runs/${runId}:pause`,
    isServedUnsaid: true,
  },
  { flag: 'agents.manifestRuntime.supported', path: () => '/v1/agents' },
  { flag: 'agents.roster.supported', path: () => '/v1/agents/roster' },
  { flag: 'agents.orgChart.supported', path: () => '/v1/agents/org-chart' },
  { flag: 'toolCatalog.supported', path: () => '/v1/tools' },
  { flag: 'workspace.supported', path: () => '/v1/host/workspace/files' },
  { flag: 'prompts.endpointsSupported', path: () => '/v1/prompts' },
  { flag: 'content.supported', path: () => '/v1/content/pages' },
];

/** Answers of a host that does not have a route. */
const ABSENT = [404, 405, 501];

export const ADVERTISEMENT_CHECKS: readonly Check[] = [
  {
    id: 'discovery/advertised-routes',
    title: 'optional routes that are advertised are served',
    proves: ['DISC-38'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { discovery, runs, expect } = context;
      const runId = await runs.endedRun('conformance-noop');

      for (const route of OPTIONAL_ROUTES.filter((each) => isAdvertised(discovery, each))) {
        const { status } = await ask(context, route, runId);
        expect.that(!ABSENT.includes(status), `${route.flag} is advertised, and its route is served`, {
          path: route.path(runId),
          status,
        });
      }
    },
  },
  {
    id: 'discovery/unadvertised-routes',
    title: 'optional routes that are not advertised are refused as the protocol says',
    proves: ['DISC-39'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { discovery, runs, expect } = context;
      const runId = await runs.endedRun('conformance-noop');

      for (const route of OPTIONAL_ROUTES) {
        if (route.isServedUnsaid === true || isAdvertised(discovery, route)) continue;
        const answer = await ask(context, route, runId);
        expect.envelope(answer, { status: [...ABSENT, 403] });
      }
    },
  },
  {
    id: 'discovery/missing-runtime-capability',
    title: 'a node that needs what the host does not have is refused when it is reached, by name',
    proves: ['DISC-59'],
    needs: { fixtures: ['conformance-capability-missing'] },
    async run({ runs, expect }) {
      const runId = await runs.create('conformance-capability-missing');
      const { status, error } = await runs.ended(runId);

      expect.equal(status, 'failed', 'a run that needs a missing capability fails');
      const { code, message } = expect.object(error, 'a failed run has an error');
      expect.equal(code, 'capability_not_provided', 'the error says that a capability is missing');
      expect.that(
        String(message).includes('conformance.never-provided'),
        'the message names the capability',
        message ?? 'nothing',
        'conformance.never-provided',
      );
    },
  },
  {
    id: 'discovery/fixtures-readable',
    title: 'every listed fixture is a workflow that can be read',
    proves: ['DISC-20'],
    async run({ discovery, host, expect }) {
      const listed = expect.array(discovery['fixtures'], 'fixtures is a list');

      for (const name of listed.slice(0, MAX_FIXTURES_READ)) {
        const id = expect.string(name, 'a fixture is named by a text');
        const answer = await host.request('GET', `/v1/workflows/${encodeURIComponent(id)}`);
        expect.status(answer, 200);
        const workflow = objectOf(answer.json);
        expect.equal(workflow['id'], id, 'a workflow is answered with its id');
        expect.array(workflow['nodes'], 'a workflow is answered with its nodes');
      }
    },
  },
];

/** More than the protocol has; a host that lists more is not asked for all of them. */
const MAX_FIXTURES_READ = 200;

function isAdvertised(discovery: JsonObject, { flag, member }: OptionalRoute): boolean {
  const value = advertised(discovery, flag);
  return member === undefined ? value === true : Array.isArray(value) && value.includes(member);
}

function ask({ host }: CheckContext, { method = 'GET', path }: OptionalRoute, runId: string) {
  return host.request(method, path(runId), method === 'POST' ? { body: {} } : {});
}
