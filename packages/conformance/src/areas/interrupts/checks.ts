import type { JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { ofType, payloadOf, sequenceOf } from '../events/log.ts';
import { INTERRUPTS_PROFILE_CHECKS } from './profiles.ts';
import { INTERRUPTS_RACE_CHECKS } from './races.ts';
import { INTERRUPTS_TOKEN_CHECKS } from './tokens.ts';
import { ACCEPT, stillWaits, waitingRun } from './waiting.ts';

const APPROVAL = 'conformance-approval';
const CLARIFICATION = 'conformance-clarification';

const APPROVAL_CHECKS: readonly Check[] = [
  {
    id: 'interrupts/approval',
    title: 'a run waits for an approval, refuses what is no answer, and completes when it is approved',
    proves: ['INT-1', 'INT-2', 'INT-3', 'INT-4', 'INT-5'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, snapshot } = await waitingRun(context, APPROVAL, 'waiting-approval');
      expect.equal(snapshot['currentNodeId'], 'gate', 'currentNodeId names the node that asks');

      expect.envelope(await runs.resolve(runId, 'gate', { action: 'maybe' }), { status: [400, 422] });
      expect.envelope(await runs.resolve(runId, 'no-such-node', ACCEPT), { status: 404 });
      await stillWaits(context, runId, 'waiting-approval', 'answers that were refused');

      const answer = await runs.resolve(runId, 'gate', ACCEPT);
      expect.status(answer, 200);
      const resolved = expect.object(answer.json, 'a resolution is answered with an object');
      expect.equal(resolved['runId'], runId, 'the answer to a resolution names the run');
      expect.equal(resolved['nodeId'], 'gate', 'the answer to a resolution names the node');
      expect.string(resolved['status'], 'the answer to a resolution has a status');
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run whose only gate is approved completes');
    },
  },
  {
    id: 'interrupts/closed-body',
    title: 'the body of a resolution has resumeValue and nothing else',
    proves: ['INT-6'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');
      const path = `/v1/runs/${runId}/interrupts/gate`;

      for (const body of [{}, { ...ACCEPT }, { resumeValue: ACCEPT, resumeVlaue: ACCEPT }])
        expect.envelope(await host.request('POST', path, { body }), { status: 400 });

      await stillWaits(context, runId, 'waiting-approval', 'bodies that were refused');
      await runs.cancel(runId);
    },
  },
  {
    id: 'interrupts/events',
    title: 'an interrupt and its resolution are in the log, and name each other',
    proves: ['INT-9', 'INT-10', 'INT-11'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');
      await runs.resolve(runId, 'gate', ACCEPT);
      await runs.ended(runId);

      const events = await runs.events(runId);

      const suspended = theOnly(context, events, 'node.suspended');
      const requested = theOnly(context, events, 'interrupt.requested');
      const resolved = theOnly(context, events, 'interrupt.resolved');
      expect.equal(
        payloadOf(requested)['kind'],
        'approval',
        'interrupt.requested has the kind of the interrupt',
      );
      const key = expect.string(payloadOf(requested)['key'], 'interrupt.requested has a key');
      expect.that(key.length <= 256, 'the key of an interrupt has at most 256 characters', key.length);
      expect.object(payloadOf(requested)['data'], 'interrupt.requested has data');
      const interruptId = expect.string(
        payloadOf(suspended)['interruptId'],
        'node.suspended has an interruptId',
      );
      expect.equal(payloadOf(suspended)['nodeId'], 'gate', 'node.suspended names the node in its payload');
      expect.equal(payloadOf(resolved)['nodeId'], 'gate', 'interrupt.resolved names the node in its payload');
      expect.equal(
        payloadOf(resolved)['interruptId'],
        interruptId,
        'interrupt.resolved has the interruptId of node.suspended',
      );
      for (const before of [suspended, requested])
        expect.that(
          sequenceOf(before) < sequenceOf(resolved),
          `${String(before['type'])} comes before interrupt.resolved`,
          { before: before['sequence'], resolved: resolved['sequence'] },
        );
    },
  },
  {
    id: 'interrupts/older-events',
    title: 'approvals and clarifications have their older events too',
    proves: ['INT-12'],
    needs: { fixtures: [APPROVAL, CLARIFICATION] },
    async run(context) {
      const { runs, expect } = context;
      const approval = await waitingRun(context, APPROVAL, 'waiting-approval');
      const clarification = await waitingRun(context, CLARIFICATION, 'waiting-input');
      await runs.resolve(approval.runId, 'gate', ACCEPT);
      await runs.resolve(clarification.runId, 'ask', { answers: { q1: 'blue' } });
      await runs.ended(approval.runId);
      await runs.ended(clarification.runId);

      const events = [...(await runs.events(approval.runId)), ...(await runs.events(clarification.runId))];

      const payloads = Object.fromEntries(
        ['approval.requested', 'approval.received', 'clarification.requested', 'clarification.resolved'].map(
          (type) => {
            const [event] = ofType(events, type);
            expect.that(event !== undefined, `the log has ${type}`);
            expect.string(payloadOf(event)['nodeId'], `${type} names its node`);
            return [type, payloadOf(event)];
          },
        ),
      );
      const asked = payloads['approval.requested'];
      expect.string(asked?.['artifactId'], 'approval.requested has an artifactId');
      expect.string(asked?.['artifactType'], 'approval.requested has an artifactType');
      const actions = expect.array(asked?.['actions'], 'approval.requested lists its actions');
      expect.that(actions.includes('accept'), 'approval.requested lists the action accept', actions);
      expect.equal(
        payloads['approval.received']?.['action'],
        'accept',
        'approval.received has the action taken',
      );
      const questions = expect.array(
        payloads['clarification.requested']?.['questions'],
        'clarification.requested lists its questions',
      );
      const question = expect.object(questions[0], 'a question is an object');
      expect.equal(question['id'], 'q1', 'a question has its id');
      expect.string(question['question'], 'a question has its text');
      expect.equal(
        payloads['clarification.resolved']?.['answers'],
        { q1: 'blue' },
        'clarification.resolved has the answers keyed by question',
      );
    },
  },
  {
    id: 'interrupts/decided-by',
    title: 'who decided is said by the host, not by the request',
    proves: ['INT-13'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect, unique } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');
      const claimed = unique('another-approver');

      await runs.resolve(runId, 'gate', { ...ACCEPT, decidedBy: claimed });

      await runs.ended(runId);
      const events = await runs.events(runId);
      for (const event of ofType(events, 'approval.received')) {
        const decidedBy = expect.string(payloadOf(event)['decidedBy'], 'approval.received says who decided');
        expect.that(decidedBy !== claimed, 'decidedBy is not taken from the request', decidedBy);
      }
      for (const event of ofType(events, 'interrupt.resolved')) {
        const { resolvedBy } = payloadOf(event);
        expect.that(resolvedBy !== claimed, 'resolvedBy is not taken from the request', resolvedBy);
      }
    },
  },
  {
    id: 'interrupts/older-decision',
    title: 'the older decision approved counts as accept',
    proves: ['INT-24'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');

      expect.status(await runs.resolve(runId, 'gate', { decision: 'approved' }), 200);

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run whose only gate is approved completes');
    },
  },
  {
    id: 'interrupts/no-credential',
    title: 'a resolution needs a credential',
    proves: ['INT-18'],
    needs: { fixtures: [APPROVAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');

      expect.envelope(await runs.resolve(runId, 'gate', ACCEPT, { key: null }), { status: 401 });

      await stillWaits(context, runId, 'waiting-approval', 'an answer without a credential');
      await runs.cancel(runId);
    },
  },
  {
    id: 'interrupts/low-scope',
    title: 'a resolution needs the scope approvals:respond',
    proves: ['INT-19'],
    needs: { fixtures: [APPROVAL], key: 'lowScope' },
    async run(context) {
      const { runs, expect, keys } = context;
      const { runId } = await waitingRun(context, APPROVAL, 'waiting-approval');

      const answer = await runs.resolve(runId, 'gate', ACCEPT, { key: keys.lowScope ?? null });

      expect.envelope(answer, { status: 403 });
      await stillWaits(context, runId, 'waiting-approval', 'an answer without the scope');
      await runs.cancel(runId);
    },
  },
  {
    id: 'interrupts/no-edit-action',
    title: 'discovery calls the action edit-accept',
    proves: ['INT-23'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop', { key: null });

      expect.status(answer, 200);
      expect.that(!answer.text.includes('"edit"'), 'the discovery document nowhere has the text "edit"');
    },
  },
];

const CLARIFICATION_CHECKS: readonly Check[] = [
  {
    id: 'interrupts/clarification',
    title: 'a run waits for clarification, and completes when its question is answered',
    proves: ['INT-14', 'INT-15', 'INT-17'],
    needs: { fixtures: [CLARIFICATION] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, snapshot } = await waitingRun(context, CLARIFICATION, 'waiting-input');
      expect.equal(snapshot['currentNodeId'], 'ask', 'currentNodeId names the node that asks');

      expect.envelope(await runs.resolve(runId, 'ask', { answers: {} }), { status: [400, 422] });
      await stillWaits(context, runId, 'waiting-input', 'an answer to no question');
      expect.status(await runs.resolve(runId, 'ask', { answers: { q1: 'blue' } }), 200);

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run whose question is answered completes');
    },
  },
  {
    id: 'interrupts/clarification-list',
    title: 'answers may come as a list',
    proves: ['INT-16'],
    needs: { fixtures: [CLARIFICATION] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context, CLARIFICATION, 'waiting-input');

      expect.status(await runs.resolve(runId, 'ask', { answers: [{ id: 'q1', answer: 'green' }] }), 200);

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run whose question is answered completes');
      for (const event of ofType(await runs.events(runId), 'clarification.resolved'))
        expect.equal(
          payloadOf(event)['answers'],
          { q1: 'green' },
          'clarification.resolved has the answers keyed by question',
        );
    },
  },
];

function theOnly({ expect }: CheckContext, events: readonly JsonObject[], type: string): JsonObject {
  const found = ofType(events, type);
  expect.equal(found.length, 1, `the log has exactly one ${type}`);
  return found[0] ?? {};
}

export const INTERRUPTS_CHECKS: readonly Check[] = [
  ...APPROVAL_CHECKS,
  ...CLARIFICATION_CHECKS,
  ...INTERRUPTS_RACE_CHECKS,
  ...INTERRUPTS_TOKEN_CHECKS,
  ...INTERRUPTS_PROFILE_CHECKS,
];
