import { isJsonObject, type Json } from '@weft/protocol';
import { events, numbered, omit, payloads, run, swapped, variables } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { isAnotherRun } from '../../mutants/requests.ts';
import { POLL, SNAPSHOT } from '../../mutants/targets.ts';

export const CHANNELS_MUTANTS: readonly Mutant[] = [
  {
    id: 'channels/writes-out-of-order',
    breaks: 'the first two writes are recorded in the other order',
    caughtBy: ['channels/written'],
    says: /in the order in which the nodes made them/,
    on: POLL,
    answer: events((all) => {
      const places = all.flatMap(({ type }, index) => (type === 'channel.written' ? [index] : []));
      return numbered(swapped(all, places[0] ?? 0, places[1] ?? 0));
    }),
  },
  {
    id: 'channels/write-after-completion',
    breaks: 'a write is recorded after its node has completed',
    caughtBy: ['channels/written'],
    says: /between the start and the completion/,
    on: POLL,
    answer: events((all) => {
      const place = all.findIndex(({ type }) => type === 'channel.written');
      return numbered(swapped(all, place, place + 1));
    }),
  },
  {
    id: 'channels/other-member-names',
    breaks: 'channel.written has the names of an early host',
    caughtBy: ['channels/written'],
    says: /names the channel/,
    on: POLL,
    answer: payloads('channel.written', (payload) => ({
      ...omit(payload, 'channel'),
      channelName: payload['channel'] ?? '',
    })),
  },
  {
    id: 'channels/write-without-time',
    breaks: 'channel.written does not say when',
    caughtBy: ['channels/written'],
    says: /time writtenAt/,
    on: POLL,
    answer: payloads('channel.written', (payload) => omit(payload, 'writtenAt')),
  },
  {
    id: 'channels/nothing-outlived',
    breaks: 'entries outlive their time',
    caughtBy: ['channels/ttl'],
    says: /written last has not outlived/,
    on: SNAPSHOT,
    answer: entries((all) => [{ value: 'c', _ts: 1 }, ...all]),
  },
  {
    id: 'channels/bare-entries',
    breaks: 'entries have no time',
    caughtBy: ['channels/ttl'],
    says: /is an object/,
    on: SNAPSHOT,
    answer: entries((all) => all.map((entry) => (isJsonObject(entry) ? (entry['value'] ?? null) : entry))),
  },
  {
    id: 'channels/time-as-text',
    breaks: 'the time of an entry is a text',
    caughtBy: ['channels/ttl'],
    says: /_ts in milliseconds/,
    on: SNAPSHOT,
    answer: entries((all) =>
      all.map((entry) => (isJsonObject(entry) ? { ...entry, _ts: '2026-01-01T00:00:00Z' } : entry)),
    ),
  },
  {
    id: 'channels/message-twice',
    breaks: 'a message that was written twice is there twice',
    caughtBy: ['channels/messages', 'channels/messages-folded'],
    says: /no messageId is in the channel twice/,
    on: SNAPSHOT,
    answer: messages((list) => [...list, ...list.slice(0, 1)]),
  },
  {
    id: 'channels/messages-reversed',
    breaks: 'the newest message is the first',
    caughtBy: ['channels/messages-folded'],
    says: /each at its first place/,
    on: SNAPSHOT,
    answer: messages((list) => list.toReversed()),
  },
  {
    id: 'channels/messages-not-recorded',
    breaks: 'writes to a channel of messages are not recorded',
    caughtBy: ['channels/messages-folded'],
    says: /are recorded/,
    on: POLL,
    answer: events((all) => numbered(all.filter(({ type }) => type !== 'channel.written'))),
  },
  {
    id: 'channels/replay-by-the-clock',
    breaks: 'a replay evaluates times to live by the clock',
    caughtBy: ['channels/ttl-replayed'],
    says: /entries of its source/,
    on: SNAPSHOT,
    answer: (answer, request, memory) =>
      isAnotherRun(request, memory) ? entries(() => [])(answer, request, memory) : answer,
  },
];

/** Changes the entries of the channel with a time to live. */
function entries(change: (all: Json[]) => Json[]) {
  return variables((all) => (Array.isArray(all['events']) ? { ...all, events: change(all['events']) } : all));
}

/** Changes the channel of messages. */
function messages(change: (list: Json[]) => Json[]) {
  return run((snapshot) => {
    const { channels } = snapshot;
    if (!isJsonObject(channels) || !Array.isArray(channels['messages'])) return snapshot;
    return { ...snapshot, channels: { ...channels, messages: change(channels['messages']) } };
  });
}
