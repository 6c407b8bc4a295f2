import { answered, eachEvent, omit, payloads, withoutEvents } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { CREATE, DISCOVERY, POLL, RESOLVE, SNAPSHOT } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

export const AGENTS_MUTANTS: readonly Mutant[] = [
  {
    id: 'agents/not-in-snapshot',
    breaks: 'the snapshot does not name the agent',
    caughtBy: ['agents/reference', 'agents/provenance'],
    says: /the snapshot has the agent of the run/,
    on: SNAPSHOT,
    answer: answered((snapshot) => omit(snapshot, 'agent', 'runOrchestrator')),
  },
  {
    id: 'agents/reference-with-more',
    breaks: 'a reference to an agent has the prompt of the agent',
    caughtBy: ['agents/reference'],
    says: /a reference to an agent has no other members/,
    on: SNAPSHOT,
    answer: answered((snapshot) => {
      const agent = objectOf(snapshot['agent']);
      return { ...snapshot, agent: { ...agent, systemPrompt: 'Be kind.' } };
    }),
  },
  {
    id: 'agents/provenance-lost',
    breaks: 'the snapshot does not say from which manifest the agent came',
    caughtBy: ['agents/provenance'],
    says: /sourceManifestId/,
    on: SNAPSHOT,
    answer: answered((snapshot) => ({ ...snapshot, agent: { agentId: 'core.conformance.agent' } })),
  },
  {
    id: 'agents/event-without-agent',
    breaks: 'agent.reasoned does not say whose it is',
    caughtBy: ['agents/reasoning-events'],
    says: /agent\.reasoned has an agentId/,
    on: POLL,
    answer: payloads('agent.reasoned', (payload) => omit(payload, 'agentId')),
  },
  {
    id: 'agents/no-events',
    breaks: 'nothing of what the agent did is in the log',
    caughtBy: ['agents/reasoning-events'],
    says: /the log has agent events/,
    on: POLL,
    answer: eachEvent((event) => (String(event['type']).startsWith('agent.') ? [] : event)),
  },
  {
    id: 'agents/other-names',
    breaks: 'agent.toolCalled has toolId in place of toolName',
    caughtBy: ['agents/reasoning-events'],
    says: /agent\.toolCalled has toolName/,
    on: POLL,
    answer: payloads('agent.toolCalled', (payload) => ({ ...omit(payload, 'toolName'), toolId: 'echo' })),
  },
  {
    id: 'agents/decision-after-the-node',
    breaks: 'agent.decided comes after node.completed',
    caughtBy: ['agents/reasoning-events'],
    says: /agent\.decided stands between/,
    on: POLL,
    answer(answer, request, memory) {
      const kept = withoutEvents('agent.decided')(answer, request, memory);
      const decided = {
        type: 'agent.decided',
        nodeId: 'reasoner',
        payload: { agentId: 'agent', decision: 1 },
      };
      const late = eachEvent((event) => (event['type'] === 'run.completed' ? [decided, event] : event));
      return late(kept, request, memory);
    },
  },
  {
    id: 'agents/return-of-another-call',
    breaks: 'agent.toolReturned has a callId that was never called',
    caughtBy: ['agents/tool-events'],
    says: /has the callId of an earlier agent\.toolCalled/,
    on: POLL,
    answer: payloads('agent.toolReturned', (payload) => ({ ...payload, callId: 'another' })),
  },
  {
    id: 'agents/return-without-cause',
    breaks: 'agent.toolReturned does not name its cause',
    caughtBy: ['agents/tool-events'],
    says: /the causationId of agent\.toolReturned/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'agent.toolReturned' ? omit(event, 'causationId') : event,
    ),
  },
  {
    id: 'agents/return-with-both',
    breaks: 'a tool both succeeds and fails',
    caughtBy: ['agents/tool-events'],
    says: /an outcome or an error, and not both/,
    on: POLL,
    answer: payloads('agent.toolReturned', (payload) => ({
      ...payload,
      error: { code: 'x', message: 'x' },
    })),
  },
  {
    id: 'agents/verbosity-ignored',
    breaks: 'a run cannot switch reasoning off',
    caughtBy: ['agents/reasoning-off'],
    says: /reasoningVerbosity off has no reasoning/,
    on: CREATE,
    request: sent((body) => omit(body, 'configurable')),
  },
  {
    id: 'agents/pieces-from-one',
    breaks: 'pieces of reasoning are numbered from 1',
    caughtBy: ['agents/reasoning-streamed'],
    says: /numbered from 0 without a gap/,
    on: POLL,
    answer: payloads('agent.reasoning.delta', (payload) => ({
      ...payload,
      sequence: Number(payload['sequence']) + 1,
    })),
  },
  {
    id: 'agents/suspended-without-reason',
    breaks: 'node.suspended does not say that the confidence was low',
    caughtBy: ['agents/low-confidence', 'orchestration/low-confidence'],
    says: /node\.suspended has the reason low-confidence/,
    on: POLL,
    answer: payloads('node.suspended', (payload) => omit(payload, 'reason')),
  },
  {
    id: 'agents/observed-above-threshold',
    breaks: 'threshold and observed are swapped',
    caughtBy: ['agents/low-confidence', 'orchestration/low-confidence'],
    says: /what was observed below it/,
    on: POLL,
    answer: payloads('node.suspended', ({ threshold, observed, ...rest }) => ({
      ...rest,
      threshold: observed ?? null,
      observed: threshold ?? null,
    })),
  },
  {
    id: 'agents/escalates-without-decision',
    breaks: 'a worker escalates without agent.decided',
    caughtBy: ['agents/low-confidence'],
    says: /agent\.decided comes before node\.suspended/,
    on: POLL,
    answer: withoutEvents('agent.decided'),
  },
  {
    id: 'agents/escalates-as-approval',
    breaks: 'the interrupt of a low confidence is an ordinary approval',
    caughtBy: ['agents/low-confidence'],
    says: /the interrupt has the kind low-confidence/,
    on: POLL,
    answer: payloads('interrupt.requested', (payload) => ({ ...payload, kind: 'approval' })),
  },
  {
    id: 'agents/ratified-run-fails',
    breaks: 'a ratified decision counts as a rejected one',
    caughtBy: ['agents/low-confidence-ratified'],
    says: /a run whose decision is ratified completes/,
    on: RESOLVE,
    request: sent(() => ({ resumeValue: { rejected: true } })),
  },
  {
    id: 'agents/equal-confidence-escalates',
    breaks: 'a confidence that equals the threshold is not enough',
    caughtBy: ['agents/confidence-equal'],
    says: /0\.5 is enough where 0\.5 is the threshold/,
    on: CREATE,
    request: sent((body) => ({ ...body, configurable: { escalationThreshold: 0.6 } })),
  },
  {
    id: 'agents/unknown-verbosity',
    breaks: 'discovery has a verbosity that does not exist',
    caughtBy: ['agents/discovery'],
    says: /verbosity is summary, full or off/,
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, agents: { supported: true, reasoning: { verbosity: 'loud' } } })),
  },
  {
    id: 'agents/reasoning-advertised-only',
    breaks: 'reasoning is advertised and never emitted',
    caughtBy: ['agents/reasoning-served'],
    says: /has some in its log/,
    on: POLL,
    answer: withoutEvents('agent.reasoned', 'agent.reasoning.delta'),
  },
  {
    id: 'agents/handoff-always-refused',
    breaks: 'no task fits',
    caughtBy: ['agents/handoff-fits'],
    says: /whose task and result fit completes/,
    on: CREATE,
    request: sent((body) => ({ ...body, inputs: { task: {} } })),
  },
  {
    id: 'agents/handoff-task-unchecked',
    breaks: 'an agent is given any task',
    caughtBy: ['agents/handoff-task'],
    says: /the run fails/,
    on: CREATE,
    request: sent((body) => ({ ...body, inputs: { task: { subject: 'Anything' } } })),
  },
  {
    id: 'agents/handoff-task-checked-late',
    breaks: 'a model is asked before the task is checked',
    caughtBy: ['agents/handoff-task'],
    says: /no model is asked about a task/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'node.failed' ? [{ ...event, type: 'provider.usage' }, event] : event,
    ),
  },
  {
    id: 'agents/handoff-result-unchecked',
    breaks: 'an agent may return anything',
    caughtBy: ['agents/handoff-result'],
    says: /the run fails/,
    on: CREATE,
    request: sent((body) => ({
      ...body,
      configurable: { mockProvider: { id: 'stream-text', config: { tokens: ['{"kind":"order"}'] } } },
    })),
  },
  {
    id: 'agents/handoff-result-recorded-first',
    breaks: 'a result is recorded before it is checked',
    caughtBy: ['agents/handoff-result'],
    says: /has decided nothing/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'node.failed' ? [{ ...event, type: 'agent.decided' }, event] : event,
    ),
  },
];
