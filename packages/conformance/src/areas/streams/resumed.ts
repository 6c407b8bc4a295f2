import type { Check, CheckContext } from '../../suite/check.ts';
import { sequencesOf, typesOf } from '../events/log.ts';
import { chunkOf, statusOf, streamText } from './modes.ts';
import {
  approve,
  documentsOf,
  nextWithin,
  openStream,
  readToEnd,
  type StreamedEvent,
  streamOf,
  waitingRun,
} from './reading.ts';
import { expectUpdates, isUpdate } from './updates.ts';

export const STREAM_RESUME_CHECKS: readonly Check[] = [
  {
    id: 'streams/resume-after-each-event',
    title: 'a stream begins after Last-Event-ID',
    proves: ['STREAM-30'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-multi-node');
      const all = documentsOf(context, await streamOf(context, runId));
      for (const [index, { sequence }] of all.entries()) {
        const headers = { 'last-event-id': String(sequence) };

        const rest = documentsOf(context, await streamOf(context, runId, '', headers));

        context.expect.equal(
          sequencesOf(rest),
          sequencesOf(all.slice(index + 1)),
          `the stream begins after Last-Event-ID ${String(sequence)}`,
        );
      }
    },
  },
  {
    id: 'streams/resume-a-live-run',
    title: 'two connections to a live run send every event once',
    proves: ['STREAM-31'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { expect } = context;
      const { runId, events } = await waitingRun(context);
      const updates = events.filter(isUpdate);
      const first = await openStream(context, runId);
      const seen: StreamedEvent[] = [];
      while (seen.length < updates.length) {
        const event = await nextWithin(context, first, 'a stream begins with what has happened', 3_000);
        expect.that(event !== undefined, 'the stream of a run that waits stays open');
        if (event === undefined) return;
        seen.push(event);
      }
      await first.close();

      const headers = { 'last-event-id': String(seen.at(-1)?.id) };
      const second = await openStream(context, runId, '', { headers });
      await approve(context, runId);
      seen.push(...(await readToEnd(context, second)));

      await expectUpdates(
        context,
        runId,
        seen,
        'both connections together send every update once and in order',
      );
    },
  },
  {
    id: 'streams/resume-at-the-end',
    title: 'a stream resumed at the end is closed without an event',
    proves: ['STREAM-32'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');
      const last = (await context.runs.events(runId)).at(-1)?.['sequence'];
      for (const position of [Number(last), Number(last) + 1_000]) {
        const headers = { 'last-event-id': String(position) };

        const events = await streamOf(context, runId, '', headers);

        const types = typesOf(documentsOf(context, events));
        context.expect.that(
          types.length === 0,
          'a stream resumed at or past the terminal event sends nothing',
          types,
        );
      }
    },
  },
  {
    id: 'streams/resume-values',
    title: 'a resumed values stream begins with a fresh snapshot',
    proves: ['STREAM-21'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { expect } = context;
      const { runId, events } = await waitingRun(context);
      const headers = { 'last-event-id': String(events.at(-1)?.['sequence']) };
      const stream = await openStream(context, runId, '?streamMode=values', { headers });

      const claim = 'a resumed values stream begins with a fresh state.snapshot';
      const first = await nextWithin(context, stream, claim, 2_000);

      expect.equal(first?.name, 'state.snapshot', claim);
      expect.equal(statusOf(first), 'waiting-approval', 'that snapshot shows the run as it is');
      await approve(context, runId);
      const rest = await readToEnd(context, stream);
      expect.equal(
        statusOf(rest.at(-1)),
        'completed',
        'a resumed values stream continues to the final snapshot',
      );
    },
  },
  {
    id: 'streams/resume-debug',
    title: 'debug honours Last-Event-ID',
    proves: ['STREAM-33'],
    needs: { fixtures: ['conformance-multi-node'] },
    run: (context) => resumesInTheMiddle(context, 'debug', 'a debug stream begins after Last-Event-ID'),
  },
  {
    id: 'streams/resume-messages',
    title: 'messages honours Last-Event-ID',
    proves: ['STREAM-34'],
    needs: { fixtures: ['conformance-stream-text'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.endedRun('conformance-stream-text', streamText(0));
      const all = await streamOf(context, runId, '?streamMode=messages');
      expect.that(all.length > 2, 'messages sends chunks', all.length);
      const headers = { 'last-event-id': String(all[1]?.id) };

      const rest = await streamOf(context, runId, '?streamMode=messages', headers);

      expect.equal(
        rest.map((event) => chunkOf(context, event)['chunk']),
        all.slice(2).map((event) => chunkOf(context, event)['chunk']),
        'a messages stream begins after Last-Event-ID',
      );
    },
  },
  {
    id: 'streams/resume-mixed',
    title: 'mixed modes honour Last-Event-ID',
    proves: ['STREAM-35'],
    needs: { fixtures: ['conformance-multi-node'] },
    run: (context) =>
      resumesInTheMiddle(context, 'updates,debug', 'a stream of mixed modes begins after Last-Event-ID'),
  },
  {
    id: 'streams/malformed-last-event-id',
    title: 'a Last-Event-ID that is not a sequence loses no event',
    proves: ['STREAM-36'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const all = documentsOf(context, await streamOf(context, runId));
      for (const id of ['not-a-sequence', '1.5', '0x2', '99999999999999999999999']) {
        const headers = { 'last-event-id': id };
        const stream = await host.stream(`/v1/runs/${runId}/events`, { headers });

        expect.status(stream, 200, 400);
        if (stream.status === 400) {
          await stream.close();
          const accept = { ...headers, accept: 'text/event-stream' };
          const refusal = await host.request('GET', `/v1/runs/${runId}/events`, { headers: accept });
          expect.envelope(refusal, { status: 400 });
        } else if (/^\d+$/.test(id)) {
          // A number past every log: nothing newer is a right answer too.
          await readToEnd(context, stream);
        } else {
          expect.equal(
            sequencesOf(documentsOf(context, await readToEnd(context, stream))),
            sequencesOf(all),
            'a stream with a Last-Event-ID that is not a sequence begins with the first event',
          );
        }
      }
    },
  },
];

/** For modes that send the whole log. */
async function resumesInTheMiddle(context: CheckContext, modes: string, claim: string): Promise<void> {
  const runId = await context.runs.endedRun('conformance-multi-node');
  const log = await context.runs.events(runId);
  const middle = Math.floor(log.length / 2);
  const headers = { 'last-event-id': String(log[middle]?.['sequence']) };

  const rest = await streamOf(context, runId, `?streamMode=${modes}`, headers);

  context.expect.equal(sequencesOf(documentsOf(context, rest)), sequencesOf(log.slice(middle + 1)), claim);
}
