import type { RequirementTable } from '../../requirements/requirement.ts';

const NO_FIXTURE = 'no fixture has such a channel';

export const CHANNELS_REQUIREMENTS = {
  'CHAN-1': {
    document: 'channels',
    section: 'channel.written',
    level: 'MUST',
    text: 'Every write to a channel is a channel.written with the channel, the value, the reducer and the time, of the node that wrote.',
    reading: 'One published host has other member names; the schema is what we prove.',
  },
  'CHAN-2': {
    document: 'conformance-1.0.0',
    section: 'scenario append-ordering',
    level: 'MUST',
    text: 'Writes are in the log in the order in which the nodes made them, each between the start and the completion of its node.',
  },
  'CHAN-3': {
    document: 'conformance-1.0.0',
    section: 'scenario channel-ttl, fixture conformance-channel-ttl',
    level: 'MUST',
    text: 'A write to a channel with a time to live first removes the entries that have outlived it.',
    reading:
      'An older text drops them when they are read; the later one makes the write do it. A snapshot shows the same.',
  },
  'CHAN-4': {
    document: 'conformance-1.0.0',
    section: 'scenario channel-ttl',
    level: 'MUST',
    text: 'Entries of a channel with a time to live are {value, _ts} with _ts in milliseconds, in the snapshot and in channel.written.',
    reading: 'The scenario reads the channel from the variables of the snapshot.',
  },
  'CHAN-5': {
    document: 'conformance-1.0.0',
    section: 'scenario agentMessageReducer, fixture conformance-message-reducer',
    level: 'MUST',
    text: 'A channel with the reducer message holds a messageId once, however often it was written.',
    gate: 'agents',
  },
  'CHAN-6': {
    document: 'channels',
    section: 'RunSnapshot.channels',
    level: 'MUST',
    text: 'A declared channel is shown in the channels of the snapshot, folded from its writes in the order of their sequences.',
    gate: 'agents',
    reading:
      'Whether a write that the reducer drops is recorded is left open; the schema of channel.written does not list the reducer message, the declaration does.',
  },
  'CHAN-7': {
    document: 'conformance-1.0.0',
    section: 'scenario append-ordering, fixture conformance-append-ordering',
    level: 'MUST',
    text: 'A channel with the reducer append and no bound has one entry for each write, in the order of the writes.',
  },
  'CHAN-8': {
    document: 'channels',
    section: 'time to live, replay',
    level: 'MUST',
    text: 'A replay evaluates times to live by the recorded times: the channel of the fork is that of its source.',
    gate: 'replay',
  },
  'CHAN-9': {
    document: 'channels',
    section: 'reducers',
    level: 'MUST',
    text: 'The reducers replace, merge, counter, votes and feedback fold as their names say: the last value, a shallow union, a sum, one vote for each user, a list.',
    notTested: NO_FIXTURE,
  },
  'CHAN-10': {
    document: 'channels',
    section: 'maxSize',
    level: 'MUST',
    text: 'A channel with a maxSize drops its oldest entries, after those that have outlived their time.',
    notTested: NO_FIXTURE,
  },
  'CHAN-11': {
    document: 'channels',
    section: 'access',
    level: 'MUST',
    text: 'A node that may not read or write a channel is refused with channel_access_denied.',
    notTested: NO_FIXTURE,
  },
  'CHAN-12': {
    document: 'channels',
    section: 'schema versions',
    level: 'MUST',
    text: 'Writes of an older schema version fold when they are declared compatible and valid, and are channel_schema_breaking_change otherwise.',
    notTested: NO_FIXTURE,
  },
  'CHAN-13': {
    document: 'channels',
    section: 'writes between engines',
    level: 'MUST',
    text: 'Writes of another engine get a sequence of the owning run, and are refused for reducers that do not commute.',
    notTested: 'a second engine cannot write through the protocol',
  },
  'CHAN-14': {
    document: 'channels',
    section: 'trigger channel-write',
    level: 'MUST',
    text: 'A channel-write trigger starts its node after a write, and not after a write of that node itself.',
    notTested: 'no fixture has such a trigger',
  },
  'CHAN-15': {
    document: 'channels',
    section: 'reducer of an event',
    level: 'MUST',
    text: 'A log is folded with the reducer that each event names, not with the one that is declared today.',
    notTested: 'the protocol has no way to change a declaration under a run',
  },
  'CHAN-16': {
    document: 'channels',
    section: 'vendor reducers',
    level: 'MAY',
    text: 'A host may have reducers of its own under vendor names.',
    notTested: NO_FIXTURE,
  },
} as const satisfies RequirementTable;
