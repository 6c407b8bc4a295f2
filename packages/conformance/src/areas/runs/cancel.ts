import { isJsonObject, type Json } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { ofNode, ofType, outline, payloadOf } from '../events/log.ts';

const CANCEL_STATUSES = ['cancelled', 'cancelling'];
/** The scenario of 1.0.0 waits for so long. */
const CANCELLED_WITHIN_MS = 5_000;
/** What a host answers that has no bulk cancel, which came after 1.0.0. */
const NOT_SERVED = [404, 405, 501];
const RECOMMENDED_MOST_IDS = 100;

export const RUN_CANCEL_CHECKS: readonly Check[] = [
  {
    id: 'runs/cancel',
    title: 'a running run is cancelled',
    proves: ['RUN-20', 'RUN-21', 'RUN-22', 'RUN-23'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run({ runs, expect, eventually }) {
      const runId = await runs.create('conformance-cancellable');
      await runs.reaches(runId, 'running');

      const answer = await runs.cancel(runId, { reason: 'conformance' });

      expect.status(answer, 200);
      const body = expect.object(answer.json, 'a cancel is answered with an object');
      expect.equal(body['runId'], runId, 'the answer to a cancel names the run');
      expect.that(
        CANCEL_STATUSES.includes(String(body['status'])),
        'the answer to a cancel says cancelled or cancelling',
        body['status'],
      );
      await eventually(
        'a cancelled run is seen as cancelled',
        async () => ((await runs.snapshot(runId))['status'] === 'cancelled' ? true : undefined),
        CANCELLED_WITHIN_MS,
      );
      const events = await runs.events(runId);
      expect.equal(
        events.at(-1)?.['type'],
        'run.cancelled',
        'the log of a cancelled run ends with run.cancelled',
      );
      expect.that(
        ofType(ofNode(events, 'wait'), 'node.completed').length === 0,
        'the node that was interrupted does not complete',
        outline(events),
      );
      expect.equal(
        payloadOf(events.at(-1))['parentRunId'],
        undefined,
        'the run.cancelled of a direct cancel names no parentRunId',
      );
    },
  },
  {
    id: 'runs/cancel-ended',
    title: 'a cancel of a run that has ended changes nothing',
    proves: ['RUN-24'],
    needs: { fixtures: ['conformance-noop', 'conformance-cancellable'] },
    async run({ runs, expect }) {
      const completed = await runs.create('conformance-noop');
      const cancelled = await runs.create('conformance-cancellable');
      await runs.reaches(cancelled, 'running');
      await runs.cancel(cancelled);

      for (const runId of [completed, cancelled]) {
        const before = await runs.ended(runId);
        const log = await runs.events(runId);

        const answer = await runs.cancel(runId);

        expect.status(answer, 200);
        const after = await runs.snapshot(runId);
        expect.equal(after['status'], before['status'], 'a cancel leaves the status of a run that has ended');
        expect.equal(await runs.events(runId), log, 'a cancel leaves the log of a run that has ended');
      }
    },
  },
  {
    id: 'runs/cancel-unknown',
    title: 'a cancel of an unknown run is answered with 404 or 403',
    proves: ['RUN-25'],
    async run({ runs, expect, unique }) {
      const answer = await runs.cancel(unique());

      expect.envelope(answer, { status: [404, 403] });
    },
  },
  {
    id: 'runs/cancel-waiting',
    title: 'a run that waits for an answer can be cancelled',
    proves: ['RUN-26'],
    needs: { fixtures: ['conformance-approval'] },
    async run({ runs, expect }) {
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');

      const answer = await runs.cancel(runId);

      expect.status(answer, 200);
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'cancelled', 'a waiting run that is cancelled ends as cancelled');
      const late = await runs.resolve(runId, 'gate', { action: 'accept' });
      expect.envelope(late, { status: [400, 403, 404, 409, 410, 422] });
    },
  },
  {
    id: 'runs/bulk-cancel',
    title: 'a bulk cancel has one result for each id, in the order of the request',
    proves: ['RUN-27', 'RUN-28'],
    needs: { fixtures: ['conformance-cancellable', 'conformance-noop'] },
    async run(context) {
      const { runs, host, expect, unique } = context;
      const active = await runs.create('conformance-cancellable');
      const completed = await runs.endedRun('conformance-noop');
      const unknown = unique();
      const runIds = [unknown, active, completed];

      const answer = await host.request('POST', '/v1/runs:bulk-cancel', { body: { runIds } });

      if (isNotServed(context, answer)) return;
      expect.status(answer, 200);
      const [first, second, third] = resultsOf(context, answer, runIds);
      expectItemError(context, first, 'not_found');
      expect.that(
        second?.['ok'] === true && CANCEL_STATUSES.includes(String(second['status'])),
        'an active run is cancelled by a bulk cancel',
        second,
      );
      expectItemError(context, third, 'run_terminal');
      const ended = await runs.ended(active);
      expect.equal(ended['status'], 'cancelled', 'an active run ends as cancelled after a bulk cancel');
      const again = await host.request('POST', '/v1/runs:bulk-cancel', { body: { runIds: [active] } });
      const [item] = resultsOf(context, again, [active]);
      expect.that(
        item?.['ok'] === true && item['status'] === 'cancelled',
        'a cancelled run is ok in a bulk cancel',
        item,
      );
    },
  },
  {
    id: 'runs/bulk-cancel-refused',
    title: 'a bulk cancel that is not valid is refused as a whole',
    proves: ['RUN-29'],
    async run(context) {
      const { host, expect } = context;
      const post = (runIds: unknown): Promise<Answer> =>
        host.request('POST', '/v1/runs:bulk-cancel', { body: { runIds } });

      const empty = await post([]);

      if (isNotServed(context, empty)) return;
      expect.envelope(empty, { status: 400, code: 'validation_error' });
      for (const runIds of [undefined, 'not-a-list', [7]])
        expect.envelope(await post(runIds), { status: 400, code: 'validation_error' });
      await expectMostIds(context, post);
    },
  },
];

/** The number of ids is the host's choice, 100 is recommended: more are refused, with the number in the details. */
async function expectMostIds(
  context: CheckContext,
  post: (runIds: unknown) => Promise<Answer>,
): Promise<void> {
  const { expect, unique } = context;
  const many = Array.from({ length: RECOMMENDED_MOST_IDS * 10 }, () => unique('no-such-run'));
  const answer = await post(many);
  if (answer.status === 200) {
    resultsOf(context, answer, many);
    return;
  }
  const { details } = expect.envelope(answer, { status: [400, 413], code: 'validation_error' });
  const most = isJsonObject(details) ? details['maxRunIds'] : undefined;
  expect.that(
    typeof most === 'number' && most >= 1 && most < many.length,
    'details.maxRunIds says how many ids are taken',
    most ?? 'nothing',
  );
}

function isNotServed({ expect }: CheckContext, answer: Answer): boolean {
  if (!NOT_SERVED.includes(answer.status)) return false;
  expect.that(true, 'the host has no bulk cancel and says so', answer.status);
  return true;
}

function resultsOf({ expect }: CheckContext, answer: Answer, runIds: readonly string[]) {
  const body = expect.object(answer.json, 'a bulk cancel is answered with an object');
  const results = expect
    .array(body['results'], 'a bulk cancel is answered with a list of results')
    .map((item) => expect.object(item, 'a result of a bulk cancel is an object'));
  expect.equal(
    results.map(({ runId }) => runId ?? 'nothing'),
    runIds,
    'the results of a bulk cancel are those of the request, in its order',
  );
  return results;
}

function expectItemError(
  { expect }: CheckContext,
  item: { [name: string]: Json } | undefined,
  code: string,
): void {
  const error = item?.['error'];
  expect.that(
    item?.['ok'] === false && isJsonObject(error) && error['code'] === code,
    `a result of a bulk cancel says ${code}`,
    item,
  );
}
