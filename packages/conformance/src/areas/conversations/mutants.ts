import { answered, eachEvent, omit, payloads, repeatedEvents, withoutEvents } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY, POLL, SNAPSHOT } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

export const CONVERSATIONS_MUTANTS: readonly Mutant[] = [
  {
    id: 'conversations/never-closed',
    breaks: 'a conversation is not closed',
    caughtBy: ['conversations/lifecycle'],
    says: /the log has conversation\.closed/,
    on: POLL,
    answer: withoutEvents('conversation.closed'),
  },
  {
    id: 'conversations/turn-after-close',
    breaks: 'a turn comes after the conversation was closed',
    caughtBy: ['conversations/lifecycle'],
    says: /the last event of a conversation is conversation\.closed/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'conversation.closed' ? [event, { ...event, type: 'conversation.exchanged' }] : event,
    ),
  },
  {
    id: 'conversations/two-ids',
    breaks: 'the close of a conversation names another one',
    caughtBy: ['conversations/lifecycle'],
    says: /the same conversationId/,
    on: POLL,
    answer: payloads('conversation.closed', (payload) => ({ ...payload, conversationId: 'another' })),
  },
  {
    id: 'conversations/turns-not-numbered',
    breaks: 'turns have no index',
    caughtBy: ['conversations/lifecycle'],
    says: /conversation\.exchanged has a turnIndex/,
    on: POLL,
    answer: payloads('conversation.exchanged', (payload) => omit(payload, 'turnIndex')),
  },
  {
    id: 'conversations/turn-repeated',
    breaks: 'a turn is in the log twice',
    caughtBy: ['conversations/lifecycle', 'conversations/turns'],
    says: /strictly increases/,
    on: POLL,
    answer: repeatedEvents((event) => event['type'] === 'conversation.exchanged'),
  },
  {
    id: 'conversations/unknown-role',
    breaks: 'a turn is said by an assistant',
    caughtBy: ['conversations/turns'],
    says: /the role of a turn is user, agent or system/,
    on: POLL,
    answer: payloads('conversation.exchanged', (payload) => ({
      ...payload,
      turn: { ...objectOf(payload['turn']), role: 'assistant' },
    })),
  },
  {
    id: 'conversations/channel-incomplete',
    breaks: 'the last turn is not in the channel',
    caughtBy: ['conversations/channel'],
    says: /every turn is in the channel/,
    on: SNAPSHOT,
    answer: answered((snapshot) => {
      const channels = objectOf(snapshot['channels']);
      const turns = Array.isArray(channels['conversation']) ? channels['conversation'] : [];
      return { ...snapshot, channels: { ...channels, conversation: turns.slice(0, -1) } };
    }),
  },
  {
    id: 'conversations/as-clarification',
    breaks: 'a conversation also asks for clarification',
    caughtBy: ['conversations/no-clarification'],
    says: /has no clarification event/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'conversation.opened'
        ? [event, { ...event, type: 'clarification.requested' }]
        : event,
    ),
  },
  {
    id: 'conversations/replay-differs',
    breaks: 'the messages of a replay have ids of their own',
    caughtBy: ['conversations/replay'],
    says: /the channels of a replay are the same/,
    on: SNAPSHOT,
    answer: answered((snapshot) => ({
      ...snapshot,
      channels: { conversation: [{ messageId: `${String(snapshot['runId'])}:0` }] },
    })),
  },
  {
    id: 'conversations/taken-without-support',
    breaks: 'a host that advertises no conversations runs a workflow that needs them',
    caughtBy: ['conversations/refused-without-support'],
    says: /status 400 or 404 or 422/,
    on: DISCOVERY,
    answer: answered((body) => ({
      ...omit(body, 'conversationPrimitive', 'capabilities'),
      fixtures: ['conformance-conversation-capability-negotiation'],
    })),
  },
];
