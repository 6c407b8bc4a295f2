import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { NodeEvent, NodeInput, NodeResult } from '../model/node-type.ts';
import { cutText, reasoningLimit, verbosityOf } from '../nodes/agents/reasoning.ts';
import { doubt } from '../nodes/people/confidence.ts';

/** What an agent did in one turn, as data; the events that tell of it are made here, in the order the protocol gives them. */
export interface AgentScript {
  readonly agentId: string;
  readonly reasoning?: {
    readonly text: string;
    readonly summary?: string;
    readonly deltas?: readonly string[];
  };
  readonly toolCalls?: readonly ToolCall[];
  readonly handoff?: { readonly toAgentId: string; readonly reason?: string; readonly context?: Json };
  readonly decision?: { readonly decision: Json; readonly confidence?: number; readonly reasoning?: string };
}

export interface ToolCall {
  readonly toolName: string;
  readonly inputs?: Json;
  readonly outcome?: Json;
  readonly error?: JsonObject;
  readonly durationMs?: number;
}

/** A decision below the threshold is recorded, and then a person is asked. */
export function agentTurn(input: NodeInput, script: AgentScript, outputs: JsonObject): NodeResult {
  const { agentId, decision } = script;
  const events: NodeEvent[] = [...reasoningEvents(input, script)];
  for (const [index, call] of (script.toolCalls ?? []).entries()) {
    const callId = `${input.nodeId}:${input.visit}:${index}`;
    events.push(called(agentId, callId, call));
    events.push({ ...returned(agentId, callId, call), causedBy: events.length - 1 });
  }
  if (script.handoff !== undefined) events.push(handedOff(agentId, script.handoff));
  if (decision === undefined) return { outputs, events };
  events.push({ type: 'agent.decided', payload: { agentId, ...decision } });
  const ask = doubt(input, agentId, decision.decision, decision.confidence);
  return ask === undefined ? { outputs, events } : { outputs, events, ask };
}

function reasoningEvents({ configurable }: NodeInput, { agentId, reasoning }: AgentScript): NodeEvent[] {
  const verbosity = verbosityOf(configurable);
  if (reasoning === undefined || verbosity === 'off') return [];
  const { deltas = [], summary } = reasoning;
  const text = deltas.length > 0 ? deltas.join('') : reasoning.text;
  const kept = cutText(text, reasoningLimit(verbosity));
  return [
    ...deltas.map((delta, sequence) => ({
      type: 'agent.reasoning.delta',
      payload: { agentId, delta, sequence, verbosity },
    })),
    {
      type: 'agent.reasoned',
      payload: { agentId, reasoning: kept, verbosity, ...(summary !== undefined && { summary }) },
    },
  ];
}

function called(agentId: string, callId: string, { toolName, inputs }: ToolCall): NodeEvent {
  return {
    type: 'agent.toolCalled',
    payload: { agentId, toolName, callId, ...(inputs !== undefined && { inputs }) },
  };
}

function returned(agentId: string, callId: string, call: ToolCall): NodeEvent {
  const { toolName, outcome, error, durationMs } = call;
  return {
    type: 'agent.toolReturned',
    payload: {
      agentId,
      toolName,
      callId,
      status: error === undefined ? 'ok' : 'error',
      ...(error === undefined ? { outcome: outcome ?? null } : { error }),
      ...(durationMs !== undefined && { durationMs }),
    },
  };
}

function handedOff(agentId: string, handoff: NonNullable<AgentScript['handoff']>): NodeEvent {
  const { toAgentId, reason, context } = handoff;
  return {
    type: 'agent.handoff',
    payload: {
      agentId,
      fromAgentId: agentId,
      toAgentId,
      ...(reason !== undefined && { reason }),
      ...(context !== undefined && isJsonObject(context) && { context }),
    },
  };
}
