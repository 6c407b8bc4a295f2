import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { ofNode, ofType, outline, payloadOf } from '../events/log.ts';

const TTL = 'conformance-channel-ttl';
const MESSAGES = 'conformance-message-reducer';
const APPENDING = 'conformance-append-ordering';

export const CHANNELS_CHECKS: readonly Check[] = [
  {
    id: 'channels/written',
    title: 'every write to a channel is recorded with its channel, value, reducer and time',
    proves: ['CHAN-1', 'CHAN-2'],
    needs: { fixtures: [TTL] },
    async run(context) {
      const { expect } = context;

      const { events } = await finished(context, TTL);

      const writes = ofType(events, 'channel.written');
      expect.equal(
        writes.map((write) => writerOf(write)),
        ['write-a', 'write-b', 'write-c', 'write-d'],
        'the writes are in the log in the order in which the nodes made them',
      );
      for (const write of writes) {
        const payload = expect.object(write['payload'], 'the payload of channel.written is an object');
        expect.equal(payload['channel'], 'events', 'channel.written names the channel');
        expect.equal(payload['reducer'], 'append', 'channel.written names the reducer');
        expect.that(Object.hasOwn(payload, 'value'), 'channel.written has the value', payload);
        const time = expect.string(payload['writtenAt'], 'channel.written has the time writtenAt');
        expect.that(!Number.isNaN(Date.parse(time)), 'writtenAt is a time', time);
        expectInside(context, events, write);
      }
    },
  },
  {
    id: 'channels/ttl',
    title: 'a write removes the entries that have outlived their time',
    proves: ['CHAN-3', 'CHAN-4'],
    needs: { fixtures: [TTL] },
    async run(context) {
      const { expect } = context;

      const { ended, events } = await finished(context, TTL);

      const variables = expect.object(ended['variables'], 'the snapshot has variables');
      const entries = expect.array(variables['events'], 'the channel is a list');
      expect.equal(
        entries.map((entry) => (isJsonObject(entry) ? (entry['value'] ?? null) : entry)),
        ['d'],
        'only the entry that was written last has not outlived its time',
      );
      for (const entry of entries) expectTimed(context, entry);
      for (const write of ofType(events, 'channel.written')) expectTimed(context, payloadOf(write)['value']);
    },
  },
  {
    id: 'channels/messages',
    title: 'a channel of messages holds a messageId once',
    proves: ['CHAN-5'],
    needs: { fixtures: [MESSAGES] },
    async run(context) {
      const { expect } = context;

      const { ended } = await finished(context, MESSAGES);

      const ids = messageIds(context, channelOf(context, ended, 'messages'));
      expect.that(ids.length > 0, 'the channel of messages is not empty');
      expect.that(new Set(ids).size === ids.length, 'no messageId is in the channel twice', ids);
    },
  },
  {
    id: 'channels/messages-folded',
    title: 'a channel of messages is the fold of its writes',
    proves: ['CHAN-6'],
    needs: { fixtures: [MESSAGES] },
    async run(context) {
      const { expect } = context;

      const { ended, events } = await finished(context, MESSAGES);

      const writes = ofType(events, 'channel.written').filter(
        (write) => payloadOf(write)['channel'] === 'messages',
      );
      expect.that(writes.length > 0, 'the writes to the channel of messages are recorded', outline(events));
      const written = writes.map((write) => payloadOf(write)['value'] ?? null);
      const folded = [...new Set(messageIds(context, written))];
      expect.equal(
        messageIds(context, channelOf(context, ended, 'messages')),
        folded,
        'the channel has the messages that were written, each at its first place',
      );
    },
  },
  {
    id: 'channels/append-ordering',
    title: 'a channel that appends has one entry for each write',
    proves: ['CHAN-7'],
    needs: { fixtures: [APPENDING] },
    async run(context) {
      const { expect } = context;

      const { ended, events } = await finished(context, APPENDING);

      const writes = ofType(events, 'channel.written');
      expect.that(writes.length > 1, 'the run writes to a channel more than once', outline(events));
      const names = new Set(writes.map((write) => String(payloadOf(write)['channel'])));
      for (const name of names) {
        const own = writes.filter((write) => payloadOf(write)['channel'] === name);
        const entries = channelOf(context, ended, name);
        expect.equal(
          entries,
          own.map((write) => payloadOf(write)['value'] ?? null),
          'the entries of a channel are its writes, in their order',
        );
      }
    },
  },
  {
    id: 'channels/ttl-replayed',
    title: 'a replay evaluates times to live by the recorded times',
    proves: ['CHAN-8'],
    needs: { fixtures: [TTL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, ended } = await finished(context, TTL);

      const answer = await runs.fork(runId, { mode: 'replay', fromSeq: 0 });

      expect.status(answer, 201);
      const fork = expect.object(answer.json, 'a fork is answered with an object');
      const replayed = await runs.ended(expect.string(fork['runId'], 'a fork has a runId'));
      expect.equal(
        valuesOf(channelOf(context, replayed, 'events')),
        valuesOf(channelOf(context, ended, 'events')),
        'the channel of a replay has the entries of its source',
      );
    },
  },
];

async function finished({ runs, expect }: CheckContext, workflow: string) {
  const runId = await runs.create(workflow);
  const ended = await runs.ended(runId);
  expect.equal(ended['status'], 'completed', 'the run completes');
  return { runId, ended, events: await runs.events(runId) };
}

/** A channel stands in `channels` when it is declared, and in `variables` otherwise. */
function channelOf({ expect }: CheckContext, snapshot: JsonObject, name: string): Json[] {
  const { channels, variables } = snapshot;
  const found =
    (isJsonObject(channels) ? channels[name] : undefined) ??
    (isJsonObject(variables) ? variables[name] : undefined);
  return expect.array(found, `the snapshot shows the channel ${name} as a list`);
}

function valuesOf(entries: readonly Json[]): Json[] {
  return entries.map((entry) => (isJsonObject(entry) ? (entry['value'] ?? null) : entry));
}

function messageIds({ expect }: CheckContext, messages: readonly Json[]): string[] {
  return messages.map((message) => {
    const { messageId } = expect.object(message, 'a message is an object');
    return expect.string(messageId, 'a message has a messageId');
  });
}

function expectTimed({ expect }: CheckContext, entry: Json | undefined): void {
  const { _ts: at } = expect.object(entry, 'an entry of a channel with a time to live is an object');
  expect.that(typeof at === 'number' && at > 0, 'an entry has the time _ts in milliseconds', at);
}

function writerOf(write: JsonObject): string {
  return String(write['nodeId'] ?? payloadOf(write)['nodeId']);
}

/** A write belongs between the start and the completion of its node. */
function expectInside({ expect }: CheckContext, events: readonly JsonObject[], write: JsonObject): void {
  const node = writerOf(write);
  const at = (type: string): number => events.indexOf(ofType(ofNode(events, node), type)[0] ?? {});
  const place = events.indexOf(write);
  expect.that(
    at('node.started') !== -1 && at('node.started') < place && place < at('node.completed'),
    'a write stands between the start and the completion of its node',
    outline(events),
  );
}
