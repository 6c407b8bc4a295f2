import type { JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import { conversationChannel, conversationId, turnOf } from '../../core/interrupts/conversation.ts';
import type {
  ChannelRequest,
  InterruptNodeType,
  NodeEvent,
  NodeInput,
  PureNodeType,
} from '../../model/node-type.ts';
import { agentIdOf } from './confidence.ts';
import { closedConfig, jsonObject, name } from '../config/config-schema.ts';
import { checkSchema } from '../config/schema-in-config.ts';

const optional = Type.Optional;
const DEFAULT_PROMPT = 'What would you like to say?';

const config = closedConfig({
  lifecycle: optional(Type.Enum(['open-exchange-close'])),
  prompt: optional(Type.String({ minLength: 1 })),
  title: optional(Type.String({ minLength: 1 })),
  /** JSON Schema that each turn's content must satisfy. */
  schema: optional(jsonObject),
  /** Turns after which the conversation closes by itself; without it, a person closes it. */
  turnCount: optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  /** A declared `message` channel to keep the turns in; by default one called `conversation`. */
  channel: optional(name),
  timeoutMs: optional(Type.Integer({ minimum: 1 })),
  mockAutoResume: optional(Type.Boolean()),
});

export const conversationGateNode: InterruptNodeType = {
  kind: 'interrupt',
  typeId: 'core.conversationGate',
  title: 'Conversation gate',
  summary:
    'Opens a conversation and waits, turn by turn, until it is closed by a person, by its number of turns, or by silence.',
  config,
  outputPorts: ['conversationId', 'turnCount', 'outcome', 'reason'],
  dependsOn: () => [],
  prepare: (given, tools) => {
    const { channel, schema } = given;
    checkSchema(tools, '/schema', schema);
    if (typeof channel === 'string' && tools.channels.get(channel)?.reducer !== 'message') {
      tools.refuse('/channel', `"${channel}" is not a declared channel with the reducer "message".`);
    }
  },
  ask: (input) => {
    const { prompt, schema, timeoutMs } = input.config;
    return {
      kind: 'conversation.exchange',
      data: {
        conversationId: idOf(input),
        prompt: prompt ?? DEFAULT_PROMPT,
        ...(schema !== undefined && { outcomeSchema: schema }),
      },
      ...(typeof timeoutMs === 'number' && { timeoutMs }),
    };
  },
  variant: (given, { workflowId }) =>
    given['mockAutoResume'] === true && workflowId.startsWith('conformance-') ? selfTalkingGate : undefined,
};

/** For the protocol's test workflows: holds the whole conversation with itself. Times are turn numbers, so that it is always the same. */
const selfTalkingGate: PureNodeType = {
  kind: 'pure',
  typeId: conversationGateNode.typeId,
  title: conversationGateNode.title,
  summary: conversationGateNode.summary,
  config,
  prepare: (given, tools) => conversationChannel(given, tools.channels),
  run: (input) => {
    const id = idOf(input);
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

function idOf({ nodeId, iteration, visit }: NodeInput): string {
  return conversationId(nodeId, iteration, visit);
}

function mockTurn(
  input: NodeInput,
  id: string,
  turnIndex: number,
  role: 'agent' | 'user' | 'system',
): JsonObject {
  const from = role === 'agent' ? agentIdOf(input, 'conversation') : role;
  return turnOf({ conversationId: id, turnIndex, role, from, content: `Turn ${turnIndex}.`, ts: turnIndex });
}
