import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { isTextList } from '../../suite/json-shapes.ts';
import { ofType, payloadOf, sequenceOf } from '../events/log.ts';
import { HANDOFF_CHECKS } from './handoffs.ts';

const IDENTITY = 'conformance-agent-identity';
const REASONING = 'conformance-agent-reasoning';
const STREAMING = 'conformance-agent-reasoning-streaming';
const LOW_CONFIDENCE = 'conformance-agent-low-confidence';
const PROVENANCE = 'conformance-agent-pack-provenance';

const REFERENCE_MEMBERS = [
  'agentId',
  'name',
  'modelClass',
  'memoryRef',
  'version',
  'sourceManifestId',
  'channel',
];
/** Members that a payload must have, each a text. A decision may be anything, so it is only looked for. */
const REQUIRED_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'agent.reasoned': ['reasoning'],
  'agent.toolCalled': ['toolName', 'callId'],
  'agent.toolReturned': ['toolName', 'callId'],
  'agent.handoff': ['fromAgentId', 'toAgentId'],
  'agent.decided': [],
};
const AGENT_EVENTS = Object.keys(REQUIRED_TEXTS);
const MAX_ID_LENGTH = 256;

/** The agent of a run, or its orchestrator: hosts show the one that the workflow pins. */
async function agentOf({ runs, expect }: CheckContext, workflowId: string): Promise<JsonObject> {
  const runId = await runs.endedRun(workflowId);
  const { agent, runOrchestrator } = await runs.snapshot(runId);
  return expect.object(
    agent ?? runOrchestrator,
    'the snapshot has the agent of the run, or its orchestrator',
  );
}

export function expectAgentId({ expect }: CheckContext, value: Json | undefined, what: string): string {
  const agentId = expect.string(value, `${what} has an agentId`);
  expect.that(
    agentId.length >= 3 && agentId.length <= MAX_ID_LENGTH,
    `the agentId of ${what} has 3 to ${MAX_ID_LENGTH} characters`,
    agentId,
  );
  return agentId;
}

/** That a node was suspended because its agent was not sure enough. */
export function expectLowConfidence(context: CheckContext, suspended: JsonObject | undefined): void {
  const { expect } = context;
  const payload = payloadOf(suspended);
  expect.equal(payload['reason'], 'low-confidence', 'node.suspended has the reason low-confidence');
  expectAgentId(context, payload['agentId'], 'node.suspended');
  const { threshold, observed } = payload;
  expect.that(
    isShare(threshold) && isShare(observed) && observed < threshold,
    'node.suspended has a threshold, and what was observed below it',
    { threshold: threshold ?? 'nothing', observed: observed ?? 'nothing' },
  );
}

/** The log of a run that asked a person and was cancelled before the answer. */
export async function unansweredEvents({ runs }: CheckContext, workflowId: string): Promise<JsonObject[]> {
  const runId = await runs.create(workflowId);
  await runs.reaches(runId, 'waiting-approval');
  await runs.cancel(runId);
  await runs.ended(runId);
  return runs.events(runId);
}

function isShare(value: Json | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

export const AGENTS_CHECKS: readonly Check[] = [
  {
    id: 'agents/reference',
    title: 'a snapshot names the agent of its run',
    proves: ['AGENT-1', 'AGENT-2'],
    needs: { fixtures: [IDENTITY] },
    async run(context) {
      const { expect } = context;

      const agent = await agentOf(context, IDENTITY);

      expectAgentId(context, agent['agentId'], 'the agent');
      const more = Object.keys(agent).filter((name) => !REFERENCE_MEMBERS.includes(name));
      expect.equal(more, [], 'a reference to an agent has no other members');
      for (const name of Object.keys(agent))
        expect.string(agent[name], `${name} of a reference to an agent is a text`);
    },
  },
  {
    id: 'agents/provenance',
    title: 'a snapshot says from which manifest its agent came',
    proves: ['AGENT-16'],
    needs: { fixtures: [PROVENANCE] },
    async run(context) {
      const agent = await agentOf(context, PROVENANCE);

      context.expect.string(agent['sourceManifestId'], 'the agent has the sourceManifestId of its pack');
    },
  },
  {
    id: 'agents/reasoning-events',
    title: 'what an agent thinks and does is in the log',
    proves: ['AGENT-3', 'AGENT-7', 'AGENT-8'],
    needs: { fixtures: [REASONING] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.endedRun(REASONING);

      const log = await runs.events(runId);

      const events = ofType(log, ...AGENT_EVENTS);
      expect.that(
        events.length > 0,
        'the log has agent events',
        log.map(({ type }) => type),
      );
      for (const event of events) {
        const type = String(event['type']);
        const payload = payloadOf(event);
        expectAgentId(context, payload['agentId'], type);
        for (const name of REQUIRED_TEXTS[type] ?? []) expect.string(payload[name], `${type} has ${name}`);
        if (type === 'agent.decided') expectDecision(context, payload);
        expectInsideNode(context, log, event);
      }
    },
  },
  {
    id: 'agents/tool-events',
    title: 'the call of a tool and its return belong together',
    proves: ['AGENT-4', 'AGENT-5', 'AGENT-6'],
    needs: { fixtures: [REASONING] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun(REASONING);

      const events = await runs.events(runId);

      const calls = ofType(events, 'agent.toolCalled');
      const returns = ofType(events, 'agent.toolReturned');
      for (const returned of returns) {
        const { callId, outcome, error } = payloadOf(returned);
        const call = calls.find((event) => payloadOf(event)['callId'] === callId);
        expect.that(
          call !== undefined && sequenceOf(call) < sequenceOf(returned),
          'agent.toolReturned has the callId of an earlier agent.toolCalled',
          callId ?? 'nothing',
        );
        expect.equal(
          returned['causationId'],
          call?.['eventId'],
          'the causationId of agent.toolReturned is the eventId of its call',
        );
        expect.that(
          (outcome === undefined) !== (error === undefined),
          'agent.toolReturned has an outcome or an error, and not both',
          Object.keys(payloadOf(returned)),
        );
      }
      const returned = returns.map((event) => payloadOf(event)['callId']);
      expect.equal(new Set(returned).size, returned.length, 'each call returns at most once');
    },
  },
  {
    id: 'agents/reasoning-served',
    title: 'reasoning that is advertised is in the log',
    proves: ['AGENT-22'],
    needs: { fixtures: [REASONING] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun(REASONING);

      const reasoned = ofType(await runs.events(runId), 'agent.reasoned', 'agent.reasoning.delta');

      expect.that(reasoned.length > 0, 'a host that advertises reasoning has some in its log');
    },
  },
  {
    id: 'agents/reasoning-off',
    title: 'a run may ask for no reasoning in its log',
    proves: ['AGENT-9'],
    needs: { fixtures: [REASONING] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun(REASONING, { configurable: { reasoningVerbosity: 'off' } });

      const reasoned = ofType(await runs.events(runId), 'agent.reasoned', 'agent.reasoning.delta');

      expect.equal(reasoned.length, 0, 'a run with reasoningVerbosity off has no reasoning in its log');
    },
  },
  {
    id: 'agents/reasoning-streamed',
    title: 'streamed reasoning is numbered, and closed by the whole',
    proves: ['AGENT-10'],
    needs: { fixtures: [STREAMING] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun(STREAMING);

      const events = ofType(await runs.events(runId), 'agent.reasoning.delta', 'agent.reasoned');

      const pieces = ofType(events, 'agent.reasoning.delta').map(payloadOf);
      expect.that(pieces.length > 0, 'the log has agent.reasoning.delta');
      expect.equal(
        pieces.map(({ sequence }) => sequence ?? null),
        pieces.map((_, index) => index),
        'the pieces of reasoning are numbered from 0 without a gap',
      );
      for (const { delta } of pieces)
        expect.that(typeof delta === 'string', 'a piece of reasoning has a delta');
      expect.equal(
        events.at(-1)?.['type'],
        'agent.reasoned',
        'agent.reasoned closes the pieces of reasoning',
      );
    },
  },
  {
    id: 'agents/low-confidence',
    title: 'an agent that is not sure enough waits for a person',
    proves: ['AGENT-11', 'AGENT-12', 'AGENT-13'],
    needs: { fixtures: [LOW_CONFIDENCE] },
    async run(context) {
      const { expect } = context;
      const events = await unansweredEvents(context, LOW_CONFIDENCE);

      const [suspended] = ofType(events, 'node.suspended');
      expectLowConfidence(context, suspended);
      const before = events.slice(0, events.indexOf(suspended ?? {}));
      const decided = payloadOf(ofType(before, 'agent.decided')[0]);
      expect.equal(
        decided['confidence'],
        payloadOf(suspended)['observed'],
        'agent.decided comes before node.suspended, with the confidence observed',
      );
      const requested = payloadOf(ofType(events, 'interrupt.requested')[0]);
      expect.equal(requested['kind'], 'low-confidence', 'the interrupt has the kind low-confidence');
      const data = expect.object(requested['data'], 'the interrupt has data');
      for (const name of ['agentId', 'threshold', 'observed'])
        expect.equal(
          data[name],
          payloadOf(suspended)[name],
          `${name} is the same in interrupt.requested and node.suspended`,
        );
    },
  },
  {
    id: 'agents/low-confidence-ratified',
    title: 'a decision that a person ratifies lets the run continue',
    proves: ['AGENT-14'],
    needs: { fixtures: [LOW_CONFIDENCE] },
    async run({ runs, expect }) {
      const runId = await runs.create(LOW_CONFIDENCE);
      const { currentNodeId } = await runs.reaches(runId, 'waiting-approval');

      const nodeId = expect.string(currentNodeId, 'currentNodeId names the node that waits');
      expect.status(await runs.resolve(runId, nodeId, { ratified: true }), 200, 202, 204);

      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run whose decision is ratified completes');
    },
  },
  {
    id: 'agents/confidence-equal',
    title: 'a confidence that equals the threshold is enough',
    proves: ['AGENT-15'],
    needs: { fixtures: [LOW_CONFIDENCE] },
    async run({ runs, expect }) {
      const runId = await runs.create(LOW_CONFIDENCE, { configurable: { escalationThreshold: 0.5 } });

      const ended = await runs.reaches(runId, 'completed', 'failed', 'waiting-approval');

      expect.equal(ended['status'], 'completed', 'a confidence of 0.5 is enough where 0.5 is the threshold');
    },
  },
  {
    id: 'agents/discovery',
    title: 'discovery describes agents with the declared types',
    proves: ['AGENT-17'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop', { key: null });

      expect.status(answer, 200);
      const discovery = expect.object(answer.json, 'discovery is an object');
      const agents = expect.object(advertised(discovery, 'agents'), 'agents is an object');
      for (const name of ['supported', 'orchestrator', 'dispatch', 'dispatchMapping'])
        expect.that(
          ['boolean', 'undefined'].includes(typeof agents[name]),
          `agents.${name} is a boolean`,
          agents[name],
        );
      for (const name of ['modelClasses', 'memoryBackends']) {
        const list = agents[name];
        expect.that(list === undefined || isTextList(list), `agents.${name} is a list of texts`, list);
      }
      const { reasoning } = agents;
      if (reasoning === undefined) return;
      const { verbosity, tokenLimit } = expect.object(reasoning, 'agents.reasoning is an object');
      expect.that(
        verbosity === undefined || ['summary', 'full', 'off'].includes(String(verbosity)),
        'agents.reasoning.verbosity is summary, full or off',
        verbosity,
      );
      if (tokenLimit !== undefined) expect.integer(tokenLimit, 'agents.reasoning.tokenLimit is an integer');
    },
  },
  ...HANDOFF_CHECKS,
];

function expectDecision({ expect }: CheckContext, { decision, confidence }: JsonObject): void {
  expect.that(decision !== undefined, 'agent.decided has a decision');
  expect.that(
    confidence === undefined || isShare(confidence),
    'the confidence of agent.decided is a number from 0 to 1',
    confidence,
  );
}

/** Between the start of its node and the end of it. */
function expectInsideNode({ expect }: CheckContext, log: readonly JsonObject[], event: JsonObject): void {
  const { nodeId } = event;
  if (nodeId === undefined) return;
  const own = log.filter((other) => other['nodeId'] === nodeId && isJsonObject(other));
  const at = own.indexOf(event);
  const started = own.findIndex(({ type }) => type === 'node.started');
  const ended = own.findLastIndex(({ type }) => type === 'node.completed' || type === 'node.failed');
  expect.that(
    started !== -1 && started < at && (ended === -1 || at < ended),
    `${String(event['type'])} stands between node.started and the end of its node`,
    own.map(({ type }) => type),
  );
}
