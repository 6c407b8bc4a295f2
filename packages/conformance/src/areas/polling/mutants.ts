import { answered, events, omit, status } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { counted, ownersKey, sentPath } from '../../mutants/requests.ts';
import { POLL, RUNS } from '../../mutants/targets.ts';

export const POLLING_MUTANTS: readonly Mutant[] = [
  {
    id: 'polling/no-is-complete',
    breaks: 'a poll does not say whether the log is complete',
    caughtBy: ['polling/answer'],
    says: /boolean isComplete/,
    on: POLL,
    answer: answered((body) => omit(body, 'isComplete')),
  },
  {
    id: 'polling/no-payload',
    breaks: 'an event with an empty payload has none',
    caughtBy: ['polling/answer'],
    says: /a polled event has .*payload/,
    on: POLL,
    answer: events((list) =>
      list.map((event) => (event['type'] === 'run.completed' ? omit(event, 'payload') : event)),
    ),
  },
  {
    id: 'polling/reversed',
    breaks: 'polled events come newest first',
    caughtBy: ['polling/answer'],
    says: /in the order of their sequences/,
    on: POLL,
    answer: events((list) => list.toReversed()),
  },
  {
    id: 'polling/begins-with-the-second',
    breaks: 'a poll without lastSequence leaves out the first event',
    caughtBy: ['polling/answer'],
    says: /begins with the first event/,
    on: { method: 'GET', path: /\/events\/poll\?timeout/ },
    answer: events((list) => list.slice(1)),
  },
  {
    id: 'polling/filtered',
    breaks: 'polling leaves out node.started',
    caughtBy: ['polling/answer'],
    says: /not filtered by a mode/,
    on: POLL,
    answer: events((list) => list.filter(({ type }) => type !== 'node.started')),
  },
  {
    id: 'polling/events-of-another-run',
    breaks: 'an event is of another run',
    caughtBy: ['polling/answer'],
    says: /has the runId of its run/,
    on: POLL,
    answer: events((list) => list.map((event) => ({ ...event, runId: 'another' }))),
  },
  {
    id: 'polling/last-sequence-inclusive',
    breaks: 'a poll answers the event that lastSequence names again',
    caughtBy: ['polling/last-sequence'],
    says: /begins after lastSequence/,
    on: POLL,
    request: sentPath((asked) => moved(asked, -1)),
  },
  {
    id: 'polling/last-sequence-skips-one',
    breaks: 'a poll leaves out the event after lastSequence',
    caughtBy: ['polling/last-sequence'],
    says: /begins after lastSequence/,
    on: POLL,
    request: sentPath((asked) => moved(asked, 1)),
  },
  {
    id: 'polling/past-the-end-is-an-error',
    breaks: 'a poll past the end is 404',
    caughtBy: ['polling/past-the-end'],
    says: /status 200/,
    on: { method: 'GET', path: /lastSequence=99999/ },
    answer: status(200, 404),
  },
  {
    id: 'polling/past-the-end-begins-again',
    breaks: 'a poll past the end answers with the whole log',
    caughtBy: ['polling/past-the-end'],
    says: /past the end is empty/,
    on: POLL,
    request: sentPath((asked) => asked.replace('lastSequence=99999&', '')),
  },
  {
    id: 'polling/malformed-cursor-ignored',
    breaks: 'a lastSequence that is not a number is ignored',
    caughtBy: ['polling/malformed-last-sequence'],
    says: /status 400 or 422/,
    on: POLL,
    request: sentPath((asked) => asked.replace(/lastSequence=(?!\d+&)[^&]*&/, '')),
  },
  {
    id: 'polling/never-held',
    breaks: 'a poll with nothing new is answered empty at once',
    caughtBy: ['polling/held-until-something-happens'],
    says: /answered with what happened/,
    on: { method: 'GET', path: /timeout=10$/ },
    request: () => ({
      instead: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ events: [], isComplete: false }),
      },
    }),
  },
  {
    id: 'polling/timeout-is-an-error',
    breaks: 'a poll whose timeout has passed is 408',
    caughtBy: ['polling/timeout'],
    says: /status 200/,
    on: { method: 'GET', path: /lastSequence=/ },
    answer: status(200, 408),
  },
  {
    id: 'polling/always-complete',
    breaks: 'a poll says that the log of an active run is complete',
    caughtBy: ['polling/is-complete', 'polling/timeout'],
    says: /isComplete is false while the run is active/,
    on: POLL,
    answer: answered((body) => ({ ...body, isComplete: true })),
  },
  {
    id: 'polling/never-complete',
    breaks: 'a poll never says that the log is complete',
    caughtBy: ['polling/is-complete'],
    says: /isComplete is true when the run has ended/,
    on: POLL,
    answer: answered((body) => ({ ...body, isComplete: false })),
  },
  {
    id: 'polling/wrong-last-event-seq',
    breaks: 'lastEventSeq is the number of events',
    caughtBy: ['polling/is-complete'],
    says: /lastEventSeq of a poll agrees/,
    on: POLL,
    answer: answered((body) =>
      Array.isArray(body['events']) ? { ...body, lastEventSeq: body['events'].length } : body,
    ),
  },
  {
    id: 'polling/new-event-ids',
    breaks: 'an event has another eventId in every answer',
    caughtBy: ['polling/repeated'],
    says: /answer with the same events/,
    on: POLL,
    answer: (answer, request, memory) => {
      const count = counted(memory, 'answers');
      const change = events((list) => list.map((event) => ({ ...event, eventId: `event-${count}` })));
      return change(answer, request, memory);
    },
  },
  {
    id: 'polling/unknown-run-is-empty',
    breaks: 'a run that does not exist has no events, and no error',
    caughtBy: ['polling/unknown-run-and-no-key'],
    says: /status 404 or 403/,
    on: POLL,
    answer: status(404, 200),
  },
  {
    id: 'polling/open-to-other-tenants',
    breaks: 'a key of another tenant gets the events of a run',
    caughtBy: ['polling/other-tenant'],
    says: /status 404 or 403/,
    on: RUNS,
    request: ownersKey,
  },
];

function moved(asked: string, by: number): string {
  return asked.replace(/lastSequence=(\d+)/, (_, last: string) => `lastSequence=${Number(last) + by}`);
}
