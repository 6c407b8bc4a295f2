import { isJsonObject } from '@weft/protocol';
import type { Mutant } from '../../mutants/mutant.ts';
import {
  objects,
  omit,
  payloadsOf,
  POLL,
  polledEvents,
  sent,
  SNAPSHOT,
} from '../../mutants/polled-events.ts';

const DECIDED = 'runOrchestrator.decided';

export const ORCHESTRATION_MUTANTS: readonly Mutant[] = [
  {
    id: 'orchestration/decision-without-agent',
    breaks: 'a decision does not say who made it',
    caughtBy: ['orchestration/decisions'],
    says: /runOrchestrator\.decided has an agentId/,
    on: { path: POLL },
    answer: payloadsOf(DECIDED, (payload) => omit(payload, 'agentId')),
  },
  {
    id: 'orchestration/agents-take-over',
    breaks: 'another agent makes the second decision',
    caughtBy: ['orchestration/decisions'],
    says: /every decision has the agentId of runOrchestrator/,
    on: { path: POLL },
    answer: payloadsOf(DECIDED, (payload) => {
      const { decision } = payload;
      const isLast = isJsonObject(decision) && decision['kind'] === 'terminate';
      return isLast ? { ...payload, agentId: 'core.another.agent' } : payload;
    }),
  },
  {
    id: 'orchestration/no-worker-named',
    breaks: 'next-worker names no worker',
    caughtBy: ['orchestration/decisions'],
    says: /next-worker names at least one worker/,
    on: { path: POLL },
    answer: payloadsOf(DECIDED, (payload) => {
      const { decision } = payload;
      return isJsonObject(decision) && decision['kind'] === 'next-worker'
        ? { ...payload, decision: { kind: 'next-worker', nextWorkerIds: [] } }
        : payload;
    }),
  },
  {
    id: 'orchestration/unknown-decision',
    breaks: 'a decision has a kind that does not exist',
    caughtBy: ['orchestration/decisions'],
    says: /the kind of a decision is next-worker, ask-user or terminate/,
    on: { path: POLL },
    answer: payloadsOf(DECIDED, (payload) => {
      const { decision } = payload;
      return isJsonObject(decision) && decision['kind'] === 'terminate'
        ? { ...payload, decision: { kind: 'stop' } }
        : payload;
    }),
  },
  {
    id: 'orchestration/decided-afterwards',
    breaks: 'a decision is recorded after the supervisor has completed',
    caughtBy: ['orchestration/decisions'],
    says: /before its supervisor completes/,
    on: { path: POLL },
    answer: polledEvents((event) => [
      event['type'] === DECIDED ? { ...event, sequence: Number(event['sequence']) + 1.5 } : event,
    ]),
  },
  {
    id: 'orchestration/numbers-from-zero',
    breaks: 'decisions are numbered from 0',
    caughtBy: ['orchestration/decisions'],
    says: /numbered from 1, one by one/,
    on: { path: POLL },
    answer: payloadsOf(DECIDED, (payload) => ({ ...payload, iteration: Number(payload['iteration']) - 1 })),
  },
  {
    id: 'orchestration/orchestrator-not-shown',
    breaks: 'the snapshot does not name the orchestrator',
    caughtBy: ['orchestration/decisions'],
    says: /the snapshot has runOrchestrator/,
    on: { method: 'GET', path: SNAPSHOT },
    answer: objects((snapshot) => omit(snapshot, 'runOrchestrator')),
  },
  {
    id: 'orchestration/decides-after-terminate',
    breaks: 'a supervisor terminates twice',
    caughtBy: ['orchestration/terminate', 'orchestration/dispatch-loop'],
    says: /exactly one decision terminate/,
    on: { path: POLL },
    answer: polledEvents((event) =>
      event['type'] === DECIDED && JSON.stringify(event).includes('terminate') ? [event, event] : [event],
    ),
  },
  {
    id: 'orchestration/decides-while-unsure',
    breaks: 'a supervisor with low confidence decides at once',
    caughtBy: ['orchestration/low-confidence'],
    says: /no decision stands in the log before a person has answered/,
    on: { path: POLL },
    answer: polledEvents((event) =>
      event['type'] === 'node.suspended' ? [{ ...event, type: DECIDED }, event] : [event],
    ),
  },
  {
    id: 'orchestration/ratified-by-another',
    breaks: 'a ratified decision has the id of the person',
    caughtBy: ['orchestration/low-confidence-ratified'],
    says: /has the agentId of its supervisor/,
    on: { path: POLL },
    answer: payloadsOf(DECIDED, (payload) => ({ ...payload, agentId: 'operator' })),
  },
  {
    id: 'orchestration/ratified-twice',
    breaks: 'a ratified decision stands in the log twice',
    caughtBy: ['orchestration/low-confidence-ratified'],
    says: /the decision that was ratified stands in the log once/,
    on: { path: POLL },
    answer: polledEvents((event) => (event['type'] === DECIDED ? [event, event] : [event])),
  },
  {
    id: 'orchestration/another-decision-ratified',
    breaks: 'the decision that a person ratified is not the one that is taken',
    caughtBy: ['orchestration/low-confidence-ratified'],
    says: /the decision that was ratified stands in the log once/,
    on: { method: 'POST', path: /\/interrupts\// },
    request: sent(() => ({ resumeValue: { decision: { kind: 'terminate' } } })),
  },
  {
    id: 'orchestration/worker-sent-twice',
    breaks: 'the loop sends its worker twice',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /the decisions of the loop are next-worker and terminate/,
    on: { path: POLL },
    answer: polledEvents((event) =>
      event['type'] === DECIDED && JSON.stringify(event).includes('next-worker') ? [event, event] : [event],
    ),
  },
  {
    id: 'orchestration/child-not-named',
    breaks: 'the outputs of dispatch do not name the child',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /the outputs of dispatch have a childRunId/,
    on: { path: POLL },
    answer: payloadsOf('node.completed', (payload) => omit(payload, 'outputs')),
  },
  {
    id: 'orchestration/cause-not-named',
    breaks: 'what dispatch does has no cause',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /from dispatch is the eventId of a decision/,
    on: { path: POLL },
    answer: polledEvents((event) => [omit(event, 'causationId')]),
  },
  {
    id: 'orchestration/another-worker',
    breaks: 'dispatch runs another workflow than was decided on',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /the child is a run of the workflow that was decided on/,
    on: { method: 'GET', path: SNAPSHOT },
    answer: objects((snapshot) =>
      snapshot['workflowId'] === 'conformance-noop'
        ? { ...snapshot, workflowId: 'conformance-multi-node' }
        : snapshot,
    ),
  },
  {
    id: 'orchestration/unset-becomes-null',
    breaks: 'a variable that the parent has not set is null in the worker',
    caughtBy: ['orchestration/mapping-into'],
    says: /a variable that the parent has not set is unset/,
    on: { method: 'GET', path: SNAPSHOT },
    answer: objects((snapshot) => {
      const variables = isJsonObject(snapshot['variables']) ? snapshot['variables'] : {};
      return { ...snapshot, variables: { childGreeting: null, ...variables } };
    }),
  },
  {
    id: 'orchestration/result-not-mapped',
    breaks: 'the result of a worker does not reach the parent',
    caughtBy: ['orchestration/mapping-out-of'],
    says: /the parent has the mapped variable of its worker/,
    on: { method: 'GET', path: SNAPSHOT },
    answer: objects((snapshot) => {
      const variables = isJsonObject(snapshot['variables']) ? snapshot['variables'] : {};
      return 'parentResult' in variables ? { ...snapshot, variables: { parentResult: '' } } : snapshot;
    }),
  },
  {
    id: 'orchestration/general-mapping-wins',
    breaks: 'the general mapping wins over the one for a worker',
    caughtBy: ['orchestration/mapping-per-worker'],
    says: /a mapping for one worker wins over the general one/,
    on: { method: 'GET', path: SNAPSHOT },
    answer: objects((snapshot) => {
      const variables = isJsonObject(snapshot['variables']) ? snapshot['variables'] : {};
      return variables['input'] === undefined
        ? snapshot
        : { ...snapshot, variables: { ...variables, input: 'default-x-value' } };
    }),
  },
];
