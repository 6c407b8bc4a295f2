import type { Check } from '../../suite/check.ts';
import { TERMINAL_STATUSES } from '../../suite/run-driver.ts';
import { ofType } from '../events/log.ts';
import { ACCEPT, stillWaits, TOO_LATE, waitingRun } from './waiting.ts';

const APPROVAL = 'conformance-approval';
const RESOLVERS = 5;
const isSuccess = (status: number): boolean => status === 200 || status === 202;

/** Answers that come twice, too late, or at the same time as something else. */
export const INTERRUPTS_RACE_CHECKS: readonly Check[] = [
  {
    id: 'interrupts/resolved-twice',
    title: 'an interrupt is resolved once',
    proves: ['INT-7'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');
      expect.status(await runs.resolve(runId, 'gate', ACCEPT), 200);

      const again = await runs.resolve(runId, 'gate', ACCEPT);

      const envelope = expect.envelope(again, { status: [409, 404] });
      if (again.status === 409)
        expect.equal(
          envelope['error'],
          'interrupt_already_resolved',
          'the code of a second resolution is interrupt_already_resolved',
        );
    },
  },
  {
    id: 'interrupts/concurrent-resolutions',
    title: 'of resolutions at the same time one wins',
    proves: ['INT-8'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');

      const answers = await Promise.all(
        Array.from({ length: RESOLVERS }, () => runs.resolve(runId, 'gate', ACCEPT)),
      );

      const won = answers.filter(({ status }) => isSuccess(status));
      expect.equal(won.length, 1, 'exactly one of the resolutions succeeds');
      for (const lost of answers.filter(({ status }) => !isSuccess(status)))
        expect.envelope(lost, { status: [409, 404] });
      await runs.ended(runId);
      const resolved = ofType(await runs.events(runId), 'interrupt.resolved');
      expect.equal(resolved.length, 1, 'the log has exactly one interrupt.resolved');
    },
  },
  {
    id: 'interrupts/cancelled',
    title: 'the interrupt of a cancelled run cannot be resolved',
    proves: ['INT-20'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');

      expect.status(await runs.cancel(runId), 200, 202);

      await runs.reaches(runId, 'cancelled');
      expect.envelope(await runs.resolve(runId, 'gate', ACCEPT), { status: TOO_LATE });
    },
  },
  {
    id: 'interrupts/cancel-race',
    title: 'of a cancel and a resolution at the same time at least one succeeds',
    proves: ['INT-21'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');

      const [cancelled, resolved] = await Promise.all([
        runs.cancel(runId),
        runs.resolve(runId, 'gate', ACCEPT),
      ]);

      expect.status(cancelled, 200, 202, 409);
      expect.status(resolved, 200, 202, 400, ...TOO_LATE);
      expect.that(
        isSuccess(cancelled.status) || isSuccess(resolved.status),
        'at least one of a cancel and a resolution succeeds',
        { cancel: cancelled.status, resolution: resolved.status },
      );
      const ended = await runs.ended(runId);
      const allowed = isSuccess(resolved.status) ? TERMINAL_STATUSES : ['cancelled'];
      expect.that(
        allowed.includes(String(ended['status'])),
        'the run ends as the one that succeeded says',
        ended['status'],
        allowed.join(' or '),
      );
    },
  },
  {
    id: 'interrupts/older-path',
    title: 'the older path of approvals is served like the newer one, or not at all',
    proves: ['INT-22'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');
      const path = `/v1/runs/${runId}/approvals/gate`;

      const answer = await host.request('POST', path, { body: ACCEPT });

      expect.status(answer, 200, 202, 404);
      if (!isSuccess(answer.status)) {
        await stillWaits(context, runId, 'waiting-approval', 'an answer to a path that is not served');
        await runs.cancel(runId);
        return;
      }
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run that is approved on the older path completes');
      expect.envelope(await host.request('POST', path, { body: ACCEPT }), { status: [400, 404, 409] });
    },
  },
];
