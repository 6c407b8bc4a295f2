import { isJsonObject } from '@weft/protocol';
import {
  answered,
  eachEvent,
  omit,
  payloads,
  repeatedEvents,
  replaces,
  variables,
} from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { DISCOVERY, POLL, RESOLVE, SNAPSHOT } from '../../mutants/targets.ts';

const DECIDED = 'runOrchestrator.decided';

export const ORCHESTRATION_MUTANTS: readonly Mutant[] = [
  {
    id: 'orchestration/decision-without-agent',
    breaks: 'a decision does not say who made it',
    caughtBy: ['orchestration/decisions'],
    says: /runOrchestrator\.decided has an agentId/,
    on: POLL,
    answer: payloads(DECIDED, (payload) => omit(payload, 'agentId')),
  },
  {
    id: 'orchestration/agents-take-over',
    breaks: 'another agent makes the second decision',
    caughtBy: ['orchestration/decisions'],
    says: /every decision has the agentId of runOrchestrator/,
    on: POLL,
    answer: payloads(DECIDED, (payload) => {
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
    on: POLL,
    answer: payloads(DECIDED, (payload) => {
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
    on: POLL,
    answer: payloads(DECIDED, (payload) => {
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
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === DECIDED ? { ...event, sequence: Number(event['sequence']) + 1.5 } : event,
    ),
  },
  {
    id: 'orchestration/numbers-from-zero',
    breaks: 'decisions are numbered from 0',
    caughtBy: ['orchestration/decisions'],
    says: /numbered from 1, one by one/,
    on: POLL,
    answer: payloads(DECIDED, (payload) => ({ ...payload, iteration: Number(payload['iteration']) - 1 })),
  },
  {
    id: 'orchestration/orchestrator-not-shown',
    breaks: 'the snapshot does not name the orchestrator',
    caughtBy: ['orchestration/decisions'],
    says: /the snapshot has runOrchestrator/,
    on: SNAPSHOT,
    answer: answered((snapshot) => omit(snapshot, 'runOrchestrator')),
  },
  {
    id: 'orchestration/decides-after-terminate',
    breaks: 'a supervisor terminates twice',
    caughtBy: ['orchestration/terminate', 'orchestration/dispatch-loop'],
    says: /exactly one decision terminate/,
    on: POLL,
    answer: repeatedEvents(
      (event) => event['type'] === DECIDED && JSON.stringify(event).includes('terminate'),
    ),
  },
  {
    id: 'orchestration/decides-while-unsure',
    breaks: 'a supervisor with low confidence decides at once',
    caughtBy: ['orchestration/low-confidence'],
    says: /no decision is in the log before a person has answered/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'node.suspended' ? [{ ...event, type: DECIDED }, event] : event,
    ),
  },
  {
    id: 'orchestration/ratified-by-another',
    breaks: 'a ratified decision has the id of the person',
    caughtBy: ['orchestration/low-confidence-ratified'],
    says: /has the agentId of its supervisor/,
    on: POLL,
    answer: payloads(DECIDED, (payload) => ({ ...payload, agentId: 'operator' })),
  },
  {
    id: 'orchestration/ratified-twice',
    breaks: 'a ratified decision is in the log twice',
    caughtBy: ['orchestration/low-confidence-ratified'],
    says: /the decision that was ratified is in the log once/,
    on: POLL,
    answer: repeatedEvents((event) => event['type'] === DECIDED),
  },
  {
    id: 'orchestration/another-decision-ratified',
    breaks: 'the decision that a person ratified is not the one that is taken',
    caughtBy: ['orchestration/low-confidence-ratified'],
    says: /the decision that was ratified is in the log once/,
    on: RESOLVE,
    request: sent(() => ({ resumeValue: { decision: { kind: 'terminate' } } })),
  },
  {
    id: 'orchestration/worker-sent-twice',
    breaks: 'the loop sends its worker twice',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /the decisions of the loop are next-worker and terminate/,
    on: POLL,
    answer: repeatedEvents(
      (event) => event['type'] === DECIDED && JSON.stringify(event).includes('next-worker'),
    ),
  },
  {
    id: 'orchestration/child-not-named',
    breaks: 'the outputs of dispatch do not name the child',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /the outputs of dispatch have a childRunId/,
    on: POLL,
    answer: payloads('node.completed', (payload) => omit(payload, 'outputs')),
  },
  {
    id: 'orchestration/cause-not-named',
    breaks: 'what dispatch does has no cause',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /from dispatch is the eventId of a decision/,
    on: POLL,
    answer: eachEvent((event) => [omit(event, 'causationId')]),
  },
  {
    id: 'orchestration/another-worker',
    breaks: 'dispatch runs another workflow than was decided on',
    caughtBy: ['orchestration/dispatch-loop'],
    says: /the child is a run of the workflow that was decided on/,
    on: SNAPSHOT,
    answer: answered((snapshot) =>
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
    on: SNAPSHOT,
    answer: variables((all) => ({ childGreeting: null, ...all })),
  },
  {
    id: 'orchestration/result-not-mapped',
    breaks: 'the result of a worker does not reach the parent',
    caughtBy: ['orchestration/mapping-out-of'],
    says: /the parent has the mapped variable of its worker/,
    on: SNAPSHOT,
    answer: variables((all) => ('parentResult' in all ? { parentResult: '' } : all)),
  },
  {
    id: 'orchestration/general-mapping-wins',
    breaks: 'the general mapping wins over the one for a worker',
    caughtBy: ['orchestration/mapping-per-worker'],
    says: /a mapping for one worker wins over the general one/,
    on: SNAPSHOT,
    answer: variables((all) => ('input' in all ? { ...all, input: 'default-x-value' } : all)),
  },
  {
    id: 'orchestration/policy-made-up',
    breaks: 'a policy of fan-out is advertised that the protocol does not know',
    caughtBy: ['orchestration/fan-out-policies'],
    says: /a policy is one of the protocol/,
    on: DISCOVERY,
    answer: replaces('dispatch', { supported: true, fanOutPolicies: ['sequential', 'scatter'] }),
  },
];
