import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';

export const FORK_REQUEST_CHECKS: readonly Check[] = [
  {
    id: 'forks/replay-takes-no-overlay',
    title: 'a replay takes no overlay but an empty one',
    proves: ['FORK-21'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const source = await context.runs.endedRun('conformance-noop');
      const runOptionsOverlay = { configurable: { recursionLimit: 5 } };

      const answer = await context.runs.fork(source, { mode: 'replay', fromSeq: 0, runOptionsOverlay });

      context.expect.envelope(answer, { status: 400 });
    },
  },
  {
    id: 'forks/empty-overlay',
    title: 'an empty overlay is accepted',
    proves: ['FORK-20'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const source = await context.runs.endedRun('conformance-noop');
      const body = { mode: modeOf(context), fromSeq: 0, runOptionsOverlay: {} };

      const answer = await context.runs.fork(source, body);

      if (answer.status !== 501) newRunOf(context, answer, source);
      else context.expect.envelope(answer, { status: 501 });
    },
  },
  {
    id: 'forks/replay-from-the-start-by-default',
    title: 'a replay without fromSeq is one from 0',
    proves: ['FORK-22'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      const source = await context.runs.endedRun('conformance-noop');

      const answer = await runs.fork(source, { mode: 'replay' });

      const fork = newRunOf(context, answer, source);
      expect.equal(fork.body['fromSeq'] ?? 0, 0, 'a replay without fromSeq is one from 0');
      const { status } = await runs.ended(fork.runId);
      expect.equal(status, 'completed', 'a replay without fromSeq completes');
    },
  },
  {
    id: 'forks/branch-needs-from-seq',
    title: 'a branch needs fromSeq',
    proves: ['FORK-23'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const source = await context.runs.endedRun('conformance-noop');

      context.expect.envelope(await context.runs.fork(source, { mode: 'branch' }), { status: 400 });
    },
  },
  {
    id: 'forks/bad-from-seq',
    title: 'fromSeq is a sequence of the log',
    proves: ['FORK-24', 'FORK-25'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      const source = await context.runs.endedRun('conformance-noop');
      const mode = modeOf(context);
      for (const fromSeq of [-1, 1.5, '1'])
        expect.envelope(await runs.fork(source, { mode, fromSeq }), { status: 400 });

      expect.envelope(await runs.fork(source, { mode, fromSeq: 99_999 }), { status: 422 });
    },
  },
  {
    id: 'forks/bad-bodies',
    title: 'a fork has a mode and no unknown members',
    proves: ['FORK-26'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      const source = await context.runs.endedRun('conformance-noop');
      const mode = modeOf(context);
      for (const body of [
        { fromSeq: 0 },
        { mode: 'rewind', fromSeq: 0 },
        { mode, fromSeq: 0, fromSequence: 1 },
      ])
        expect.envelope(await runs.fork(source, body), { status: 400 });
    },
  },
  {
    id: 'forks/unknown-run',
    title: 'a run that does not exist cannot be forked',
    proves: ['FORK-27'],
    async run(context) {
      const body = { mode: modeOf(context), fromSeq: 0 };

      const answer = await context.runs.fork(context.unique('no-such-run'), body);

      context.expect.envelope(answer, { status: [404, 403] });
    },
  },
  {
    id: 'forks/needs-a-key',
    title: 'a fork needs a key that may create runs',
    proves: ['FORK-28'],
    needs: { fixtures: ['conformance-noop'], key: 'lowScope' },
    async run(context) {
      const { host, expect, keys } = context;
      const source = await context.runs.endedRun('conformance-noop');
      const path = `/v1/runs/${source}:fork`;
      const body = { mode: modeOf(context), fromSeq: 0 };

      expect.envelope(await host.request('POST', path, { body, key: null }), { status: 401 });
      expect.envelope(await host.request('POST', path, { body, key: keys.lowScope ?? null }), {
        status: 403,
      });
    },
  },
  {
    id: 'forks/other-tenant',
    title: 'a key of another tenant cannot fork a run',
    proves: ['FORK-29'],
    needs: { fixtures: ['conformance-noop'], key: 'otherTenant' },
    async run(context) {
      const { host, expect, keys } = context;
      const source = await context.runs.endedRun('conformance-noop');
      const body = { mode: modeOf(context), fromSeq: 0 };

      const answer = await host.request('POST', `/v1/runs/${source}:fork`, {
        body,
        key: keys.otherTenant ?? null,
      });

      expect.envelope(answer, { status: [404, 403] });
      expect.absent(answer.text, source, 'the answer to another tenant does not name the run');
    },
  },
  {
    id: 'forks/owner',
    title: 'a fork belongs to the tenant of its source',
    proves: ['FORK-30'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect, notApplicable } = context;
      const source = await context.runs.endedRun('conformance-noop');
      const { owner } = await runs.snapshot(source);
      if (owner === undefined) return notApplicable('the host does not show the owner of a run');

      const answer = await runs.fork(source, { mode: modeOf(context), fromSeq: 0 });

      const run = await runs.ended(newRunOf(context, answer, source).runId);
      expect.equal(
        expect.object(run['owner'], 'a fork has an owner')['tenant'],
        expect.object(owner, 'a run has an owner')['tenant'],
        'a fork has the tenant of its source',
      );
      return undefined;
    },
  },
  {
    id: 'forks/idempotent',
    title: 'one Idempotency-Key makes one fork',
    proves: ['FORK-31'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      const source = await context.runs.endedRun('conformance-noop');
      const options = {
        body: { mode: modeOf(context), fromSeq: 0 },
        headers: { 'idempotency-key': unique('fork') },
      };

      const first = await host.request('POST', `/v1/runs/${source}:fork`, options);
      const second = await host.request('POST', `/v1/runs/${source}:fork`, options);

      expect.equal(
        newRunOf(context, second, source).runId,
        newRunOf(context, first, source).runId,
        'two forks with one Idempotency-Key are one run',
      );
    },
  },
];

function newRunOf({ expect }: CheckContext, answer: Answer, source: string) {
  expect.status(answer, 201, 200);
  const body = expect.object(answer.json, 'a fork is answered with an object');
  const runId = expect.string(body['runId'], 'a fork has a runId');
  expect.that(runId !== source, 'a fork is a run of its own', runId);
  expect.equal(body['sourceRunId'], source, 'a fork names its source');
  return { body, runId };
}

/** The first advertised mode: what is looked at here holds for each. */
function modeOf({ discovery }: CheckContext): string {
  const modes = advertised(discovery, 'replay.modes');
  return Array.isArray(modes) ? String(modes[0]) : 'replay';
}
