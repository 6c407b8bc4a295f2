import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { coreOf, isRising, sequencesOf, typesOf } from '../events/log.ts';
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
import { isUpdate } from './updates.ts';

const TOKENS = ['one', ' two', ' three', ' four'];
const USAGE = { promptTokens: 7, completionTokens: 4 };

export const STREAM_MODE_CHECKS: readonly Check[] = [
  {
    id: 'streams/all-four-modes',
    title: 'all four modes are served',
    proves: ['STREAM-17'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      for (const mode of ['updates', 'values', 'messages', 'debug']) {
        const stream = await host.stream(`/v1/runs/${runId}/events?streamMode=${mode}`);
        await stream.close();

        expect.equal(stream.status, 200, `the mode ${mode} is served`);
      }
    },
  },
  {
    id: 'streams/values-of-a-live-run',
    title: 'values sends a snapshot after each transition, and nothing else',
    proves: ['STREAM-18', 'STREAM-19'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, events: before } = await waitingRun(context);
      const stream = await openStream(context, runId, '?streamMode=values');
      const early: StreamedEvent[] = [];
      while (statusOf(early.at(-1)) !== 'waiting-approval') {
        const claim = 'values shows that the run waits';
        const event = await nextWithin(context, stream, claim, 3_000);
        expect.that(event !== undefined, claim, 'the end of the stream');
        if (event === undefined) return;
        early.push(event);
      }

      const read = await runs.snapshot(runId);
      const waiting = snapshotOf(early.at(-1));
      for (const name of ['runId', 'workflowId', 'variables', 'currentNodeId', 'channels'])
        expect.equal(
          waiting?.[name],
          read[name],
          `the state.snapshot of a run that waits has its ${name} as it is read`,
        );
      await approve(context, runId);
      const late = await readToEnd(context, stream);
      const log = await runs.events(runId);

      for (const { name } of [...early, ...late])
        expect.equal(name, 'state.snapshot', 'values sends state.snapshot alone');
      // Several snapshots of the waiting run may still have been on their way.
      const after = late.filter((event) => statusOf(event) !== 'waiting-approval').length;
      const transitions = log.slice(before.length).filter(isTransition).length;
      expect.that(
        after >= transitions,
        'values sends a snapshot after each transition',
        `${after} snapshots`,
        `${transitions} or more`,
      );
      expect.equal(statusOf(late.at(-1)), 'completed', 'the last snapshot shows that the run has ended');
    },
  },
  {
    id: 'streams/values-final-state',
    title: 'the last snapshot of a run is the run as it is read, and stands in no log',
    proves: ['STREAM-19', 'STREAM-20'],
    needs: { fixtures: ['conformance-identity'] },
    async run(context) {
      const { runs, expect, unique } = context;
      const inputs = { payload: { text: unique(), list: [1, { deep: true }] } };
      const runId = await context.runs.endedRun('conformance-identity', { inputs });
      const run = await runs.snapshot(runId);

      const events = await streamOf(context, runId, '?streamMode=values');

      const final = snapshotOf(events.at(-1));
      expect.that(final !== undefined, 'a values stream sends a snapshot', events.length);
      for (const name of ['runId', 'workflowId', 'status', 'variables', 'nodeStates', 'channels', 'error'])
        expect.equal(
          final?.[name],
          run[name],
          `the last state.snapshot has the member ${name} of the run as it is read`,
        );
      const kept = typesOf(await runs.events(runId)).filter((type) => type === 'state.snapshot');
      expect.that(kept.length === 0, 'no state.snapshot is in the log', kept);
    },
  },
  {
    id: 'streams/messages-of-streamed-text',
    title: 'messages sends the chunks of streamed text, in order, and nothing else',
    proves: ['STREAM-22', 'STREAM-24', 'STREAM-25', 'STREAM-26'],
    needs: { fixtures: ['conformance-stream-text'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-stream-text', streamText(20));

      const events = await streamOf(context, runId, '?streamMode=messages');

      for (const { name } of events)
        expect.equal(name, 'ai.message.chunk', 'messages sends ai.message.chunk alone');
      const chunks = events.map((event) => chunkOf(context, event));
      for (const chunk of chunks) {
        expect.string(chunk['nodeId'], 'a chunk has a nodeId');
        expect.equal(chunk['runId'], runId, 'a chunk has the runId of its run');
        expect.that(typeof chunk['chunk'] === 'string', 'a chunk has the text chunk', chunk['chunk']);
        expect.that(typeof chunk['isLast'] === 'boolean', 'a chunk has the boolean isLast', chunk['isLast']);
      }
      expect.equal(
        chunks.map(({ chunk }) => chunk),
        TOKENS,
        'there is one chunk for each token, in the order of the tokens',
      );
      expect.equal(
        chunks.map(({ isLast }) => isLast),
        TOKENS.map((_, index) => index === TOKENS.length - 1),
        'isLast is true for the last chunk alone',
      );
      const meta = expect.object(chunks.at(-1)?.['meta'], 'the last chunk has a meta');
      expect.equal(meta['finishReason'], 'length', 'the last chunk has the finish reason of the call');
      const usage = expect.object(meta['usage'], 'the last chunk has the usage of the call');
      for (const [name, tokens] of Object.entries(USAGE))
        expect.equal(usage[name], tokens, `the usage of the last chunk has the ${name} of the call`);
      expect.equal((await runs.ended(runId))['status'], 'completed', 'a run that streamed text completes');
    },
  },
  {
    id: 'streams/messages-without-text',
    title: 'a messages stream of a run without AI nodes is empty until it is closed',
    proves: ['STREAM-23'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const runId = await context.runs.create('conformance-delay', { inputs: { delayMs: 200 } });

      const events = await streamOf(context, runId, '?streamMode=messages');

      const names = events.map(({ name }) => name);
      context.expect.that(names.length === 0, 'messages of a run without AI nodes sends no event', names);
      const run = await context.runs.snapshot(runId);
      context.expect.equal(run['status'], 'completed', 'a messages stream is closed when the run has ended');
    },
  },
  {
    id: 'streams/unknown-mock-provider',
    title: 'a mock provider that does not exist is rejected',
    proves: ['STREAM-27'],
    needs: { fixtures: ['conformance-stream-text'] },
    async run({ runs, expect, unique }) {
      const configurable = { mockProvider: { id: unique('no-such-provider') } };

      const answer = await runs.tryCreate('conformance-stream-text', { configurable });

      expect.envelope(answer, { status: 400, code: 'unsupported_mock_provider' });
    },
  },
  {
    id: 'streams/debug-is-the-log',
    title: 'debug sends the whole log',
    proves: ['STREAM-28'],
    needs: { fixtures: ['conformance-multi-node', 'conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId: waiting } = await waitingRun(context);
      await approve(context, waiting);
      await runs.ended(waiting);
      for (const runId of [waiting, await context.runs.endedRun('conformance-multi-node')]) {
        const log = await runs.events(runId);

        const documents = documentsOf(context, await streamOf(context, runId, '?streamMode=debug'));

        expect.equal(
          documents.map(coreOf),
          log.map(coreOf),
          'debug sends every event of the log, and no other',
        );
        expect.that(
          typesOf(documents).includes('node.started'),
          'debug sends what updates leaves out',
          typesOf(documents),
        );
      }
    },
  },
  {
    id: 'streams/mixed-modes',
    title: 'mixed modes send what any of them sends, in order and once',
    proves: ['STREAM-41', 'STREAM-42'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const log = await runs.events(runId);

      const mixed = await streamOf(context, runId, '?streamMode=updates,debug');
      const quiet = await streamOf(context, runId, '?streamMode=updates,messages');

      const documents = documentsOf(context, mixed);
      expect.equal(
        sequencesOf(documents),
        sequencesOf(log),
        'updates,debug sends every event of the log once and in order',
      );
      expect.equal(
        sequencesOf(documentsOf(context, quiet).filter(isUpdate)),
        sequencesOf(log.filter(isUpdate)),
        'updates,messages of a run without AI nodes sends its updates',
      );
      expect.equal(
        mixed.map(({ name }) => name),
        typesOf(documents),
        'the event of a frame in mixed modes is the type of its event',
      );
    },
  },
  {
    id: 'streams/mixed-messages',
    title: 'updates and messages in one stream send both',
    proves: ['STREAM-43'],
    needs: { fixtures: ['conformance-stream-text'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.endedRun('conformance-stream-text', streamText(0));
      const log = await runs.events(runId);

      const events = await streamOf(context, runId, '?streamMode=updates,messages');

      const documents = events.map((event) => documentOf(context, event));
      const texts = documents.map(textOf).filter((text) => text !== undefined);
      expect.equal(texts, TOKENS, 'updates,messages sends every chunk once');
      expect.equal(
        sequencesOf(documents.filter(isUpdate)),
        sequencesOf(log.filter(isUpdate)),
        'updates,messages sends every update once',
      );
      const ids = events.map(({ id }) => Number(id));
      expect.that(isRising(ids), 'mixed modes keep the order of the log', ids);
    },
  },
  {
    id: 'streams/mixed-subscribers',
    title: 'subscribers of different modes do not disturb each other',
    proves: ['STREAM-12'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId } = await waitingRun(context);
      const [updates, debug, values] = await Promise.all([
        openStream(context, runId, '?streamMode=updates'),
        openStream(context, runId, '?streamMode=debug'),
        openStream(context, runId, '?streamMode=values'),
      ]);

      await approve(context, runId);
      const [seen, all, states] = await Promise.all([
        readToEnd(context, updates),
        readToEnd(context, debug),
        readToEnd(context, values),
      ]);

      const log = await runs.events(runId);
      expect.equal(
        sequencesOf(documentsOf(context, seen).filter(isUpdate)),
        sequencesOf(log.filter(isUpdate)),
        'a subscriber of updates next to others gets every update',
      );
      expect.equal(
        sequencesOf(documentsOf(context, all)),
        sequencesOf(log),
        'a subscriber of debug next to others gets every event',
      );
      expect.equal(
        statusOf(states.at(-1)),
        'completed',
        'a subscriber of values next to others gets the end',
      );
    },
  },
];

/** Options of a run that streams these tokens. */
export function streamText(delayMsPerToken: number): object {
  const config = { tokens: TOKENS, delayMsPerToken, finishReason: 'length', usage: USAGE };
  return { configurable: { mockProvider: { id: 'stream-text', config } } };
}

/** The payload of a chunk stands alone or in an event document. */
export function chunkOf(context: Pick<CheckContext, 'expect'>, event: StreamedEvent): JsonObject {
  const document = documentOf(context, event);
  return isJsonObject(document['payload']) ? document['payload'] : document;
}

function textOf(document: JsonObject): unknown {
  const { payload } = document;
  const chunk = isJsonObject(payload) ? payload['chunk'] : undefined;
  return chunk ?? document['chunk'];
}

export function snapshotOf(event: StreamedEvent | undefined): JsonObject | undefined {
  if (event === undefined || !isJsonObject(event.data)) return undefined;
  const { payload } = event.data;
  return isJsonObject(payload) ? payload : event.data;
}

export function statusOf(event: StreamedEvent | undefined): unknown {
  return snapshotOf(event)?.['status'];
}

/** What changes the state that a snapshot shows: a run's or a node's, as opposed to events about a question. */
function isTransition({ type }: JsonObject): boolean {
  return isUpdate({ type: type ?? null }) && /^(run|node)\./.test(String(type));
}
