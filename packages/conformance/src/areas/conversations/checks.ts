import type { Json, JsonObject } from '@weft/protocol';
import { GATES } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { ofType, payloadOf } from '../events/log.ts';

const LIFECYCLE = 'conformance-conversation-lifecycle';
const VERSUS = 'conformance-conversation-vs-clarification';
const REPLAY = 'conformance-conversation-replay';
const NEGOTIATION = 'conformance-conversation-capability-negotiation';
const TYPES = ['conversation.opened', 'conversation.exchanged', 'conversation.closed'];
const TURN_TEXTS = ['messageId', 'from', 'content'];

async function conversationOf({ runs, expect }: CheckContext, workflowId: string) {
  const runId = await runs.create(workflowId);
  const ended = await runs.ended(runId);
  expect.equal(ended['status'], 'completed', 'a conversation that answers itself completes');
  return { runId, ended, events: await runs.events(runId) };
}

export const CONVERSATIONS_CHECKS: readonly Check[] = [
  {
    id: 'conversations/lifecycle',
    title: 'a conversation is opened, goes back and forth, and is closed',
    proves: ['CONV-1', 'CONV-2', 'CONV-3'],
    needs: { fixtures: [LIFECYCLE] },
    async run(context) {
      const { expect } = context;

      const { events } = await conversationOf(context, LIFECYCLE);

      const own = ofType(events, ...TYPES);
      const types = own.map(({ type }) => type);
      expect.that(types.includes('conversation.closed'), 'the log has conversation.closed', types);
      expect.equal(
        types[0],
        'conversation.opened',
        'the first event of a conversation is conversation.opened',
      );
      expect.equal(
        types.at(-1),
        'conversation.closed',
        'the last event of a conversation is conversation.closed',
      );
      const [first] = own.map((event) => payloadOf(event)['conversationId']);
      expect.string(first, 'conversation.opened has a conversationId');
      for (const event of own)
        expect.equal(
          payloadOf(event)['conversationId'],
          first,
          'all events of a conversation have the same conversationId',
        );
      const indexes = ofType(own, 'conversation.exchanged').map((event) =>
        expect.integer(payloadOf(event)['turnIndex'], 'conversation.exchanged has a turnIndex'),
      );
      expect.that(
        indexes.every((index, at) => at === 0 || index > Number(indexes[at - 1])),
        'the turnIndex of conversation.exchanged strictly increases',
        indexes,
      );
    },
  },
  {
    id: 'conversations/turns',
    title: 'the turns of a conversation say who said what',
    proves: ['CONV-4'],
    needs: { fixtures: [LIFECYCLE] },
    async run(context) {
      const { events } = await conversationOf(context, LIFECYCLE);

      const turns = turnsIn(events);
      for (const turn of turns) expectTurn(context, turn);
      const ids = messageIdsOf(turns);
      context.expect.equal(new Set(ids).size, ids.length, 'each messageId belongs to one turn');
    },
  },
  {
    id: 'conversations/channel',
    title: 'the turns of a conversation stand in its channel',
    proves: ['CONV-5'],
    needs: { fixtures: [LIFECYCLE] },
    async run(context) {
      const { expect } = context;

      const { events, ended } = await conversationOf(context, LIFECYCLE);

      const channels = expect.object(ended['channels'], 'the snapshot has channels');
      const kept = expect.array(
        channels['conversation'],
        'the declared channel of the conversation is a list',
      );
      const ids = messageIdsOf(kept);
      expect.equal(new Set(ids).size, ids.length, 'each messageId is in the channel once');
      for (const id of messageIdsOf(turnsIn(events)))
        expect.that(ids.includes(id), 'every turn is in the channel', ids, id);
    },
  },
  {
    id: 'conversations/no-clarification',
    title: 'a conversation is not a clarification',
    proves: ['CONV-6'],
    needs: { fixtures: [VERSUS] },
    async run(context) {
      const { expect } = context;

      const { events } = await conversationOf(context, VERSUS);

      const types = events.map(({ type }) => String(type));
      expect.that(
        types.some((type) => type.startsWith('conversation.')),
        'the log has conversation events',
        types,
      );
      const clarifications = types.filter((type) => type.startsWith('clarification.'));
      expect.equal(clarifications, [], 'the log of a conversation has no clarification event');
    },
  },
  {
    id: 'conversations/replay',
    title: 'a replayed conversation has the same channels',
    proves: ['CONV-7'],
    needs: { fixtures: [REPLAY] },
    async run(context) {
      const { runs, expect, discovery } = context;
      const { runId, ended } = await conversationOf(context, REPLAY);

      const answer = await runs.fork(runId, { mode: 'replay' });

      if (!GATES.replay.isOpen(discovery)) return expect.status(answer, 404, 501);
      expect.status(answer, 200, 201);
      const forked = expect.object(answer.json, 'a fork is answered with an object');
      const replayed = await runs.ended(expect.string(forked['runId'], 'a fork has a runId'));
      expect.equal(replayed['status'], 'completed', 'the replay of a conversation completes');
      expect.equal(
        JSON.stringify(replayed['channels']),
        JSON.stringify(ended['channels']),
        'the channels of a replay are the same as those of its source, byte for byte',
      );
    },
  },
  {
    id: 'conversations/refused-without-support',
    title: 'a host without conversations refuses workflows that need them',
    proves: ['CONV-8'],
    needs: { fixtures: [NEGOTIATION] },
    async run({ runs, expect }) {
      const answer = await runs.tryCreate(NEGOTIATION);

      expect.envelope(answer, { status: [400, 404, 422] });
    },
  },
];

/** Only the stricter of the two payload schemas has turns. */
function turnsIn(events: readonly JsonObject[]): Json[] {
  return ofType(events, ...TYPES)
    .map(payloadOf)
    .flatMap(({ initialTurn, turn, finalTurn }) => [initialTurn, turn, finalTurn])
    .filter((value) => value !== undefined && value !== null);
}

function expectTurn({ expect }: CheckContext, value: Json): void {
  const turn = expect.object(value, 'a turn is an object');
  for (const name of TURN_TEXTS)
    expect.that(turn[name] !== undefined, `a turn has ${name}`, Object.keys(turn));
  expect.integer(turn['ts'], 'a turn has ts, a number of milliseconds');
  expect.integer(turn['turnIndex'], 'a turn has a turnIndex');
  expect.that(
    ['user', 'agent', 'system'].includes(String(turn['role'])),
    'the role of a turn is user, agent or system',
    turn['role'] ?? 'nothing',
  );
}

function messageIdsOf(turns: readonly Json[]): string[] {
  return turns.map((turn) => String((turn as JsonObject | null)?.['messageId']));
}
