import type { JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { coreOf, sequencesOf, TERMINAL_EVENTS, typesOf } from '../events/log.ts';
import {
  approve,
  documentOf,
  documentsOf,
  nextWithin,
  openStream,
  readToEnd,
  type StreamedEvent,
  streamOf,
  waitingRun,
} from './reading.ts';

/** What the `updates` channel of the AsyncAPI document lists. Hosts may show a few more types there. */
export const UPDATES: ReadonlySet<string> = new Set([
  'run.started',
  ...TERMINAL_EVENTS,
  'run.paused',
  'run.resumed',
  'node.completed',
  'node.failed',
  'node.skipped',
  'node.suspended',
  'approval.requested',
  'approval.received',
  'clarification.requested',
  'clarification.resolved',
  'interrupt.requested',
  'interrupt.resolved',
  'artifact.created',
]);

const NOT_UPDATES =
  /^(node\.started|node\.retried|variable\.changed|version\.pinned|log\.appended|output\.chunk|ai\.message\.chunk|replay\.diverged|lease\..*)$/;

/** How many subscribers a host of any size must bear. */
const SUBSCRIBERS = 4;

export const STREAM_UPDATE_CHECKS: readonly Check[] = [
  {
    id: 'streams/default-mode',
    title: 'a stream without a mode is one of updates',
    proves: ['STREAM-1', 'STREAM-3'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-multi-node');

      const byDefault = documentsOf(context, await streamOf(context, runId));
      const updates = documentsOf(context, await streamOf(context, runId, '?streamMode=updates'));

      context.expect.equal(
        sequencesOf(byDefault),
        sequencesOf(updates),
        'a stream without streamMode sends what updates sends',
      );
    },
  },
  {
    id: 'streams/updates-filter',
    title: 'updates sends what concerns a client, and leaves out what is for debugging',
    proves: ['STREAM-4', 'STREAM-5', 'STREAM-9'],
    needs: { fixtures: ['conformance-multi-node', 'conformance-failure'] },
    async run(context) {
      const { runs, expect } = context;
      for (const fixture of ['conformance-multi-node', 'conformance-failure']) {
        const runId = await context.runs.endedRun(fixture);
        const log = await runs.events(runId);

        const documents = documentsOf(context, await streamOf(context, runId, '?streamMode=updates'));

        const hidden = typesOf(documents).filter((type) => NOT_UPDATES.test(type));
        expect.that(hidden.length === 0, 'updates leaves out events for debugging', hidden);
        expect.equal(
          sequencesOf(documents.filter(isUpdate)),
          sequencesOf(log.filter(isUpdate)),
          'updates sends every event of the log that is an update, from the first on, in order and once',
        );
      }
    },
  },
  {
    id: 'streams/framing',
    title: 'an event has its sequence as id, its type as event and its document as data',
    proves: ['STREAM-6', 'STREAM-7'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const log = new Map((await runs.events(runId)).map((event) => [event['sequence'], event]));

      const events = await streamOf(context, runId);

      expect.that(events.length > 0, 'a stream of a run that has ended sends events');
      let last = -1;
      for (const event of events) {
        const document = documentOf(context, event);
        const sequence = expect.integer(document['sequence'], 'an event has a sequence');
        expect.equal(event.id, String(sequence), 'the id of an event is its sequence');
        expect.equal(event.name, document['type'], 'the event of a frame is the type of its event');
        expect.that(sequence > last, 'events come in the order of their sequences, each once', {
          sequence,
          last,
        });
        last = sequence;
        const polled = expect.object(log.get(sequence), 'a streamed event is in the log');
        expect.equal(coreOf(document), coreOf(polled), 'a streamed event equals the polled one');
      }
    },
  },
  {
    id: 'streams/closes-after-completed',
    title: 'the host closes a stream after run.completed',
    proves: ['STREAM-8'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const runId = await context.runs.create('conformance-delay', { inputs: { delayMs: 200 } });

      endsWith(context, await streamOf(context, runId), 'run.completed');
    },
  },
  {
    id: 'streams/closes-after-failed',
    title: 'the host closes a stream after run.failed',
    proves: ['STREAM-8'],
    needs: { fixtures: ['conformance-failure'] },
    async run(context) {
      const runId = await context.runs.create('conformance-failure');

      endsWith(context, await streamOf(context, runId), 'run.failed');
    },
  },
  {
    id: 'streams/closes-after-cancelled',
    title: 'the host closes a stream after run.cancelled',
    proves: ['STREAM-8'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-cancellable');
      const stream = await openStream(context, runId);
      expect.that(
        (await nextWithin(context, stream, 'a stream begins with what has happened')) !== undefined,
        'a stream of a running run is open',
      );

      expect.status(await runs.cancel(runId), 200, 202);

      endsWith(context, await readToEnd(context, stream), 'run.cancelled');
    },
  },
  {
    id: 'streams/opened-at-once',
    title: 'a stream opened while the run ends misses nothing',
    proves: ['STREAM-10'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const runId = await runs.create('conformance-noop');

        const events = await streamOf(context, runId);

        endsWith(context, events, 'run.completed');
        expect.equal(
          typesOf(documentsOf(context, events).filter(isUpdate)),
          ['run.started', 'node.completed', 'run.completed'],
          'a stream opened at once sends the start, the node and the end',
        );
      }
    },
  },
  {
    id: 'streams/equal-subscribers',
    title: 'subscribers of one run and mode get the same events',
    proves: ['STREAM-11'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { expect } = context;
      const { runId } = await waitingRun(context);
      const streams = await Promise.all(
        Array.from({ length: SUBSCRIBERS }, () => openStream(context, runId)),
      );

      await approve(context, runId);
      const read = await Promise.all(streams.map((stream) => readToEnd(context, stream)));

      const [first = [], ...others] = read.map((events) => sequencesOf(documentsOf(context, events)));
      expect.that(first.length > 0, 'a subscriber gets events');
      for (const other of others)
        expect.equal(other, first, 'every subscriber of a run gets the same events in the same order');
    },
  },
  {
    id: 'streams/suspension',
    title: 'a question and its answer are shown while they happen',
    proves: ['STREAM-13'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { expect } = context;
      const runId = await context.runs.create('conformance-approval');
      const stream = await openStream(context, runId);
      const before: StreamedEvent[] = [];
      const asked = new Set(['node.suspended', 'interrupt.requested']);
      while (asked.size > 0) {
        const event = await nextWithin(
          context,
          stream,
          `a run that waits shows ${[...asked].join(' and ')}`,
          2_000,
        );
        expect.that(event !== undefined, 'the stream of a run that waits stays open');
        if (event === undefined) return;
        before.push(event);
        asked.delete(event.name);
      }

      await context.runs.reaches(runId, 'waiting-approval');
      await approve(context, runId);

      const types = typesOf(documentsOf(context, await readToEnd(context, stream)));
      expect.that(types.includes('interrupt.resolved'), 'an answer is shown as interrupt.resolved', types);
    },
  },
  {
    id: 'streams/older-question-events',
    title: 'a question is also reported by the older event of its kind',
    proves: ['STREAM-14'],
    needs: { fixtures: ['conformance-approval', 'conformance-clarification'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context);
      const clarified = await runs.create('conformance-clarification');
      await runs.reaches(clarified, 'waiting-input');

      await approve(context, runId);
      const types = typesOf(documentsOf(context, await streamOf(context, runId)));
      const asked = typesOf(await context.runs.eventsSoFar(clarified));
      await runs.cancel(clarified);

      expect.that(
        types.includes('approval.requested'),
        'an approval is also reported by approval.requested',
        types,
      );
      expect.that(
        types.includes('approval.received'),
        'its answer is also reported by approval.received',
        types,
      );
      expect.that(
        asked.includes('clarification.requested'),
        'a clarification is also reported by clarification.requested',
        asked,
      );
    },
  },
  {
    id: 'streams/pause',
    title: 'a pause and its end are shown',
    proves: ['STREAM-15'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run(context) {
      const { host, runs, expect, discovery } = context;
      const runId = await runs.create('conformance-cancellable');
      await runs.reaches(runId, 'running');
      const policies = advertised(discovery, 'runs.pauseResume.drainPolicies');
      const isImmediate = Array.isArray(policies) && policies.includes('immediate');
      const body = isImmediate ? { drainPolicy: 'immediate' } : {};
      expect.status(await host.request('POST', `/v1/runs/${runId}:pause`, { body }), 202, 200);
      await runs.reaches(runId, 'paused');
      expect.status(await host.request('POST', `/v1/runs/${runId}:resume`, { body: {} }), 202, 200);
      await runs.cancel(runId);
      await runs.ended(runId);

      const types = typesOf(documentsOf(context, await streamOf(context, runId)));

      expect.that(types.includes('run.paused'), 'updates shows run.paused', types);
      expect.that(
        types.indexOf('run.resumed') > types.indexOf('run.paused'),
        'updates shows run.resumed after run.paused',
        types,
      );
    },
  },
];

export function isUpdate({ type }: JsonObject): boolean {
  return UPDATES.has(String(type));
}

function endsWith(context: CheckContext, events: readonly StreamedEvent[], type: string): void {
  const types = typesOf(documentsOf(context, events));
  context.expect.equal(types.at(-1), type, 'the terminal event is the last of the stream');
  context.expect.equal(
    types.filter((name) => TERMINAL_EVENTS.includes(name)).length,
    1,
    'a stream has one terminal event',
  );
}

/** That the events of one or several connections are the updates of the log. */
export async function expectUpdates(
  context: CheckContext,
  runId: string,
  events: readonly StreamedEvent[],
  claim: string,
): Promise<void> {
  const updates = documentsOf(context, events).filter(isUpdate);
  const log = await context.runs.events(runId);
  context.expect.equal(sequencesOf(updates), sequencesOf(log.filter(isUpdate)), claim);
}
