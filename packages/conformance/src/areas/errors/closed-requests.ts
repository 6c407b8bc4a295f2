import type { Check } from '../../suite/check.ts';

/** No version of the protocol will have it. */
const MEMBER = 'weftUnknownMember';
const REFUSED = [400, 422];

export const CLOSED_REQUEST_CHECKS: readonly Check[] = [
  {
    id: 'errors/closed-create',
    title: 'a request for a run is closed, and the refusal names what is not known',
    proves: ['ERR-14', 'ERR-15'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const answer = await runs.tryCreate('conformance-noop', { [MEMBER]: true });

      expect.envelope(answer, { status: REFUSED, code: 'validation_error' });
      expect.that(answer.text.includes(MEMBER), 'the refusal names the unknown member', answer.text, MEMBER);
    },
  },
  {
    id: 'errors/no-evaluations',
    title: 'a run of mode eval is refused by a host without evaluations',
    proves: ['ERR-36'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const evaluation = { mode: 'eval', evalSuiteRef: 'https://example.com/suite', agentId: 'acme.agent' };
      const answer = await runs.tryCreate('conformance-noop', evaluation);

      expect.envelope(answer, { status: [...REFUSED, 404, 501] });
    },
  },
  {
    id: 'errors/open-metadata',
    title: 'metadata with keys of a vendor is accepted',
    proves: ['ERR-21'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect, unique }) {
      const metadata = { 'acme.ticket': { id: unique() }, 'example.flag': true };
      const runId = await runs.create('conformance-noop', { metadata });

      const { status } = await runs.ended(runId);
      expect.equal(status, 'completed', 'metadata of a vendor does not change how a run ends');
    },
  },
  {
    id: 'errors/closed-resolve',
    title: 'an answer to an interrupt is closed',
    proves: ['ERR-16'],
    needs: { fixtures: ['conformance-approval'] },
    async run({ host, runs, expect }) {
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');
      const answer = await host.request('POST', `/v1/runs/${runId}/interrupts/gate`, {
        body: { resumeValue: { action: 'accept' }, [MEMBER]: true },
      });

      expect.envelope(answer, { status: REFUSED });
      const { status } = await runs.snapshot(runId);
      expect.equal(status, 'waiting-approval', 'an answer that was refused leaves the run waiting');
      await runs.cancel(runId);
    },
  },
  {
    id: 'errors/closed-fork',
    title: 'a fork is closed',
    proves: ['ERR-17'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');
      const answer = await context.runs.fork(runId, { mode: 'replay', fromSeq: 0, [MEMBER]: true });

      context.expect.envelope(answer, { status: REFUSED });
    },
  },
  {
    id: 'errors/closed-pause',
    title: 'pausing is closed',
    proves: ['ERR-18'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run({ host, runs, expect }) {
      const runId = await runs.create('conformance-cancellable', { inputs: { delayMs: 30_000 } });
      await runs.reaches(runId, 'running');
      const answer = await host.request('POST', `/v1/runs/${runId}:pause`, { body: { [MEMBER]: true } });

      expect.envelope(answer, { status: REFUSED });
      await runs.cancel(runId);
    },
  },
  {
    id: 'errors/closed-annotation',
    title: 'an annotation is closed',
    proves: ['ERR-19'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');
      const answer = await context.host.request('POST', `/v1/runs/${runId}/annotations`, {
        body: { signal: { kind: 'flag' }, [MEMBER]: true },
      });

      context.expect.envelope(answer, { status: REFUSED });
    },
  },
  {
    id: 'errors/closed-bulk-cancel',
    title: 'cancelling many runs is closed, where it is served',
    proves: ['ERR-20'],
    async run({ host, expect, unique }) {
      const body = { runIds: [unique()], [MEMBER]: true };
      const answer = await host.request('POST', '/v1/runs:bulk-cancel', { body });

      expect.envelope(answer, { status: [...REFUSED, 404, 405, 501] });
    },
  },
];
