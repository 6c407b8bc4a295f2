import { Type } from 'typebox';
import { anyJson, closed, count, nonEmpty, open, positive } from '../../documents/schema-parts.ts';
import { AgentId, EventError, OrchestratorDecision, share, Verbosity } from './payload-parts.ts';
import { DEBUG, event, family } from './row.ts';

const optional = Type.Optional;

export const AGENT_EVENTS = family('agent', [
  event(
    'agent.reasoned',
    DEBUG,
    open({
      agentId: AgentId,
      reasoning: Type.String(),
      verbosity: optional(Verbosity),
      causationHostId: optional(Type.String()),
    }),
    'The closing text of an agent’s reasoning.',
  ),
  event(
    'agent.reasoning.delta',
    DEBUG,
    open({ agentId: AgentId, delta: Type.String(), sequence: count, verbosity: optional(Verbosity) }),
    'A piece of an agent’s reasoning while it is running.',
  ),
  event(
    'agent.toolCalled',
    DEBUG,
    open({
      agentId: AgentId,
      toolName: nonEmpty,
      callId: nonEmpty,
      inputs: optional(anyJson),
      argsHash: optional(Type.String()),
      principal: optional(Type.String()),
      transport: optional(Type.Enum(['mcp', 'http', 'native'])),
      causationHostId: optional(Type.String()),
    }),
    'An agent calls a tool; the call id pairs it with its return.',
  ),
  event(
    'agent.toolReturned',
    DEBUG,
    open({
      agentId: AgentId,
      toolName: nonEmpty,
      callId: nonEmpty,
      outcome: optional(anyJson),
      error: optional(EventError),
      status: optional(Type.Enum(['ok', 'error', 'forbidden', 'rate_limited'])),
      durationMs: optional(count),
      causationHostId: optional(Type.String()),
    }),
    'A tool call ended, or never ran because it was forbidden or limited.',
  ),
  event(
    'agent.handoff',
    DEBUG,
    open({
      fromAgentId: AgentId,
      toAgentId: AgentId,
      reason: optional(Type.String()),
      causationHostId: optional(Type.String()),
    }),
    'Control moves from one agent to another.',
  ),
  event(
    'agent.decided',
    DEBUG,
    open({
      agentId: AgentId,
      decision: anyJson,
      confidence: optional(share),
      causationHostId: optional(Type.String()),
    }),
    'An agent made a decision, possibly with a confidence.',
  ),
  event(
    'agent.verified',
    DEBUG,
    closed({
      agentId: AgentId,
      target: nonEmpty,
      verdict: Type.Enum(['pass', 'fail', 'revise']),
      criteria: optional(Type.Array(Type.String())),
      confidence: optional(share),
      causationHostId: optional(Type.String()),
    }),
    'A critic evaluated a result before it is merged.',
  ),
  event(
    'agent.invocation.started',
    DEBUG,
    open({
      invocationId: nonEmpty,
      agentId: nonEmpty,
      source: Type.Enum(['workflow-node', 'run-api', 'chat-mention']),
      modelClass: optional(Type.String()),
      resolvedModel: optional(Type.String()),
      resolvedProvider: optional(Type.String()),
      resolvedAgentVersion: optional(Type.String()),
      resolvedChannel: optional(Type.String()),
      toolSurfaceCount: optional(count),
      memoryBound: optional(Type.Boolean()),
    }),
    'The invocation of an agent begins.',
  ),
  event(
    'agent.invocation.completed',
    DEBUG,
    open({
      invocationId: nonEmpty,
      agentId: nonEmpty,
      outcome: Type.Enum(['completed', 'handed-off', 'escalated', 'refused', 'failed']),
      schemaValidated: optional(Type.Boolean()),
      confidence: optional(share),
      enqueuedRunId: optional(Type.String()),
    }),
    'The invocation of an agent ended.',
  ),
  event(
    'runOrchestrator.decided',
    DEBUG,
    closed({
      agentId: AgentId,
      decision: OrchestratorDecision,
      iteration: optional(positive),
      causationHostId: optional(Type.String()),
    }),
    'The orchestrator decided its turn: next worker, ask the user, or end.',
  ),
  event(
    'core.workflowChain.event',
    DEBUG,
    closed({
      phase: Type.Enum([
        'dispatch.began',
        'dispatch.succeeded',
        'dispatch.failed',
        'child.completed',
        'child.failed',
        'child.cancelled',
        'output.harvested',
      ]),
      workerId: nonEmpty,
      parentRunId: nonEmpty,
      childRunId: optional(Type.String()),
      harvestedKeys: optional(Type.Array(Type.String())),
      attestation: optional(closed({ checksum: nonEmpty, algorithm: Type.Literal('sha256') })),
      error: optional(EventError),
      causationHostId: optional(Type.String()),
    }),
    'A handoff from planner to worker changed its state.',
  ),
  event(
    'core.workflowChain.confidence-escalated',
    DEBUG,
    closed({
      confidence: share,
      floor: Type.Number({ minimum: 0.5, maximum: 1 }),
      escalationKind: Type.Enum(['clarify', 'escalate']),
      parentRunId: nonEmpty,
      workerId: optional(Type.String()),
      originalDecision: optional(OrchestratorDecision),
      causationHostId: optional(Type.String()),
    }),
    'A decision was below the confidence floor and goes to a person.',
  ),
]);
