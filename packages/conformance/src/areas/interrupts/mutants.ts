import {
  answered,
  omit,
  payloads,
  refusal,
  repeatedEvents,
  status,
  succeeds,
  withoutEvents,
} from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { CANCEL, DISCOVERY, POLL, RESOLVE, RUNS, SNAPSHOT } from '../../mutants/targets.ts';
import { INTERRUPTS_PROFILE_MUTANTS } from './mutants-profiles.ts';
import { INTERRUPTS_TOKEN_MUTANTS } from './mutants-tokens.ts';

export const INTERRUPTS_MUTANTS: readonly Mutant[] = [
  {
    id: 'interrupts/no-current-node',
    breaks: 'the snapshot of a waiting run does not say which node asks',
    caughtBy: ['interrupts/approval', 'interrupts/clarification'],
    says: /currentNodeId names the node that asks/,
    on: SNAPSHOT,
    answer: answered((snapshot) => omit(snapshot, 'currentNodeId')),
  },
  {
    id: 'interrupts/resolved-with-202',
    breaks: 'a resolution is answered with 202',
    caughtBy: ['interrupts/approval', 'interrupts/clarification'],
    says: /status 200/,
    on: RESOLVE,
    answer: status(200, 202),
  },
  {
    id: 'interrupts/answer-without-node',
    breaks: 'the answer to a resolution does not name the node',
    caughtBy: ['interrupts/approval'],
    says: /the answer to a resolution names the node/,
    on: RESOLVE,
    answer: answered((body) => omit(body, 'nodeId')),
  },
  {
    id: 'interrupts/any-action-taken',
    breaks: 'an action that the interrupt does not list counts as accept',
    caughtBy: ['interrupts/approval'],
    says: /status 400 or 422/,
    on: RESOLVE,
    request: sent((body) => ({ ...body, resumeValue: { action: 'accept' } })),
  },
  {
    id: 'interrupts/any-node-taken',
    breaks: 'a resolution for a node that asks nothing is taken',
    caughtBy: ['interrupts/approval'],
    says: /status 404/,
    on: { method: 'POST', path: /\/interrupts\/no-such-node$/ },
    answer: succeeds(),
  },
  {
    id: 'interrupts/open-body',
    breaks: 'members next to resumeValue are ignored',
    caughtBy: ['interrupts/closed-body'],
    says: /status 400/,
    on: RESOLVE,
    request: sent(({ resumeValue }) => ({ ...(resumeValue === undefined ? {} : { resumeValue }) })),
  },
  {
    id: 'interrupts/second-answer-taken',
    breaks: 'an interrupt that is resolved already is resolved again',
    caughtBy: ['interrupts/resolved-twice'],
    says: /status 409 or 404/,
    on: RESOLVE,
    answer: succeeds(),
  },
  {
    id: 'interrupts/wrong-code-when-resolved',
    breaks: 'a second resolution has a code of its own',
    caughtBy: ['interrupts/resolved-twice'],
    says: /interrupt_already_resolved/,
    on: RESOLVE,
    answer: answered((body) => (body['error'] === undefined ? body : { ...body, error: 'conflict' })),
  },
  {
    id: 'interrupts/two-winners',
    breaks: 'every resolution of several at the same time succeeds',
    caughtBy: ['interrupts/concurrent-resolutions'],
    says: /exactly one of the resolutions succeeds/,
    on: RESOLVE,
    answer: succeeds(),
  },
  {
    id: 'interrupts/resolved-event-repeated',
    breaks: 'interrupt.resolved is in the log twice',
    caughtBy: ['interrupts/concurrent-resolutions', 'interrupts/events'],
    says: /exactly one interrupt\.resolved/,
    on: POLL,
    answer: repeatedEvents((event) => event['type'] === 'interrupt.resolved'),
  },
  {
    id: 'interrupts/requested-event-lost',
    breaks: 'interrupt.requested is not in the log',
    caughtBy: ['interrupts/events'],
    says: /exactly one interrupt\.requested/,
    on: POLL,
    answer: withoutEvents('interrupt.requested'),
  },
  {
    id: 'interrupts/suspended-event-lost',
    breaks: 'node.suspended is not in the log',
    caughtBy: ['interrupts/events'],
    says: /exactly one node\.suspended/,
    on: POLL,
    answer: withoutEvents('node.suspended'),
  },
  {
    id: 'interrupts/no-key',
    breaks: 'interrupt.requested has no key',
    caughtBy: ['interrupts/events'],
    says: /interrupt\.requested has a key/,
    on: POLL,
    answer: payloads('interrupt.requested', (payload) => omit(payload, 'key')),
  },
  {
    id: 'interrupts/other-interrupt-resolved',
    breaks: 'interrupt.resolved names another interrupt',
    caughtBy: ['interrupts/events'],
    says: /interrupt\.resolved has the interruptId of node\.suspended/,
    on: POLL,
    answer: payloads('interrupt.resolved', (payload) => ({ ...payload, interruptId: 'another' })),
  },
  {
    id: 'interrupts/no-older-events',
    breaks: 'approval.requested is not in the log',
    caughtBy: ['interrupts/older-events'],
    says: /the log has approval\.requested/,
    on: POLL,
    answer: withoutEvents('approval.requested'),
  },
  {
    id: 'interrupts/older-answers-as-list',
    breaks: 'clarification.resolved has a list of answers',
    caughtBy: ['interrupts/older-events', 'interrupts/clarification-list'],
    says: /answers keyed by question/,
    on: POLL,
    answer: payloads('clarification.resolved', (payload) => ({
      ...payload,
      answers: [{ id: 'q1', answer: 'blue' }],
    })),
  },
  {
    id: 'interrupts/decided-by-the-body',
    breaks: 'decidedBy is taken from the request',
    caughtBy: ['interrupts/decided-by'],
    says: /decidedBy is not taken from the request/,
    on: POLL,
    answer: (answer) => ({ ...answer, body: decidedAsClaimed(answer.body) }),
  },
  {
    id: 'interrupts/decider-not-named',
    breaks: 'approval.received does not say who decided',
    caughtBy: ['interrupts/decided-by'],
    says: /says who decided/,
    on: POLL,
    answer: payloads('approval.received', (payload) => omit(payload, 'decidedBy')),
  },
  {
    id: 'interrupts/older-decision-refused',
    breaks: 'the older decision is not understood',
    caughtBy: ['interrupts/older-decision'],
    says: /status 200/,
    on: RESOLVE,
    request: sent(() => ({ resumeValue: {} })),
  },
  {
    id: 'interrupts/no-key-needed',
    breaks: 'a resolution without a credential is taken',
    caughtBy: ['interrupts/no-credential', 'interrupts/auth-required'],
    says: /status 401/,
    on: RUNS,
    request(request, memory) {
      const { authorization } = request.headers;
      if (authorization !== undefined) memory.set('authorization', authorization);
      return {
        ...request,
        headers: { ...request.headers, authorization: String(memory.get('authorization')) },
      };
    },
  },
  {
    id: 'interrupts/edit-in-discovery',
    breaks: 'discovery lists the action edit',
    caughtBy: ['interrupts/no-edit-action'],
    says: /nowhere has the text "edit"/,
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, extensions: { actions: ['accept', 'edit'] } })),
  },
  {
    id: 'interrupts/question-left-open',
    breaks: 'a clarification is taken without an answer to its question',
    caughtBy: ['interrupts/clarification'],
    says: /status 400 or 422/,
    on: RESOLVE,
    request: sent(() => ({ resumeValue: { answers: { q1: '' } } })),
  },
  {
    id: 'interrupts/list-refused',
    breaks: 'answers as a list are refused',
    caughtBy: ['interrupts/clarification-list'],
    says: /status 200/,
    on: RESOLVE,
    request: sent(() => ({ resumeValue: { answers: {} } })),
  },
  {
    id: 'interrupts/answered-after-cancel',
    breaks: 'the interrupt of a cancelled run is resolved',
    caughtBy: ['interrupts/cancelled'],
    says: /status 404 or 409 or 410 or 422/,
    on: RESOLVE,
    answer: succeeds(),
  },
  {
    id: 'interrupts/race-without-winner',
    breaks: 'of a cancel and a resolution at the same time neither succeeds',
    caughtBy: ['interrupts/cancel-race'],
    says: /at least one of a cancel and a resolution succeeds/,
    on: { method: 'POST', path: new RegExp(`${CANCEL.path.source}|${RESOLVE.path.source}`) },
    answer: () => refusal(409, 'interrupt_already_resolved'),
  },
  {
    id: 'interrupts/cancel-lost-in-race',
    breaks: 'a run completes although only its cancel succeeded',
    caughtBy: ['interrupts/cancel-race'],
    says: /the run ends as the one that succeeded says/,
    on: { path: new RegExp(`${RESOLVE.path.source}|${SNAPSHOT.path.source}`) },
    request: (request) =>
      request.method === 'POST' ? { instead: refusal(409, 'interrupt_already_resolved') } : request,
    answer: answered((body) => (body['status'] === 'cancelled' ? { ...body, status: 'completed' } : body)),
  },
  {
    id: 'interrupts/older-path-answers-always',
    breaks: 'the older path says 200 and does nothing the second time',
    caughtBy: ['interrupts/older-path'],
    says: /status 400 or 404 or 409/,
    on: { method: 'POST', path: /\/approvals\/gate$/ },
    answer: succeeds(),
  },
  ...INTERRUPTS_TOKEN_MUTANTS,
  ...INTERRUPTS_PROFILE_MUTANTS,
];

/** What the request claimed still stands in the recorded resume value. */
function decidedAsClaimed(body: string): string {
  const [, claimed = 'nothing'] = /"decidedBy":"(another-approver[^"]*)"/.exec(body) ?? [];
  const change = payloads('approval.received', (payload) => ({ ...payload, decidedBy: claimed }));
  const request = { method: 'GET', path: '', headers: {}, body: '' };
  return change({ status: 200, headers: {}, body }, request, new Map()).body;
}
