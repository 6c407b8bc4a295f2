import { events, numbered, omit, payloads, status, swapped } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { counted, runOf } from '../../mutants/requests.ts';
import { CANCEL, POLL } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

export const EVENTS_MUTANTS: readonly Mutant[] = [
  {
    id: 'events/payload-left-out',
    breaks: 'an empty payload is left out',
    caughtBy: ['events/required-members'],
    says: /has a payload, if only null/,
    on: POLL,
    answer: events((all) =>
      all.map((event) => (event['type'] === 'run.completed' ? omit(event, 'payload') : event)),
    ),
  },
  {
    id: 'events/event-id-repeated',
    breaks: 'two events have one eventId',
    caughtBy: ['events/required-members'],
    says: /no two events have the same eventId/,
    on: POLL,
    answer: events((all) =>
      all.map((event, index) => ({ ...event, eventId: all[index === 2 ? 1 : index]?.['eventId'] ?? '' })),
    ),
  },
  {
    id: 'events/timestamp-in-milliseconds',
    breaks: 'timestamps are numbers',
    caughtBy: ['events/required-members'],
    says: /has a timestamp/,
    on: POLL,
    answer: events((all) =>
      all.map((event) => ({ ...event, timestamp: Date.parse(String(event['timestamp'])) })),
    ),
  },
  {
    id: 'events/timestamp-without-zone',
    breaks: 'timestamps have no time zone',
    caughtBy: ['events/required-members'],
    says: /RFC 3339/,
    on: POLL,
    answer: events((all) =>
      all.map((event) => ({ ...event, timestamp: String(event['timestamp']).replace('Z', '') })),
    ),
  },
  {
    id: 'events/sequences-from-one',
    breaks: 'sequences begin at 1',
    caughtBy: ['events/sequences', 'events/parallel-runs'],
    says: /begin at 0 and grow by one/,
    on: POLL,
    answer: events((all) => numbered(all).map((event, index) => ({ ...event, sequence: index + 1 }))),
  },
  {
    id: 'events/event-lost',
    breaks: 'an event is lost on the way',
    caughtBy: ['events/sequences'],
    says: /begin at 0 and grow by one/,
    on: POLL,
    answer: events((all) => all.filter((_, index) => index !== 1)),
  },
  {
    id: 'events/event-repeated',
    breaks: 'an event is delivered twice',
    caughtBy: ['events/sequences'],
    says: /begin at 0 and grow by one/,
    on: POLL,
    answer: events((all) => all.flatMap((event, index) => (index === 1 ? [event, event] : [event]))),
  },
  {
    id: 'events/two-ends',
    breaks: 'a run ends twice',
    caughtBy: ['events/sequences'],
    says: /exactly one terminal event/,
    on: POLL,
    answer: events((all) => numbered([...all, ...all.slice(-1)])),
  },
  {
    id: 'events/end-not-last',
    breaks: 'an event follows the terminal one',
    caughtBy: ['events/sequences'],
    says: /terminal event is the last/,
    on: POLL,
    answer: events((all) => numbered(swapped(all, all.length - 1, all.length - 2))),
  },
  {
    id: 'events/started-without-workflow',
    breaks: 'run.started does not name the workflow',
    caughtBy: ['events/started'],
    says: /names the workflow/,
    on: POLL,
    answer: payloads('run.started', () => ({})),
  },
  {
    id: 'events/started-twice',
    breaks: 'run.started comes again when the run is taken up',
    caughtBy: ['events/started'],
    says: /run\.started comes once/,
    on: POLL,
    answer: events((all) => numbered([...all.slice(0, 1), ...all])),
  },
  {
    id: 'events/times-of-the-read',
    breaks: 'events have the time at which they are read',
    caughtBy: ['events/repeated-reads'],
    says: /second read of the log gives the same/,
    on: POLL,
    answer: events((all, _, memory) => {
      const reads = counted(memory, 'reads');
      const timestamp = new Date(reads * 1_000).toISOString();
      return all.map((event) => ({ ...event, timestamp }));
    }),
  },
  {
    id: 'events/history-rewritten',
    breaks: 'a node that has completed is no longer seen as started',
    caughtBy: ['events/append-only'],
    says: /begins with the same events/,
    on: POLL,
    answer: events((all) => {
      const isDone = all.some(({ type }) => type === 'node.completed');
      return isDone ? numbered(all.filter(({ type }) => type !== 'node.started')) : all;
    }),
  },
  {
    id: 'events/node-id-in-payload-only',
    breaks: 'nodeId stands in the payload alone',
    caughtBy: ['events/node-events'],
    says: /nodeId next to its type/,
    on: POLL,
    answer: events((all) => all.map((event) => omit(event, 'nodeId'))),
  },
  {
    id: 'events/started-without-type',
    breaks: 'node.started has no typeId',
    caughtBy: ['events/node-events'],
    says: /node\.started has a typeId/,
    on: POLL,
    answer: payloads('node.started', (payload) => omit(payload, 'typeId')),
  },
  {
    id: 'events/attempts-from-one',
    breaks: 'attempts count from 1',
    caughtBy: ['events/node-events'],
    says: /first attempt of a node is attempt 0/,
    on: POLL,
    answer: payloads('node.started', (payload) => ({ ...payload, attempt: 1 })),
  },
  {
    id: 'events/nodes-out-of-order',
    breaks: 'the second node completes before the first',
    caughtBy: ['events/node-order'],
    says: /a, b and c complete in this order/,
    on: POLL,
    answer: events((all) => {
      const places = all.flatMap(({ type }, index) => (type === 'node.completed' ? [index] : []));
      return numbered(swapped(all, places[0] ?? 0, places[1] ?? 0));
    }),
  },
  {
    id: 'events/next-node-too-early',
    breaks: 'a node begins before its predecessor has completed',
    caughtBy: ['events/node-order'],
    says: /begins after node a has completed/,
    on: POLL,
    answer: events((all) => {
      const done = all.findIndex(({ type }) => type === 'node.completed');
      return numbered(swapped(all, done, done + 1));
    }),
  },
  {
    id: 'events/failure-order',
    breaks: 'run.failed comes before node.failed',
    caughtBy: ['events/failure'],
    says: /node\.failed comes before run\.failed/,
    on: POLL,
    answer: events((all) => numbered(swapped(all, all.length - 1, all.length - 2))),
  },
  {
    id: 'events/flat-error',
    breaks: 'code and message stand at the top of the payload',
    caughtBy: ['events/failure'],
    says: /run\.failed has an error with a code/,
    on: POLL,
    answer: payloads('run.failed', (payload) => ({
      ...omit(payload, 'error'),
      ...objectOf(payload['error']),
    })),
  },
  {
    id: 'events/name-in-closed-vocabulary',
    breaks: 'the host has an event of its own under node.',
    caughtBy: ['events/types'],
    says: /vocabularies of the protocol/,
    on: POLL,
    answer: events((all) =>
      all.map((event) => (event['type'] === 'node.started' ? { ...event, type: 'node.begun' } : event)),
    ),
  },
  {
    id: 'events/reserved-vendor-prefix',
    breaks: 'the host has an event of its own under a reserved prefix',
    caughtBy: ['events/types'],
    says: /catalogue or a name of a vendor/,
    on: POLL,
    answer: events((all) =>
      all.map((event) =>
        event['type'] === 'node.started' ? { ...event, type: 'openwop.node.begun' } : event,
      ),
    ),
  },
  {
    id: 'events/status-ahead',
    breaks: 'a run is seen as ended before its terminal event is there',
    caughtBy: ['events/terminal-before-status'],
    says: /ends with the terminal event/,
    on: POLL,
    answer: events((all) => all.slice(0, -1)),
  },
  {
    id: 'events/cancel-after-end',
    breaks: 'a cancel of a run that has ended is recorded in its log',
    caughtBy: ['events/nothing-after-end'],
    says: /stays as it is/,
    on: { path: /(?:\/cancel|\/events\/poll.*)$/ },
    request: (request, memory) => {
      if (CANCEL.path.test(request.path)) memory.set(runOf(request), true);
      return request;
    },
    answer: events((all, request, memory) =>
      memory.get(runOf(request)) === true
        ? numbered([...all, { ...all.at(-1), type: 'run.cancelled' }])
        : all,
    ),
  },
  {
    id: 'events/ids-of-the-sequence',
    breaks: 'eventIds are unique within a run only',
    caughtBy: ['events/parallel-runs'],
    says: /two runs have the same eventId/,
    on: POLL,
    answer: events((all) =>
      all.map((event) => ({ ...event, eventId: `event-${String(event['sequence'])}` })),
    ),
  },
  {
    id: 'events/negative-duration',
    breaks: 'a clock that went back makes a negative duration',
    caughtBy: ['events/terminal-payloads'],
    says: /durationMs of run\.completed is an integer from 0/,
    on: POLL,
    answer: payloads('run.completed', (payload) => ({ ...payload, durationMs: -3 })),
  },
  {
    id: 'events/outputs-in-a-list',
    breaks: 'run.completed has a list of outputs',
    caughtBy: ['events/terminal-payloads'],
    says: /outputs of run\.completed are an object/,
    on: POLL,
    answer: payloads('run.completed', (payload) => ({ ...payload, outputs: [] })),
  },
  {
    id: 'events/poll-not-found',
    breaks: 'the log of a run that has ended is not found',
    caughtBy: ['events/repeated-reads'],
    says: /status 200/,
    on: POLL,
    answer: status(200, 404),
  },
];
