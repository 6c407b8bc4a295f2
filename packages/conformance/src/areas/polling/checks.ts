import type { Json, JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { coreOf, isRising, sequencesOf, typesOf } from '../events/log.ts';
import { approve, waitingRun } from '../streams/reading.ts';

/** What a host may take for an answer that it gives at once, on a slow machine. */
const AT_ONCE_MS = 5_000;
const REQUIRED = ['eventId', 'runId', 'type', 'payload', 'timestamp', 'sequence'];

export const POLLING_CHECKS: readonly Check[] = [
  {
    id: 'polling/answer',
    title: 'a poll is answered with the events of the run, in order',
    proves: ['POLL-1', 'POLL-2', 'POLL-3', 'POLL-5', 'POLL-14'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');

      const { events, body } = polled(context, await host.request('GET', pollPath(runId, 'timeout=1')));

      expect.that(
        typeof body['isComplete'] === 'boolean',
        'a poll answers with the boolean isComplete',
        body,
      );
      for (const event of events) {
        const missing = REQUIRED.filter((name) => event[name] === undefined);
        expect.that(missing.length === 0, `a polled event has ${REQUIRED.join(', ')}`, { missing });
        expect.equal(event['runId'], runId, 'a polled event has the runId of its run');
        const timestamp = expect.string(event['timestamp'], 'a polled event has a timestamp');
        expect.that(!Number.isNaN(Date.parse(timestamp)), 'a timestamp is a date and time', timestamp);
      }
      expect.that(
        isRising(sequencesOf(events)),
        'polled events are in the order of their sequences, each once',
        sequencesOf(events),
      );
      const types = typesOf(events);
      expect.equal(types[0], 'run.started', 'a poll without lastSequence begins with the first event');
      expect.that(types.includes('node.started'), 'polling is not filtered by a mode', types);
    },
  },
  {
    id: 'polling/last-sequence',
    title: 'a poll answers what comes after lastSequence',
    proves: ['POLL-4'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const { events: all } = polled(context, await host.request('GET', pollPath(runId, 'timeout=1')));
      for (const [index, { sequence }] of all.entries()) {
        if (sequence === 0) continue;
        const query = `lastSequence=${String(sequence)}&timeout=1`;

        const { events } = polled(context, await host.request('GET', pollPath(runId, query)));

        expect.equal(
          sequencesOf(events),
          sequencesOf(all.slice(index + 1)),
          `a poll begins after lastSequence ${String(sequence)}`,
        );
      }
    },
  },
  {
    id: 'polling/past-the-end',
    title: 'a poll past the end of an ended run is empty, and is answered at once',
    proves: ['POLL-6', 'POLL-8', 'POLL-18'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      for (const timeout of [1, 60]) {
        const query = `lastSequence=99999&timeout=${timeout}`;

        const answer = await host.request('GET', pollPath(runId, query));

        const { events } = polled(context, answer);
        expect.that(events.length === 0, 'a poll past the end is empty', sequencesOf(events));
        expect.that(
          answer.ms < AT_ONCE_MS,
          'a poll of a run that has ended is answered at once',
          `${Math.round(answer.ms)} ms`,
        );
      }
    },
  },
  {
    id: 'polling/malformed-last-sequence',
    title: 'a lastSequence that is not a whole number is rejected',
    proves: ['POLL-7'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      for (const value of ['abc', '1.5', '1e']) {
        const answer = await host.request('GET', pollPath(runId, `lastSequence=${value}&timeout=1`));

        expect.envelope(answer, { status: [400, 422] });
      }
    },
  },
  {
    id: 'polling/held-until-something-happens',
    title: 'a poll is held until there is something to tell',
    proves: ['POLL-9'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { host, expect } = context;
      const { runId, events: before } = await waitingRun(context);
      const last = before.at(-1)?.['sequence'];

      const held = host.request('GET', pollPath(runId, `lastSequence=${String(last)}&timeout=10`));
      await approve(context, runId);

      const { events } = polled(context, await held);
      expect.that(events.length > 0, 'a held poll is answered with what happened', events.length);
      expect.that(
        sequencesOf(events).every((sequence) => Number(sequence) > Number(last)),
        'a held poll is answered with what came after lastSequence',
        sequencesOf(events),
      );
    },
  },
  {
    id: 'polling/timeout',
    title: 'a poll of an active run ends empty when its timeout has passed',
    proves: ['POLL-10'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId, events: before } = await waitingRun(context);
      const last = String(before.at(-1)?.['sequence']);

      const answer = await host.request('GET', pollPath(runId, `lastSequence=${last}&timeout=1`));

      const { events, body } = polled(context, answer);
      expect.that(events.length === 0, 'a poll with nothing to tell is empty', sequencesOf(events));
      expect.equal(body['isComplete'], false, 'isComplete is false while the run is active');
      await runs.cancel(runId);
    },
  },
  {
    id: 'polling/is-complete',
    title: 'a poll says whether the log is complete, and contradicts nothing',
    proves: ['POLL-11', 'POLL-12'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId } = await waitingRun(context);

      const live = polled(context, await host.request('GET', pollPath(runId, 'timeout=1')));
      await approve(context, runId);
      const { status } = await runs.ended(runId);
      const ended = polled(context, await host.request('GET', pollPath(runId, 'timeout=1')));

      expect.equal(live.body['isComplete'], false, 'isComplete is false while the run is active');
      expect.equal(ended.body['isComplete'], true, 'isComplete is true when the run has ended');
      agrees(context, live, { runId, runStatus: 'waiting-approval', isTerminal: false });
      agrees(context, ended, { runId, runStatus: status ?? null, isTerminal: true });
    },
  },
  {
    id: 'polling/repeated',
    title: 'two polls of an ended run answer with the same events',
    proves: ['POLL-13'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');

      const first = polled(context, await host.request('GET', pollPath(runId, 'timeout=1')));
      const second = polled(context, await host.request('GET', pollPath(runId, 'timeout=1')));

      expect.equal(
        second.events.map(coreOf),
        first.events.map(coreOf),
        'two polls of a run that has ended answer with the same events',
      );
    },
  },
  {
    id: 'polling/unknown-run-and-no-key',
    title: 'a poll needs a run and a key',
    proves: ['POLL-15'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      const runId = await context.runs.endedRun('conformance-noop');

      const unknown = await host.request('GET', pollPath(unique('no-such-run'), 'timeout=1'));
      const keyless = await host.request('GET', pollPath(runId, 'timeout=1'), { key: null });

      expect.envelope(unknown, { status: [404, 403] });
      expect.envelope(keyless, { status: 401 });
    },
  },
  {
    id: 'polling/other-tenant',
    title: 'a key of another tenant gets no events',
    proves: ['POLL-16'],
    needs: { fixtures: ['conformance-noop'], key: 'otherTenant' },
    async run(context) {
      const { host, expect, keys } = context;
      const runId = await context.runs.endedRun('conformance-noop');

      const answer = await host.request('GET', pollPath(runId, 'timeout=1'), {
        key: keys.otherTenant ?? null,
      });

      expect.envelope(answer, { status: [404, 403] });
      expect.absent(answer.text, runId, 'the answer to another tenant does not name the run');
    },
  },
];

interface Polled {
  readonly body: JsonObject;
  readonly events: JsonObject[];
}

function pollPath(runId: string, query: string): string {
  return `/v1/runs/${runId}/events/poll?${query}`;
}

function polled({ expect }: CheckContext, answer: Answer): Polled {
  expect.status(answer, 200);
  const body = expect.object(answer.json, 'a poll is answered with an object');
  const events = expect.array(body['events'], 'a poll answers with the list events');
  return { body, events: events.map((event) => expect.object(event, 'an event is an object')) };
}

/** The members of the second form of the answer are optional; where they are, they must be true. */
function agrees({ expect }: CheckContext, { body, events }: Polled, run: Record<string, Json>): void {
  const facts: Record<string, Json> = { ...run, lastEventSeq: events.at(-1)?.['sequence'] ?? null };
  for (const [name, fact] of Object.entries(facts))
    if (body[name] !== undefined)
      expect.equal(body[name], fact, `the member ${name} of a poll agrees with the run`);
}
