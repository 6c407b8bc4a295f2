import { isJsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';

/** A request about a run. Hosts without the route refuse every id alike, so what is optional needs no gate here. */
type RunRequest = readonly [method: string, path: (runId: string) => string, body?: object];

const READS: readonly RunRequest[] = [
  ['GET', (runId) => `/v1/runs/${runId}`],
  ['GET', (runId) => `/v1/runs/${runId}/events`],
  ['GET', (runId) => `/v1/runs/${runId}/events/poll?timeout=1`],
  ['GET', (runId) => `/v1/runs/${runId}/artifacts/none`],
  ['GET', (runId) => `/v1/runs/${runId}/debug-bundle`],
  ['GET', (runId) => `/v1/runs/${runId}/annotations`],
  ['GET', (runId) => `/v1/runs/${runId}/ancestry`],
  ['GET', (runId) => `/v1/runs/${runId}:diff?against=${runId}`],
];

const WRITES: readonly RunRequest[] = [
  ['POST', (runId) => `/v1/runs/${runId}/cancel`, {}],
  ['POST', (runId) => `/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: 'accept' } }],
  ['POST', (runId) => `/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 }],
  ['POST', (runId) => `/v1/runs/${runId}:pause`, {}],
  ['POST', (runId) => `/v1/runs/${runId}:resume`, {}],
];

export const TENANT_CHECKS: readonly Check[] = [
  {
    id: 'auth/foreign-reads',
    title: 'a run of another tenant cannot be read, nor told from one that does not exist',
    proves: ['AUTH-12', 'AUTH-14'],
    needs: { fixtures: ['conformance-noop'], key: 'otherTenant' },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');

      for (const request of READS) await expectHidden(context, request, runId);
    },
  },
  {
    id: 'auth/foreign-writes',
    title: 'a run of another tenant cannot be changed, nor told from one that does not exist',
    proves: ['AUTH-13', 'AUTH-14'],
    needs: { fixtures: ['conformance-approval'], key: 'otherTenant' },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');

      for (const request of WRITES) await expectHidden(context, request, runId);
      const { status } = await runs.snapshot(runId);
      expect.equal(status, 'waiting-approval', 'what another tenant tried has not happened');
      await runs.cancel(runId);
    },
  },
  {
    id: 'auth/other-workspace',
    title: 'a run of another workspace is closed to a key of a workspace',
    proves: ['AUTH-25'],
    needs: { fixtures: ['conformance-approval'], key: 'otherWorkspace' },
    async run({ host, runs, expect, keys }) {
      const { otherWorkspace: key = '' } = keys;
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');

      for (const [method, path] of [
        ['GET', `/v1/runs/${runId}`],
        ['GET', `/v1/runs/${runId}/events/poll?timeout=1`],
        ['GET', `/v1/runs/${runId}:diff?against=${runId}`],
        ['POST', `/v1/runs/${runId}/cancel`],
      ] as const) {
        const answer = await host.request(method, path, { key });
        const error = expect.envelope(answer, { status: [403, 404] })['error'];
        expect.that(
          answer.status === 404 || error === 'run_forbidden',
          'a run of another workspace is refused with run_forbidden, or 404',
          error,
        );
      }
      const { status } = await runs.snapshot(runId);
      expect.equal(status, 'waiting-approval', 'what another workspace tried has not happened');
      await runs.cancel(runId);
    },
  },
];

async function expectHidden(
  context: CheckContext,
  [method, path, body]: RunRequest,
  runId: string,
): Promise<void> {
  const { expect } = context;
  const ask = (id: string): Promise<Answer> => {
    const { otherTenant = '' } = context.keys;
    return context.host.request(method, path(id), {
      key: otherTenant,
      ...(body === undefined ? {} : { body }),
    });
  };
  const foreign = await ask(runId);
  const unknown = await ask(context.unique());
  expect.envelope(foreign, { status: [403, 404, 405, 501] });
  expect.absent(foreign.text, '"workflowId":"conformance-', 'nothing of the run is shown to another tenant');
  const shown = ({ status, json }: Answer) => ({
    status,
    error: isJsonObject(json) ? json['error'] : undefined,
  });
  expect.equal(
    shown(foreign),
    shown(unknown),
    `${method} ${path('{runId}')}: another tenant’s run is answered as one that does not exist`,
  );
}
