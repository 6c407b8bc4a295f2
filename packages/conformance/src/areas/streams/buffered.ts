import type { Check, CheckContext } from '../../suite/check.ts';
import { sequenceOf, sequencesOf, typesOf } from '../events/log.ts';
import {
  approve,
  documentsOf,
  nextWithin,
  openStream,
  readToEnd,
  type StreamedEvent,
  streamOf,
} from './reading.ts';
import { expectUpdates } from './updates.ts';

/** A window so wide that what comes before half of it was not held back. */
const WIDE_MS = 4_000;
const NOT_HELD_MS = WIDE_MS / 2;

export const STREAM_BUFFER_CHECKS: readonly Check[] = [
  {
    id: 'streams/buffer-range',
    title: 'bufferMs is a whole number from 0 to 5000',
    proves: ['STREAM-44'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      for (const value of ['5001', '99999', '-1', 'soon', '1.5']) {
        const answer = await host.request('GET', `/v1/runs/${runId}/events?bufferMs=${value}`);

        expect.envelope(answer, { status: 400, code: 'validation_error' });
      }
      const stream = await openStream(context, runId, '?bufferMs=5000');
      await readToEnd(context, stream);
    },
  },
  {
    id: 'streams/buffer-zero',
    title: 'bufferMs=0 gathers nothing',
    proves: ['STREAM-45'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-multi-node');
      const plain = await streamOf(context, runId);

      const events = await streamOf(context, runId, '?bufferMs=0');

      const names = events.map(({ name }) => name);
      context.expect.that(!names.includes('batch'), 'bufferMs=0 sends no batch', names);
      context.expect.equal(
        names,
        plain.map(({ name }) => name),
        'bufferMs=0 sends what a stream without it sends',
      );
    },
  },
  {
    id: 'streams/buffer-batches',
    title: 'batches carry the events that would have come singly',
    proves: ['STREAM-46'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-delay', { inputs: { delayMs: 400 } });

      const events = await streamOf(context, runId, '?bufferMs=100');

      mustBatch(context, events);
      for (const { name, data } of events)
        if (name === 'batch')
          expect.that(
            expect.array(data, 'the data of a batch is a list').length > 0,
            'a window without events sends no batch',
          );
      await expectUpdates(context, runId, events, 'batches send every update once and in order');
    },
  },
  {
    id: 'streams/buffer-batch-ids',
    title: 'a client can resume after a batch',
    proves: ['STREAM-47'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');
      await approve(context, runId);
      await runs.ended(runId);
      const all = await streamOf(context, runId, '?bufferMs=200');
      mustBatch(context, all);
      for (const event of all) {
        const highest = Math.max(...documentsOf(context, [event]).map(sequenceOf));

        expect.equal(event.id, String(highest), 'the id of a batch is the highest sequence in it');
        const headers = { 'last-event-id': String(event.id) };
        const rest = documentsOf(context, await streamOf(context, runId, '?bufferMs=200', headers));
        expect.equal(
          sequencesOf(rest),
          sequencesOf(documentsOf(context, all).filter((document) => sequenceOf(document) > highest)),
          'a stream resumed after a batch begins with the next event',
        );
      }
    },
  },
  {
    id: 'streams/buffer-flush-at-the-end',
    title: 'a terminal event is not held back',
    proves: ['STREAM-48'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const runId = await context.runs.create('conformance-delay', { inputs: { delayMs: 100 } });
      const stream = await openStream(context, runId, `?bufferMs=${WIDE_MS}`);

      const events = await readUntil(context, stream, 'run.completed');

      mustBatch(context, events);
      await readToEnd(context, stream);
    },
  },
  {
    id: 'streams/buffer-flush-at-a-question',
    title: 'node.suspended is not held back',
    proves: ['STREAM-49'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const runId = await context.runs.create('conformance-approval');
      const stream = await openStream(context, runId, `?bufferMs=${WIDE_MS}`);

      const events = await readUntil(context, stream, 'node.suspended');

      mustBatch(context, events);
      await stream.close();
      await context.runs.cancel(runId);
    },
  },
];

/** A host may ignore the parameter; what is said about batches then does not concern it. */
function mustBatch({ notApplicable }: CheckContext, events: readonly StreamedEvent[]): void {
  if (!events.some(({ name }) => name === 'batch'))
    notApplicable('the host does not gather events (bufferMs)');
}

async function readUntil(
  context: CheckContext,
  stream: Awaited<ReturnType<typeof openStream>>,
  type: string,
): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  const until = performance.now() + NOT_HELD_MS;
  const claim = `${type} is sent at once, not when bufferMs has passed`;
  while (!typesOf(documentsOf(context, events)).includes(type)) {
    const event = await nextWithin(context, stream, claim, Math.max(0, until - performance.now()));
    context.expect.that(event !== undefined, claim, 'the end of the stream');
    if (event === undefined) return events;
    events.push(event);
  }
  return events;
}
