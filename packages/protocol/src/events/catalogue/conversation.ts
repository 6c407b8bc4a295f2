import { Type } from 'typebox';
import { anyJson, count, jsonObject, nonEmpty, open, positive } from '../../documents/schema-parts.ts';
import { AgentId } from './payload-parts.ts';
import { DEBUG, event, family } from './row.ts';

const optional = Type.Optional;

/**
 * Two published forms of these payloads exist. This is the stricter one with the members of the looser one as options:
 * what meets it meets both.
 */

const ConversationId = Type.String({ minLength: 1, maxLength: 256 });

const Turn = open({
  messageId: nonEmpty,
  from: anyJson,
  content: anyJson,
  ts: Type.Number({ description: 'Milliseconds since the epoch.' }),
  role: Type.Enum(['user', 'agent', 'system']),
  turnIndex: count,
});

export const CONVERSATION_EVENTS = family('conversation', [
  event(
    'conversation.opened',
    DEBUG,
    open({
      conversationId: ConversationId,
      initialTurn: Turn,
      agentId: optional(AgentId),
      participants: optional(Type.Array(open({ agentId: AgentId, name: optional(Type.String()) }))),
      schema: optional(jsonObject),
      capabilities: optional(Type.Array(Type.Enum(['multi-turn', 'streaming']))),
      openedBy: optional(Type.String()),
    }),
    'A conversation began with its first turn.',
  ),
  event(
    'conversation.exchanged',
    DEBUG,
    open({ conversationId: ConversationId, turnIndex: positive, turn: Turn, outcome: optional(anyJson) }),
    'One turn of a conversation is done; its index only grows.',
  ),
  event(
    'conversation.closed',
    DEBUG,
    open({
      conversationId: ConversationId,
      turnIndex: count,
      finalTurn: Turn,
      outcome: optional(anyJson),
      reason: optional(Type.String()),
      turnCount: optional(count),
    }),
    'A conversation ended; its id is not used again in the run.',
  ),
]);
