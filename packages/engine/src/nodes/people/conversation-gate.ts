import { Type } from 'typebox';
import { conversationId } from '../../core/interrupts/conversation.ts';
import type { InterruptNodeType, NodeInput } from '../../model/node-type.ts';
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
  /** For test hosts. */
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
};

function idOf({ nodeId, iteration, visit }: NodeInput): string {
  return conversationId(nodeId, iteration, visit);
}
