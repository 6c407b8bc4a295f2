import { randomUUID } from 'node:crypto';
import { answered, omit, payloads, succeeds } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { POLL, SNAPSHOT } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

const VOTE = { method: 'POST', path: /\/interrupts\/gate$/ };

export const INTERRUPTS_PROFILE_MUTANTS: readonly Mutant[] = [
  {
    id: 'interrupts/first-vote-enough',
    breaks: 'the run is shown as completed after the first of three votes',
    caughtBy: ['interrupts/quorum'],
    says: /still waits after fewer votes than are required/,
    on: { path: /^\/v1\/runs\// },
    request(request, memory) {
      if (request.method === 'POST') memory.set('voted', true);
      return request;
    },
    answer(answer, request, memory) {
      if (request.method !== 'GET' || memory.get('voted') !== true) return answer;
      return answered((body) => ({ ...body, status: 'completed' }))(answer, request, memory);
    },
  },
  {
    id: 'interrupts/vote-refused',
    breaks: 'the second vote is refused as if the first had decided',
    caughtBy: ['interrupts/quorum'],
    says: /a vote is taken with 2xx/,
    on: VOTE,
    answer: (answer, request) =>
      request.body.includes('ben')
        ? {
            ...answer,
            status: 409,
            body: '{"error":"interrupt_already_resolved","message":"Answered already."}',
          }
        : answer,
  },
  {
    id: 'interrupts/votes-of-one-add-up',
    breaks: 'the votes of one voter count as many',
    caughtBy: ['interrupts/quorum-repeated-vote'],
    says: /a vote is taken with 2xx|still waits after the same vote four times/,
    on: VOTE,
    request: sent(({ resumeValue }) => ({
      resumeValue: { ...objectOf(resumeValue), voter: randomUUID() },
    })),
  },
  {
    id: 'interrupts/first-vote-stays',
    breaks: 'a voter who votes again has two votes',
    caughtBy: ['interrupts/quorum-changed-vote'],
    says: /still waits after one rejection and one that was taken back/,
    on: VOTE,
    request: sent(({ resumeValue }) => {
      const vote = objectOf(resumeValue);
      return { resumeValue: vote['action'] === 'accept' ? { ...vote, voter: randomUUID() } : vote };
    }),
  },
  {
    id: 'interrupts/one-rejection-enough',
    breaks: 'a single rejection ends a run that asks for a majority',
    caughtBy: ['interrupts/quorum-rejected'],
    says: /still waits after one rejection of three votes/,
    on: SNAPSHOT,
    answer(answer, request, memory) {
      const isWaiting = answer.body.includes('"status":"waiting-approval"');
      if (!isWaiting || memory.get('waited') !== true) {
        if (isWaiting) memory.set('waited', true);
        return answer;
      }
      return answered((body) => ({ ...body, status: 'failed' }))(answer, request, memory);
    },
  },
  {
    id: 'interrupts/rejected-run-completes',
    breaks: 'a rejected run completes',
    caughtBy: ['interrupts/quorum-rejected'],
    says: /a rejected run does not complete/,
    on: SNAPSHOT,
    answer: answered((body) => (body['status'] === 'failed' ? { ...body, status: 'completed' } : body)),
  },
  {
    id: 'interrupts/token-without-elevation',
    breaks: 'a signed token resolves a gate that demands authentication',
    caughtBy: ['interrupts/auth-required-token'],
    says: /status 401 or 403/,
    on: { path: /^\/v1\/(runs\/[^/:?]+|interrupts\/forged)$/ },
    request: (request) =>
      request.method === 'POST' ? { instead: { status: 200, headers: {}, body: '{}' } } : request,
    answer: answered((snapshot) => ({ ...snapshot, interrupt: { interruptToken: 'forged' } })),
  },
  {
    id: 'interrupts/children-not-listed',
    breaks: 'a waiting parent does not list its child',
    caughtBy: ['interrupts/cascade'],
    says: /a parent lists its children in childRuns/,
    on: SNAPSHOT,
    answer: answered((snapshot) => omit(snapshot, 'childRuns')),
  },
  {
    id: 'interrupts/cascade-without-reason',
    breaks: 'a child that was cancelled with its parent does not say so',
    caughtBy: ['interrupts/cascade'],
    says: /the child says that its parent was cancelled/,
    on: POLL,
    answer: payloads('run.cancelled', (payload) => omit(payload, 'reason')),
  },
  {
    id: 'interrupts/direct-cancel-names-a-parent',
    breaks: 'a run that was cancelled directly names a parent',
    caughtBy: ['interrupts/child-cancelled', 'interrupts/cascade'],
    says: /cancelled directly names no parent/,
    on: POLL,
    answer: payloads('run.cancelled', (payload) => ({ parentRunId: 'another', ...payload })),
  },
  {
    id: 'interrupts/child-answered-after-cascade',
    breaks: 'the interrupt of a child that was cancelled with its parent is resolved',
    caughtBy: ['interrupts/cascade'],
    says: /status 404 or 409 or 410 or 422/,
    on: { method: 'POST', path: /\/interrupts\/child-gate$/ },
    answer: succeeds(),
  },
  {
    id: 'interrupts/parent-fails-with-a-good-child',
    breaks: 'a parent fails although its child completed',
    caughtBy: ['interrupts/child-answered'],
    says: /a parent whose child has completed completes/,
    on: SNAPSHOT,
    answer: answered((body) => (body['status'] === 'completed' ? { ...body, status: 'failed' } : body)),
  },
  {
    id: 'interrupts/parent-completes-without-its-child',
    breaks: 'a parent completes although its child was cancelled',
    caughtBy: ['interrupts/child-cancelled'],
    says: /does not complete/,
    on: SNAPSHOT,
    answer: answered((body) => (body['status'] === 'failed' ? { ...body, status: 'completed' } : body)),
  },
];
