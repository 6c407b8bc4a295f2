import { canonicalJson, type JsonObject } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { NodeEvent, NodeInput, StepRecord } from '../../model/node-type.ts';
import { nodeKey } from '../../model/run-state.ts';
import { agentIdOf } from '../people/confidence.ts';
import type { PreparedAgent } from './agent-config.ts';
import { type AgentHistory, type Call, labelOf, type ListedTool, type Turn } from './agent-history.ts';
import { type AnswerRules, readAnswers, type Verdict } from './answer.ts';
import { answerEvents } from './answer-events.ts';
import { cutText, reasoningLimit, verbosityOf } from './reasoning.ts';
import { isToolError, planCall } from './tool-calls.ts';

/**
 * What the protocol's readers get to hear of the steps that ended last: of a turn, how it reasoned and what it calls; of
 * calls, in their order, what came of them. Arguments and answers of tools stand in the steps themselves; here are their hashes.
 */
export function tellLast(
  input: NodeInput,
  { turns }: AgentHistory,
  offered: ReadonlyMap<string, ListedTool>,
  steps: readonly StepRecord[],
  rules: AnswerRules,
): NodeEvent[] {
  const turn = turns.at(-1);
  const round = steps.at(-1)?.round;
  if (turn === undefined || turn.record.error !== undefined) return [];
  const agentId = agentIdOf(input, 'agent');
  const prepared = input.prepared as PreparedAgent;
  const tellCall = (call: Call): NodeEvent[] => {
    const planned = planCall(call, offered, prepared);
    const place = { agentId, toolName: toolName(call, offered), callId: callIdOf(input, call) };
    if (turn.record.round === round)
      return called(place, call, {
        refused: planned.type === 'refused' ? planned.why : undefined,
        tool: offered.get(call.asked.name),
      });
    const isOfRound =
      call.record?.round === round || (planned.type === 'rejected' && call.approval?.round === round);
    return isOfRound ? [returned(place, call, planned.type === 'rejected' ? planned.why : undefined)] : [];
  };
  const verdict = readAnswers(turns, rules).get(turn.number);
  const own = turn.record.round === round ? tellTurn(input, turn, agentId, verdict) : [];
  const events: NodeEvent[] = [];
  for (const told of [own, ...turn.calls.map(tellCall)]) {
    const first = events.length;
    for (const event of told)
      events.push(event.causedBy === undefined ? event : { ...event, causedBy: first + event.causedBy });
  }
  return events;
}

type Place = { readonly agentId: string; readonly toolName: string; readonly callId: string };

function tellTurn(
  { nodeId, configurable }: NodeInput,
  turn: Turn,
  agentId: string,
  verdict: Verdict | undefined,
): NodeEvent[] {
  const { reasoning } = turn;
  const events = answerEvents(nodeId, turn, verdict);
  const verbosity = verbosityOf(configurable);
  if (reasoning === '' || verbosity === 'off') return events;
  const shown = cutText(reasoning, reasoningLimit(verbosity));
  return [...events, { type: 'agent.reasoned', payload: { agentId, reasoning: shown, verbosity } }];
}

/** A call that is refused returns at once. */
function called(
  place: Place,
  { asked }: Call,
  { refused, tool }: { readonly refused: string | undefined; readonly tool: ListedTool | undefined },
): NodeEvent[] {
  const payload: JsonObject = {
    ...place,
    argsHash: sha256Hex(asked.arguments),
    transport: tool?.source === undefined ? 'mcp' : 'native',
    ...(tool !== undefined && { toolDigest: tool.digest }),
  };
  const event: NodeEvent = { type: 'agent.toolCalled', payload };
  return refused === undefined ? [event] : [event, { ...forbidden(place, refused), causedBy: 0 }];
}

function forbidden(place: Place, message: string): NodeEvent {
  return {
    type: 'agent.toolReturned',
    payload: { ...place, status: 'forbidden', error: { code: 'tool_call_refused', message } },
  };
}

function returned(place: Place, { record }: Call, rejected: string | undefined): NodeEvent {
  if (rejected !== undefined) return forbidden(place, rejected);
  const { result, error } = record ?? {};
  if (result === undefined) {
    const { code = 'node_failed', message = '' } = error ?? {};
    return { type: 'agent.toolReturned', payload: { ...place, status: 'error', error: { code, message } } };
  }
  const text = canonicalJson(result);
  return {
    type: 'agent.toolReturned',
    payload: {
      ...place,
      status: isToolError(result) ? 'error' : 'ok',
      outcome: { contentHash: sha256Hex(text), contentLength: text.length },
    },
  };
}

function toolName({ asked }: Call, offered: ReadonlyMap<string, ListedTool>): string {
  const tool = offered.get(asked.name);
  return tool === undefined ? asked.name || 'unnamed' : labelOf(tool);
}

/** Of node, iteration, visit, turn and place, so that equal executions call under equal ids. */
export function callIdOf({ nodeId, iteration, visit }: NodeInput, { id }: Call): string {
  const key = nodeKey(nodeId, iteration);
  return visit === 0 ? `${key}:${id}` : `${key}#${visit}:${id}`;
}
