import type { JsonObject } from '@weft/protocol';
import { conversationChannel, conversationId, turnOf } from '../core/interrupts/conversation.ts';
import type {
  ChannelRequest,
  InterruptNodeType,
  NodeEvent,
  NodeInput,
  PureNodeType,
} from '../model/node-type.ts';
import { agentIdOf } from '../nodes/people/confidence.ts';
import { conversationGateNode } from '../nodes/people/conversation-gate.ts';
import { isSuiteWorkflow } from './suite-workflows.ts';

export const selfTalkingGateNode: InterruptNodeType = {
  ...conversationGateNode,
  variant: (config, { workflowId }) =>
    config['mockAutoResume'] === true && isSuiteWorkflow(workflowId) ? selfTalking : undefined,
};

/** Holds the whole conversation with itself. Times are turn numbers, so that it is always the same. */
const selfTalking: PureNodeType = {
  kind: 'pure',
  typeId: conversationGateNode.typeId,
  title: conversationGateNode.title,
  summary: conversationGateNode.summary,
  config: conversationGateNode.config,
  prepare: (given, tools) => conversationChannel(given, tools.channels),
  run: (input) => {
    const id = conversationId(input.nodeId, input.iteration, input.visit);
    const count = Number(input.config['turnCount'] ?? 1);
    const opening = mockTurn(input, id, 0, 'agent');
    const turns = Array.from({ length: count }, (_, index) => mockTurn(input, id, index + 1, 'user'));
    const finalTurn = mockTurn(input, id, count + 1, 'system');
    const events: NodeEvent[] = [
      { type: 'conversation.opened', payload: { conversationId: id, initialTurn: opening } },
      ...turns.map((turn) => ({
        type: 'conversation.exchanged',
        payload: { conversationId: id, turnIndex: Number(turn['turnIndex']), turn },
        causedBy: 0,
      })),
      {
        type: 'conversation.closed',
        payload: {
          conversationId: id,
          turnIndex: count + 1,
          finalTurn,
          outcome: null,
          reason: 'turn-count-reached',
          turnCount: count + 2,
        },
        causedBy: 0,
      },
    ];
    const channel = input.prepared as string | undefined;
    const kept: ChannelRequest[] =
      channel === undefined ? [] : [opening, ...turns, finalTurn].map((value) => ({ channel, value }));
    return { outputs: { conversationId: id, turnCount: count + 2 }, events, channels: kept };
  },
};

function mockTurn(
  input: NodeInput,
  id: string,
  turnIndex: number,
  role: 'agent' | 'user' | 'system',
): JsonObject {
  const from = role === 'agent' ? agentIdOf(input, 'conversation') : role;
  return turnOf({ conversationId: id, turnIndex, role, from, content: `Turn ${turnIndex}.`, ts: turnIndex });
}
