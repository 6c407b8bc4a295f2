import type { Check, CheckContext } from '../../suite/check.ts';
import { ofType, payloadOf } from '../events/log.ts';
import { ACCEPT, linkOf, stillWaits, TOO_LATE, waitingRun } from './waiting.ts';

const QUORUM = 'conformance-interrupt-quorum';
const AUTH_REQUIRED = 'conformance-interrupt-auth-required';
const PARENT = 'conformance-interrupt-parent-child-cancel';
const CHILD = 'conformance-interrupt-parent-child-cancel-child';
const WAITING = 'waiting-approval';

async function vote(context: CheckContext, runId: string, action: string, voter: string): Promise<void> {
  const answer = await context.runs.resolve(runId, 'gate', { action, voter });
  context.expect.that(
    answer.status >= 200 && answer.status < 300,
    'a vote is taken with 2xx',
    `${answer.status} ${answer.text}`,
  );
}

const QUORUM_CHECKS: readonly Check[] = [
  {
    id: 'interrupts/quorum',
    title: 'a gate for three opens with the third vote',
    proves: ['INT-46'],
    needs: { fixtures: [QUORUM] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, QUORUM, WAITING);

      for (const voter of ['ann', 'ben']) {
        await vote(context, runId, 'accept', voter);
        await stillWaits(context, runId, WAITING, 'fewer votes than are required');
      }
      await vote(context, runId, 'accept', 'cem');

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run with the required votes completes');
    },
  },
  {
    id: 'interrupts/quorum-repeated-vote',
    title: 'a voter counts once',
    proves: ['INT-47'],
    needs: { fixtures: [QUORUM] },
    async run(context) {
      const { runId } = await waitingRun(context, QUORUM, WAITING);

      for (let time = 0; time < 4; time += 1) await vote(context, runId, 'accept', 'ann');

      await stillWaits(context, runId, WAITING, 'the same vote four times');
      await context.runs.cancel(runId);
    },
  },
  {
    id: 'interrupts/quorum-changed-vote',
    title: 'a voter who votes again replaces the earlier vote',
    proves: ['INT-48'],
    needs: { fixtures: [QUORUM] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, QUORUM, WAITING);

      await vote(context, runId, 'reject', 'ann');
      await vote(context, runId, 'accept', 'ann');
      await vote(context, runId, 'reject', 'ben');
      await stillWaits(context, runId, WAITING, 'one rejection and one that was taken back');
      await vote(context, runId, 'accept', 'ben');
      await vote(context, runId, 'accept', 'cem');

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'votes that were changed count as they are last');
    },
  },
  {
    id: 'interrupts/quorum-rejected',
    title: 'a majority of rejections ends the run, and not as completed',
    proves: ['INT-49'],
    needs: { fixtures: [QUORUM] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, QUORUM, WAITING);

      await vote(context, runId, 'reject', 'ann');
      await stillWaits(context, runId, WAITING, 'one rejection of three votes');
      await vote(context, runId, 'reject', 'ben');

      const ended = await runs.ended(runId);
      expect.that(ended['status'] !== 'completed', 'a rejected run does not complete', ended['status']);
    },
  },
];

const AUTH_CHECKS: readonly Check[] = [
  {
    id: 'interrupts/auth-required',
    title: 'a gate that demands authentication is resolved with a key alone',
    proves: ['INT-52', 'INT-53'],
    needs: { fixtures: [AUTH_REQUIRED] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, AUTH_REQUIRED, WAITING);

      expect.envelope(await runs.resolve(runId, 'gate', ACCEPT, { key: null }), { status: 401 });
      await stillWaits(context, runId, WAITING, 'an answer without a credential');
      expect.status(await runs.resolve(runId, 'gate', ACCEPT), 200, 202, 204);

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run whose only gate is approved completes');
    },
  },
  {
    id: 'interrupts/auth-required-token',
    title: 'no signed token resolves a gate that demands authentication',
    proves: ['INT-54'],
    needs: { fixtures: [AUTH_REQUIRED] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId, snapshot } = await waitingRun(context, AUTH_REQUIRED, WAITING);
      const link = linkOf(snapshot);

      // A host that hands out no token for this gate has refused it in the best way.
      if (link !== undefined) {
        const answer = await host.request('POST', link, { key: null, body: { resumeValue: ACCEPT } });
        expect.envelope(answer, { status: [401, 403, ...TOO_LATE] });
      }

      await stillWaits(context, runId, WAITING, 'whatever a token could do');
      await runs.cancel(runId);
    },
  },
];

/** A parent that waits because its child does. */
async function family(context: CheckContext): Promise<{ parent: string; child: string }> {
  const { expect } = context;
  const { runId, snapshot } = await waitingRun(context, PARENT, WAITING);
  const children = expect.array(snapshot['childRuns'], 'a parent lists its children in childRuns');
  const child = expect.object(children[0], 'an entry of childRuns is an object');
  return { parent: runId, child: expect.string(child['runId'], 'an entry of childRuns has a runId') };
}

async function cancelledPayload({ runs, expect }: CheckContext, runId: string) {
  const [cancelled] = ofType(await runs.events(runId), 'run.cancelled');
  expect.that(cancelled !== undefined, 'the log of a cancelled run has run.cancelled');
  return payloadOf(cancelled);
}

const CASCADE_CHECKS: readonly Check[] = [
  {
    id: 'interrupts/cascade',
    title: 'a parent waits with its child, and takes it along when it is cancelled',
    proves: ['INT-55', 'INT-56', 'INT-57', 'INT-58'],
    needs: { fixtures: [PARENT, CHILD] },
    async run(context) {
      const { runs, expect } = context;
      const { parent, child } = await family(context);
      await runs.reaches(child, WAITING);

      expect.status(await runs.cancel(parent), 200, 202);

      await runs.reaches(parent, 'cancelled');
      await runs.reaches(child, 'cancelled');
      const ofChild = await cancelledPayload(context, child);
      expect.equal(ofChild['reason'], 'parent-cancelled', 'the child says that its parent was cancelled');
      expect.equal(ofChild['parentRunId'], parent, 'the child names the parent that was cancelled');
      const ofParent = await cancelledPayload(context, parent);
      expect.equal(ofParent['parentRunId'], undefined, 'a run that is cancelled directly names no parent');
      expect.envelope(await runs.resolve(child, 'child-gate', ACCEPT), { status: TOO_LATE });
    },
  },
  {
    id: 'interrupts/child-answered',
    title: 'a parent continues when its child does',
    proves: ['INT-59'],
    needs: { fixtures: [PARENT, CHILD] },
    async run(context) {
      const { runs, expect } = context;
      const { parent, child } = await family(context);

      expect.status(await runs.resolve(child, 'child-gate', ACCEPT), 200, 202, 204);

      const ended = await runs.ended(parent);
      expect.equal(ended['status'], 'completed', 'a parent whose child has completed completes');
    },
  },
  {
    id: 'interrupts/child-cancelled',
    title: 'a child that is cancelled by itself ends its parent, and blames no one else',
    proves: ['INT-57', 'INT-60'],
    needs: { fixtures: [PARENT, CHILD] },
    async run(context) {
      const { runs, expect } = context;
      const { parent, child } = await family(context);

      expect.status(await runs.cancel(child), 200, 202);

      await runs.reaches(child, 'cancelled');
      const { parentRunId } = await cancelledPayload(context, child);
      expect.equal(parentRunId, undefined, 'a run that is cancelled directly names no parent');
      const ended = await runs.ended(parent);
      expect.that(
        ['failed', 'cancelled'].includes(String(ended['status'])),
        'a parent whose child was cancelled does not complete',
        ended['status'],
      );
    },
  },
];

export const INTERRUPTS_PROFILE_CHECKS: readonly Check[] = [
  ...QUORUM_CHECKS,
  ...AUTH_CHECKS,
  ...CASCADE_CHECKS,
];
