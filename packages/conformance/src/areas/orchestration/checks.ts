import { advertised } from '../../requirements/gates.ts';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { expectAgentId, expectLowConfidence, unansweredEvents } from '../agents/checks.ts';
import { ofType, payloadOf, sequenceOf } from '../events/log.ts';
import { ORCHESTRATION_MAPPING_CHECKS } from './mapping.ts';

/** `parallel` is later than 1.0.0. */
const FAN_OUT_POLICIES = ['sequential', 'reject', 'parallel'];
const DISPATCH = 'conformance-orchestrator-dispatch';
const TERMINATE = 'conformance-orchestrator-terminate';
const LOW_CONFIDENCE = 'conformance-orchestrator-low-confidence';
const LOOP = 'conformance-dispatch-loop';
const WORKER = 'conformance-noop';

const decisionsIn = (events: readonly JsonObject[]): JsonObject[] =>
  ofType(events, 'runOrchestrator.decided');
const kindOf = (event: JsonObject): Json | undefined => {
  const { decision } = payloadOf(event);
  return isJsonObject(decision) ? decision['kind'] : undefined;
};

async function orchestrated({ runs, expect }: CheckContext, workflowId: string) {
  const runId = await runs.create(workflowId);
  const ended = await runs.ended(runId);
  expect.equal(ended['status'], 'completed', 'a run that its supervisor terminates completes');
  return { ended, events: await runs.events(runId) };
}

export const ORCHESTRATION_CHECKS: readonly Check[] = [
  {
    id: 'orchestration/decisions',
    title: 'a supervisor decides, and its decisions are in the log before they take effect',
    proves: ['ORCH-1', 'ORCH-2', 'ORCH-3', 'ORCH-4', 'ORCH-14'],
    needs: { fixtures: [DISPATCH, WORKER] },
    async run(context) {
      const { expect } = context;

      const { ended, events } = await orchestrated(context, DISPATCH);

      const decided = decisionsIn(events);
      expect.that(
        decided.some((event) => kindOf(event) === 'next-worker'),
        'the log has runOrchestrator.decided with the decision next-worker',
        decided.map(kindOf),
      );
      const orchestrator = expect.object(ended['runOrchestrator'], 'the snapshot has runOrchestrator');
      for (const event of decided) {
        const { agentId, decision } = payloadOf(event);
        expectAgentId(context, agentId, 'runOrchestrator.decided');
        expect.equal(agentId, orchestrator['agentId'], 'every decision has the agentId of runOrchestrator');
        expectDecision(context, decision);
      }
      const numbers = decided.map((event) => payloadOf(event)['iteration']);
      if (numbers.some((number) => number !== undefined))
        expect.equal(
          numbers.map((number) => number ?? null),
          numbers.map((_, index) => index + 1),
          'decisions are numbered from 1, one by one',
        );
      expectBeforeEffect(context, events, decided);
    },
  },
  {
    id: 'orchestration/terminate',
    title: 'the decision to terminate is the last one',
    proves: ['ORCH-5'],
    needs: { fixtures: [TERMINATE] },
    async run(context) {
      const { events } = await orchestrated(context, TERMINATE);

      const kinds = decisionsIn(events).map(kindOf);
      context.expect.equal(kinds.at(-1), 'terminate', 'the last decision is terminate');
      context.expect.equal(
        kinds.filter((kind) => kind === 'terminate').length,
        1,
        'the log has exactly one decision terminate',
      );
    },
  },
  {
    id: 'orchestration/low-confidence',
    title: 'a supervisor that is not sure enough decides nothing before a person has answered',
    proves: ['ORCH-6'],
    needs: { fixtures: [LOW_CONFIDENCE] },
    async run(context) {
      const { expect } = context;
      const events = await unansweredEvents(context, LOW_CONFIDENCE);

      expect.equal(decisionsIn(events).length, 0, 'no decision is in the log before a person has answered');
      expectLowConfidence(context, ofType(events, 'node.suspended')[0]);
    },
  },
  {
    id: 'orchestration/low-confidence-ratified',
    title: 'a decision that a person ratifies is in the log once',
    proves: ['ORCH-7'],
    needs: { fixtures: [LOW_CONFIDENCE] },
    async run({ host, runs, expect, eventually }) {
      const runId = await runs.create(LOW_CONFIDENCE);
      const { currentNodeId, runOrchestrator } = await runs.reaches(runId, 'waiting-approval');

      const nodeId = expect.string(currentNodeId, 'currentNodeId names the node that waits');
      expect.status(await runs.resolve(runId, nodeId, { ratified: true }), 200, 202, 204);

      const decided = await eventually('a ratified decision is in the log', async () => {
        const { json } = await host.request('GET', `/v1/runs/${runId}/events/poll?timeout=1`);
        const events = isJsonObject(json) && Array.isArray(json['events']) ? json['events'] : [];
        const found = decisionsIn(events.filter(isJsonObject));
        return found.length > 0 ? found : undefined;
      });
      const ratified = decided.filter((event) => kindOf(event) === 'next-worker');
      expect.equal(ratified.length, 1, 'the decision that was ratified is in the log once');
      expect.equal(
        payloadOf(ratified[0])['agentId'],
        isJsonObject(runOrchestrator) ? runOrchestrator['agentId'] : undefined,
        'a ratified decision has the agentId of its supervisor',
      );
      await runs.cancel(runId);
    },
  },
  {
    id: 'orchestration/dispatch-loop',
    title: 'supervisor and dispatch take turns until the supervisor terminates',
    proves: ['ORCH-8', 'ORCH-9', 'ORCH-10'],
    needs: { fixtures: [LOOP, WORKER] },
    async run(context) {
      const { runs, expect } = context;

      const { events } = await orchestrated(context, LOOP);

      const decided = decisionsIn(events);
      expect.equal(
        decided.map(kindOf),
        ['next-worker', 'terminate'],
        'the decisions of the loop are next-worker and terminate',
      );
      const [sent] = ofType(events, 'node.completed').filter(
        (event) => childOf(payloadOf(event)) !== undefined,
      );
      const { childRunId, childStatus } = childOf(payloadOf(sent)) ?? {};
      const childId = expect.string(childRunId, 'the outputs of dispatch have a childRunId');
      expect.equal(childStatus, 'completed', 'the outputs of dispatch say how the child ended');
      const child = await runs.snapshot(childId);
      expect.equal(child['workflowId'], WORKER, 'the child is a run of the workflow that was decided on');
      expect.equal(child['status'], 'completed', 'the child has completed');
      const ids = decided.map(({ eventId }) => eventId);
      for (const event of events)
        if (event['nodeId'] === sent?.['nodeId'] && event['type'] !== 'node.started')
          expect.that(
            ids.includes(event['causationId']),
            `the causationId of ${String(event['type'])} from dispatch is the eventId of a decision`,
            event['causationId'] ?? 'nothing',
            ids.join(' or '),
          );
    },
  },
  ...ORCHESTRATION_MAPPING_CHECKS,
  {
    id: 'orchestration/fan-out-policies',
    title: 'the policies of fan-out are those that the protocol knows',
    proves: ['ORCH-20'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop');
      const discovery = expect.object(answer.json, 'discovery is an object');
      const list = advertised(discovery, 'dispatch.fanOutPolicies');

      const policies = expect.array(list, 'dispatch.fanOutPolicies is a list').map(String);
      expect.that(policies.length > 0, 'dispatch.fanOutPolicies is not empty', policies);
      expect.equal(policies.length, new Set(policies).size, 'every policy is listed once');
      for (const policy of policies)
        expect.that(FAN_OUT_POLICIES.includes(policy), 'a policy is one of the protocol', policy);
    },
  },
];

function childOf({ outputs }: JsonObject): JsonObject | undefined {
  return isJsonObject(outputs) && outputs['childRunId'] !== undefined ? outputs : undefined;
}

function expectDecision({ expect }: CheckContext, value: Json | undefined): void {
  const decision = expect.object(value, 'a decision is an object');
  const { kind, nextWorkerIds, prompt } = decision;
  expect.that(
    ['next-worker', 'ask-user', 'terminate'].includes(String(kind)),
    'the kind of a decision is next-worker, ask-user or terminate',
    kind ?? 'nothing',
  );
  if (kind === 'next-worker') {
    const workers = expect.array(nextWorkerIds, 'next-worker has nextWorkerIds');
    expect.that(workers.length > 0, 'next-worker names at least one worker', workers);
    for (const worker of workers) expect.string(worker, 'a worker is named by a text');
  }
  if (kind === 'ask-user') expect.string(prompt, 'ask-user has a prompt');
}

/** A supervisor completes once per turn, so before its nth decision it has completed as often as it had decided. */
function expectBeforeEffect(
  { expect }: CheckContext,
  events: readonly JsonObject[],
  decided: readonly JsonObject[],
): void {
  for (const [index, decision] of decided.entries()) {
    const before = events.filter((event) => sequenceOf(event) < sequenceOf(decision));
    const turns = ofType(before, 'node.completed').filter(({ nodeId }) => nodeId === decision['nodeId']);
    expect.equal(turns.length, index, 'a decision is in the log before its supervisor completes');
    if (index === 0)
      expect.equal(
        ofType(before, 'node.dispatched').length,
        0,
        'a decision is in the log before a worker is sent',
      );
  }
}
