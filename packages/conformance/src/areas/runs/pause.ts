import type { Json } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer, RequestOptions } from '../../suite/host-client.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { ofNode, ofType, outline, payloadOf } from '../events/log.ts';

const DRAINED = ['node.completed', 'node.failed', 'node.suspended'];

export const RUN_PAUSE_CHECKS: readonly Check[] = [
  {
    id: 'runs/pause-drained',
    title: 'a pause that drains lets the node end first, and the run continues after a resume',
    proves: ['RUN-30', 'RUN-31', 'RUN-32', 'RUN-34', 'RUN-35'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runningDelay(context, 1_000);

      const paused = await pause(context, runId, {
        reason: 'conformance',
        drainPolicy: 'drain-current-node',
      });

      expectAccepted(context, paused, runId, 'paused');
      await runs.reaches(runId, 'paused');
      const resumed = await resume(context, runId);
      expectAccepted(context, resumed, runId, 'running');
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a resumed run completes');
      const events = await runs.events(runId);
      const types = events.map(({ type }) => String(type));
      const at = types.indexOf('run.paused');
      expect.that(at !== -1, 'the log of a paused run has run.paused', outline(events));
      expect.that(
        ofType(ofNode(events.slice(0, at), 'wait'), ...DRAINED).length > 0,
        'under drain-current-node the node ends before run.paused',
        outline(events),
      );
      expect.equal(
        payloadOf(events[at])['drainPolicy'],
        'drain-current-node',
        'run.paused carries the drainPolicy that was chosen',
      );
      expect.equal(types[at + 1], 'run.resumed', 'the event after run.paused is run.resumed');
    },
  },
  {
    id: 'runs/pause-immediate',
    title: 'an immediate pause does not wait for the node, which does its work after the resume',
    proves: ['RUN-33', 'RUN-34'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runningDelay(context, 1_000);

      const paused = await pause(context, runId, { drainPolicy: 'immediate' });

      expectAccepted(context, paused, runId, 'paused');
      await runs.reaches(runId, 'paused');
      expectAccepted(context, await resume(context, runId), runId, 'running');
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a resumed run completes');
      const events = await runs.events(runId);
      const [marker] = ofType(events, 'run.paused');
      expect.equal(
        payloadOf(marker)['drainPolicy'],
        'immediate',
        'run.paused carries the drainPolicy that was chosen',
      );
      expect.that(
        ofType(ofNode(events, 'wait'), 'node.completed').length === 1,
        'the node of a paused run completes once',
        outline(events),
      );
    },
  },
  {
    id: 'runs/pause-refused',
    title: 'a run that is paused or has ended is not paused again',
    proves: ['RUN-36'],
    needs: { fixtures: ['conformance-cancellable', 'conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      const paused = await pausedRun(context);
      const ended = await runs.endedRun('conformance-noop');

      const again = await pause(context, paused);
      const late = await pause(context, ended);

      const details = expectConflict(context, again, 'paused');
      expect.string(details['pausedAt'], 'the refusal of a second pause says details.pausedAt');
      expectConflict(context, late, 'completed');
      await runs.cancel(paused);
    },
  },
  {
    id: 'runs/resume-refused',
    title: 'a run that is not paused is not resumed',
    proves: ['RUN-37'],
    needs: { fixtures: ['conformance-cancellable', 'conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      const running = await runs.create('conformance-cancellable');
      await runs.reaches(running, 'running');
      const ended = await runs.endedRun('conformance-noop');

      for (const [runId, status] of [
        [running, 'running'],
        [ended, 'completed'],
      ] as const) {
        const answer = await resume(context, runId);
        expect.envelope(answer, { status: 409, code: 'conflict' });
        expectConflict(context, answer, status);
      }
      await runs.cancel(running);
    },
  },
  {
    id: 'runs/pause-unknown',
    title: 'a pause or resume of an unknown run is answered with 404 or 403',
    proves: ['RUN-38'],
    async run(context) {
      const { expect, unique } = context;

      expect.envelope(await pause(context, unique()), { status: [404, 403] });
      expect.envelope(await resume(context, unique()), { status: [404, 403] });
    },
  },
  {
    id: 'runs/pause-closed-body',
    title: 'an unknown drainPolicy or an undeclared member pauses nothing',
    proves: ['RUN-39'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-cancellable');
      await runs.reaches(runId, 'running');

      for (const body of [{ drainPolicy: 'whenever' }, { drainPolcy: 'immediate' }])
        expect.envelope(await pause(context, runId, body), { status: [400, 422] });

      const snapshot = await runs.snapshot(runId);
      expect.equal(snapshot['status'], 'running', 'a pause that was refused pauses nothing');
      await runs.cancel(runId);
    },
  },
  {
    id: 'runs/pause-lasts',
    title: 'a paused run stays paused while time passes, and can be cancelled',
    proves: ['RUN-40'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runningDelay(context, 1_000);
      await pause(context, runId, { drainPolicy: 'immediate' });
      await runs.reaches(runId, 'paused');

      // Another run that began later tells when the first one would have ended.
      await runs.endedRun('conformance-delay', { inputs: { delayMs: 1_000 } });

      const later = await runs.snapshot(runId);
      expect.equal(later['status'], 'paused', 'a paused run is still paused when its delay is over');
      expect.status(await runs.cancel(runId), 200);
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'cancelled', 'a paused run can be cancelled');
    },
  },
  {
    id: 'runs/pause-waiting',
    title: 'a pause of a waiting run loses nothing',
    proves: ['RUN-41'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');

      const answer = await pause(context, runId);

      expect.status(answer, 202, 409);
      if (answer.status === 202) {
        await runs.reaches(runId, 'paused');
        expect.status(await resume(context, runId), 202);
        await runs.reaches(runId, 'waiting-approval');
      }
      expect.status(await runs.resolve(runId, 'gate', { action: 'accept' }), 200);
      const ended = await runs.ended(runId);
      expect.equal(
        ended['status'],
        'completed',
        'a waiting run takes its answer after an attempt to pause it',
      );
    },
  },
];

function pause({ host }: CheckContext, runId: string, body: object = {}, options: RequestOptions = {}) {
  return host.request('POST', `/v1/runs/${runId}:pause`, { ...options, body });
}

function resume({ host }: CheckContext, runId: string): Promise<Answer> {
  return host.request('POST', `/v1/runs/${runId}:resume`, { body: {} });
}

async function runningDelay({ runs }: CheckContext, delayMs: number): Promise<string> {
  const runId = await runs.create('conformance-delay', { inputs: { delayMs } });
  await runs.reaches(runId, 'running');
  return runId;
}

/** A run that was paused in the middle of its delay. */
async function pausedRun(context: CheckContext): Promise<string> {
  const { runs, expect } = context;
  const runId = await runs.create('conformance-cancellable');
  await runs.reaches(runId, 'running');
  expect.status(await pause(context, runId, { drainPolicy: 'immediate' }), 202);
  await runs.reaches(runId, 'paused');
  return runId;
}

function expectAccepted({ expect }: CheckContext, answer: Answer, runId: string, status: string): void {
  expect.status(answer, 202);
  const body = expect.object(answer.json, 'a pause or resume is answered with an object');
  expect.equal(body['runId'], runId, 'the answer names the run');
  expect.equal(body['status'], status, `the answer says ${status}`);
}

function expectConflict({ expect }: CheckContext, answer: Answer, runStatus: string): Record<string, Json> {
  const { details } = expect.envelope(answer, { status: 409 });
  const found = objectOf(details);
  expect.equal(found['runStatus'], runStatus, 'details.runStatus says what the run is');
  return found;
}
