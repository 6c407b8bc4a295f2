import type { Json, JsonObject, SseEvent } from '@weft/protocol';
import { answered, answeredHeader, eachEvent, omit, status, withoutEvents } from '../../mutants/answers.ts';
import type { Mutant, MutantMemory } from '../../mutants/mutant.ts';
import { counted, ownersKey, sentHeader, sentPath } from '../../mutants/requests.ts';
import { CREATE, POLL, RUNS, STREAM } from '../../mutants/targets.ts';
import { objectOf, objectsOf } from '../../suite/json-shapes.ts';

export const STREAMS_MUTANTS: readonly Mutant[] = [
  {
    id: 'streams/wrong-content-type',
    breaks: 'a stream is said to be plain text',
    caughtBy: ['streams/default-mode'],
    says: /text\/event-stream/,
    on: STREAM,
    answer: answeredHeader('content-type', 'text/plain'),
  },
  {
    id: 'streams/debug-by-default',
    breaks: 'a stream without a mode is one of debug',
    caughtBy: ['streams/default-mode'],
    says: /sends what updates sends/,
    on: STREAM,
    request: sentPath((asked) => (asked.includes('?') ? asked : `${asked}?streamMode=debug`)),
  },
  {
    id: 'streams/node-started-in-updates',
    breaks: 'updates shows node.started',
    caughtBy: ['streams/updates-filter'],
    says: /leaves out events for debugging.*node\.started/,
    on: { method: 'GET', path: /streamMode=updates$/ },
    request: sentPath((asked) => asked.replace('updates', 'debug')),
  },
  {
    id: 'streams/lost-event',
    breaks: 'a stream loses an event',
    caughtBy: ['streams/updates-filter', 'streams/opened-at-once'],
    says: /every event of the log that is an update/,
    on: STREAM,
    frame: (event) => (/node\.(completed|failed)/.test(event.event) ? [] : [event]),
  },
  {
    id: 'streams/repeated-event',
    breaks: 'a stream sends an event twice',
    caughtBy: ['streams/framing', 'streams/updates-filter'],
    says: /in the order of their sequences, each once/,
    on: STREAM,
    frame: (event) => (event.event === 'node.completed' ? [event, event] : [event]),
  },
  {
    id: 'streams/swapped-events',
    breaks: 'a stream sends two events in the wrong order',
    caughtBy: ['streams/framing'],
    says: /in the order of their sequences/,
    on: STREAM,
    frame: (event, memory) => (event.event === 'node.completed' ? swapped(event, memory) : [event]),
  },
  {
    id: 'streams/event-id-as-id',
    breaks: 'frames have the eventId as their id',
    caughtBy: ['streams/framing'],
    says: /the id of an event is its sequence/,
    on: STREAM,
    frame: (event) => [{ ...event, id: String(documentOf(event)['eventId']) }],
  },
  {
    id: 'streams/unnamed-frames',
    breaks: 'frames do not say the type of their event',
    caughtBy: ['streams/framing'],
    says: /the event of a frame is the type/,
    on: STREAM,
    frame: (event) => [{ ...event, event: 'message' }],
  },
  {
    id: 'streams/payload-left-out',
    breaks: 'streamed events have no payload',
    caughtBy: ['streams/framing'],
    says: /equals the polled one/,
    on: STREAM,
    frame: (event) => [withDocument(event, (body) => omit(body, 'payload'))],
  },
  {
    id: 'streams/left-open',
    breaks: 'a stream stays open after the terminal event',
    caughtBy: ['streams/closes-after-failed'],
    says: /closes the stream after the terminal event/,
    on: STREAM,
    keepsStreamsOpen: true,
  },
  {
    id: 'streams/no-terminal-event',
    breaks: 'a stream is closed without its terminal event',
    caughtBy: ['streams/closes-after-failed', 'streams/closes-after-cancelled'],
    says: /the terminal event is the last/,
    on: STREAM,
    frame: (event) => (/^run\.(failed|cancelled)$/.test(event.event) ? [] : [event]),
  },
  {
    id: 'streams/cancelled-as-failed',
    breaks: 'a cancelled run ends its stream with run.failed',
    caughtBy: ['streams/closes-after-cancelled'],
    says: /the terminal event is the last.*run\.cancelled/,
    on: STREAM,
    frame: (event) =>
      event.event === 'run.cancelled'
        ? [
            withDocument({ ...event, event: 'run.failed' }, (document) => ({
              ...document,
              type: 'run.failed',
            })),
          ]
        : [event],
  },
  {
    id: 'streams/two-terminal-events',
    breaks: 'a stream ends with run.failed and run.completed',
    caughtBy: ['streams/closes-after-completed'],
    says: /one terminal event/,
    on: STREAM,
    frame: (event) =>
      event.event === 'run.completed'
        ? [withDocument(event, (document) => ({ ...document, type: 'run.failed' })), event]
        : [event],
  },
  {
    id: 'streams/one-subscriber-misses-an-event',
    breaks: 'the second subscriber of a run misses an event',
    caughtBy: ['streams/equal-subscribers'],
    says: /every subscriber of a run gets the same events/,
    on: STREAM,
    frame: (event, memory) =>
      event.event === 'node.completed' && counted(memory, 'node.completed') === 2 ? [] : [event],
  },
  {
    id: 'streams/question-not-shown',
    breaks: 'updates does not show interrupt.requested',
    caughtBy: ['streams/suspension'],
    says: /a run that waits shows interrupt\.requested/,
    on: STREAM,
    frame: (event) => (event.event === 'interrupt.requested' ? [] : [event]),
  },
  {
    id: 'streams/no-older-events',
    breaks: 'a question is reported by interrupt.requested alone',
    caughtBy: ['streams/older-question-events'],
    says: /approval\.requested/,
    on: STREAM,
    frame: (event) => (event.event.startsWith('approval.') ? [] : [event]),
  },
  {
    id: 'streams/pause-not-shown',
    breaks: 'updates does not show run.paused',
    caughtBy: ['streams/pause'],
    says: /shows run\.paused/,
    on: STREAM,
    frame: (event) => (event.event === 'run.paused' ? [] : [event]),
  },
  {
    id: 'streams/no-messages-mode',
    breaks: 'the host does not serve messages',
    caughtBy: ['streams/all-four-modes'],
    says: /the mode messages is served/,
    on: { path: /streamMode=messages/ },
    request: sentPath((asked) => asked.replace('messages', 'none')),
  },
  {
    id: 'streams/values-with-events',
    breaks: 'values sends events in place of snapshots',
    caughtBy: ['streams/values-final-state'],
    says: /the last state\.snapshot has the member/,
    on: STREAM,
    request: sentPath((asked) => asked.replace('values', 'debug')),
  },
  {
    id: 'streams/values-misses-a-transition',
    breaks: 'values sends no snapshot after a node completed',
    caughtBy: ['streams/values-of-a-live-run'],
    says: /a snapshot after each transition/,
    on: STREAM,
    frame: (event) => (documentOf(event)['status'] === 'running' ? [] : [event]),
  },
  {
    id: 'streams/values-unnamed',
    breaks: 'snapshots of values are not named state.snapshot',
    caughtBy: ['streams/values-of-a-live-run'],
    says: /state\.snapshot alone/,
    on: STREAM,
    frame: (event) => [{ ...event, event: 'snapshot' }],
  },
  {
    id: 'streams/snapshot-without-its-node',
    breaks: 'a snapshot of values does not say at which node the run waits',
    caughtBy: ['streams/values-of-a-live-run'],
    says: /has its currentNodeId as it is read/,
    on: STREAM,
    frame: (event) => [withDocument(event, (body) => omit(body, 'currentNodeId'))],
  },
  {
    id: 'streams/stale-final-snapshot',
    breaks: 'the last snapshot of values lacks the last write',
    caughtBy: ['streams/values-final-state'],
    says: /member variables/,
    on: STREAM,
    frame: (event) => [withDocument(event, (document) => ({ ...document, variables: {} }))],
  },
  {
    id: 'streams/snapshot-in-the-log',
    breaks: 'state.snapshot is kept in the log',
    caughtBy: ['streams/values-final-state'],
    says: /no state\.snapshot is in the log/,
    on: POLL,
    answer: eachEvent((event) => ({ ...event, type: 'state.snapshot' })),
  },
  {
    id: 'streams/messages-with-updates',
    breaks: 'messages sends other events too',
    caughtBy: ['streams/messages-of-streamed-text', 'streams/messages-without-text'],
    says: /ai\.message\.chunk alone/,
    on: STREAM,
    request: sentPath((asked) => asked.replace('messages', 'messages,updates')),
  },
  {
    id: 'streams/chunks-swapped',
    breaks: 'chunks come in the wrong order',
    caughtBy: ['streams/messages-of-streamed-text'],
    says: /in the order of the tokens/,
    on: STREAM,
    frame: (event, memory) =>
      documentOf(event)['isLast'] === true || memory.get('swapped') === true
        ? [event]
        : swapped(event, memory),
  },
  {
    id: 'streams/chunk-lost',
    breaks: 'a chunk is lost',
    caughtBy: ['streams/messages-of-streamed-text', 'streams/mixed-messages'],
    says: /one chunk for each token/,
    on: STREAM,
    frame: (event) => (documentOf(event)['chunk'] === ' two' ? [] : [event]),
  },
  {
    id: 'streams/every-chunk-is-last',
    breaks: 'every chunk says that it is the last',
    caughtBy: ['streams/messages-of-streamed-text'],
    says: /isLast is true for the last chunk alone/,
    on: STREAM,
    frame: (event) => [withDocument(event, (document) => ({ ...document, isLast: true }))],
  },
  {
    id: 'streams/chunk-without-run-id',
    breaks: 'a chunk does not say its run',
    caughtBy: ['streams/messages-of-streamed-text'],
    says: /a chunk has the runId/,
    on: STREAM,
    frame: (event) => [withDocument(event, (body) => omit(body, 'runId'))],
  },
  {
    id: 'streams/chunk-without-usage',
    breaks: 'the last chunk does not say the usage',
    caughtBy: ['streams/messages-of-streamed-text'],
    says: /usage of the call/,
    on: STREAM,
    frame: (event) => [
      withDocument(event, (document) =>
        document['isLast'] === true ? { ...document, meta: { finishReason: 'length' } } : document,
      ),
    ],
  },
  {
    id: 'streams/mock-provider-ignored',
    breaks: 'an unknown mock provider is ignored',
    caughtBy: ['streams/unknown-mock-provider'],
    says: /status 400/,
    on: CREATE,
    request: (request) => ({ ...request, body: JSON.stringify({ workflowId: 'conformance-noop' }) }),
  },
  {
    id: 'streams/debug-is-filtered',
    breaks: 'debug sends what updates sends',
    caughtBy: ['streams/debug-is-the-log', 'streams/mixed-subscribers'],
    says: /debug sends every event of the log/,
    on: STREAM,
    request: sentPath((asked) => asked.replace('debug', 'updates')),
  },
  {
    id: 'streams/mixed-events-twice',
    breaks: 'an event that two modes admit comes twice',
    caughtBy: ['streams/mixed-modes'],
    says: /every event of the log once/,
    on: { path: /streamMode=updates,debug/ },
    frame: (event) => (event.event === 'node.completed' ? [event, event] : [event]),
  },
  {
    id: 'streams/mixed-takes-the-first',
    breaks: 'of several modes the first one counts',
    caughtBy: ['streams/mixed-messages', 'streams/mixed-modes'],
    says: /sends every chunk once/,
    on: STREAM,
    request: sentPath((asked) => asked.replace(/,\w+/, '')),
  },
  {
    id: 'streams/mode-as-event-name',
    breaks: 'in mixed modes frames are named by the mode',
    caughtBy: ['streams/mixed-modes'],
    says: /in mixed modes is the type/,
    on: { path: /streamMode=updates,debug/ },
    frame: (event) => [{ ...event, event: 'debug' }],
  },
  {
    id: 'streams/last-event-id-ignored',
    breaks: 'Last-Event-ID is ignored',
    caughtBy: [
      'streams/resume-after-each-event',
      'streams/resume-a-live-run',
      'streams/resume-at-the-end',
      'streams/resume-debug',
      'streams/resume-messages',
      'streams/resume-mixed',
    ],
    says: /begins after Last-Event-ID/,
    on: STREAM,
    request: sentHeader('last-event-id', () => undefined),
  },
  {
    id: 'streams/resumption-point-again',
    breaks: 'a resumed stream sends the event of Last-Event-ID again',
    caughtBy: ['streams/resume-after-each-event', 'streams/resume-a-live-run', 'streams/resume-at-the-end'],
    says: /begins after Last-Event-ID/,
    on: STREAM,
    request: sentHeader('last-event-id', (id) => String(Number(id) - 1)),
  },
  {
    id: 'streams/resumption-skips-one',
    breaks: 'a resumed stream leaves out the event after Last-Event-ID',
    caughtBy: ['streams/resume-after-each-event', 'streams/resume-debug', 'streams/resume-mixed'],
    says: /begins after Last-Event-ID/,
    on: STREAM,
    request: sentHeader('last-event-id', (id) => String(Number(id) + 1)),
  },
  {
    id: 'streams/no-baseline-on-resume',
    breaks: 'a resumed values stream waits for the next transition',
    caughtBy: ['streams/resume-values'],
    says: /begins with a fresh state\.snapshot/,
    on: STREAM,
    frame: (event) => (documentOf(event)['status'] === 'waiting-approval' ? [] : [event]),
  },
  {
    id: 'streams/garbage-resumes-at-the-end',
    breaks: 'a Last-Event-ID that is not a sequence is taken for the end of the log',
    caughtBy: ['streams/malformed-last-event-id'],
    says: /begins with the first event/,
    on: STREAM,
    request: sentHeader('last-event-id', (id) => (/^\d+$/.test(id) ? id : '99999')),
  },
  {
    id: 'streams/garbage-breaks-the-host',
    breaks: 'a Last-Event-ID that is not a sequence is a 500',
    caughtBy: ['streams/malformed-last-event-id'],
    says: /status 200 or 400/,
    on: STREAM,
    answer: status(400, 500),
  },
  {
    id: 'streams/buffer-clamped',
    breaks: 'a bufferMs that is too large is lowered',
    caughtBy: ['streams/buffer-range'],
    says: /status 400/,
    on: STREAM,
    request: sentPath((asked) => asked.replace(/bufferMs=(5001|99999)/, 'bufferMs=5000')),
  },
  {
    id: 'streams/buffer-text-ignored',
    breaks: 'a bufferMs that is not a number is ignored',
    caughtBy: ['streams/buffer-range'],
    says: /status 400/,
    on: STREAM,
    request: sentPath((asked) => asked.replace(/bufferMs=(soon|-1)/, 'bufferMs=0')),
  },
  {
    id: 'streams/zero-gathers',
    breaks: 'bufferMs=0 gathers all the same',
    caughtBy: ['streams/buffer-zero'],
    says: /sends no batch/,
    on: STREAM,
    request: sentPath((asked) => asked.replace('bufferMs=0', 'bufferMs=100')),
  },
  {
    id: 'streams/batch-loses-an-event',
    breaks: 'a batch lacks its first event',
    caughtBy: ['streams/buffer-batches'],
    says: /send every update once|sends no batch/,
    on: STREAM,
    frame: (event) => [withBatch(event, (batch) => batch.slice(batch.length > 1 ? 1 : 0))],
  },
  {
    id: 'streams/empty-batches',
    breaks: 'a window without events sends an empty batch',
    caughtBy: ['streams/buffer-batches'],
    says: /without events sends no batch/,
    on: STREAM,
    frame: (event) => [event, { ...event, data: '[]' }],
  },
  {
    id: 'streams/batch-with-the-first-id',
    breaks: 'the id of a batch is the lowest sequence in it',
    caughtBy: ['streams/buffer-batch-ids'],
    says: /highest sequence/,
    on: STREAM,
    frame: (event) => [{ ...event, id: String(batchOf(event)[0]?.['sequence']) }],
  },
  {
    id: 'streams/question-held-back',
    breaks: 'node.suspended waits for the end of the window',
    caughtBy: ['streams/buffer-flush-at-a-question'],
    says: /node\.suspended is sent at once/,
    on: STREAM,
    frame: (event) => (event.data.includes('"node.suspended"') ? [] : [event]),
  },
  {
    id: 'streams/end-held-back',
    breaks: 'the terminal event waits for the end of the window',
    caughtBy: ['streams/buffer-flush-at-the-end'],
    says: /run\.completed is sent at once/,
    on: STREAM,
    frame: (event) => (event.data.includes('"run.completed"') ? [] : [event]),
    keepsStreamsOpen: true,
  },
  {
    id: 'streams/open-to-all',
    breaks: 'a stream needs no key',
    caughtBy: ['streams/needs-a-key', 'streams/order-of-validation'],
    says: /status 401/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'streams/open-to-other-tenants',
    breaks: 'a stream is given to a key of another tenant',
    caughtBy: ['streams/other-tenant'],
    says: /status 404 or 403/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'streams/unknown-mode-ignored',
    breaks: 'an unknown mode is taken for updates',
    caughtBy: ['streams/unknown-mode', 'streams/order-of-validation'],
    says: /status 400/,
    on: STREAM,
    request: sentPath((asked) => asked.replace('no-such-mode', 'updates')),
  },
  {
    id: 'streams/unknown-mode-with-another-code',
    breaks: 'an unknown mode has the code of any bad parameter',
    caughtBy: ['streams/unknown-mode'],
    says: /code is unsupported_stream_mode/,
    on: STREAM,
    answer: answered((body) => ({ ...body, error: 'validation_error' })),
  },
  {
    id: 'streams/no-supported-modes',
    breaks: 'the error does not list the modes',
    caughtBy: ['streams/unknown-mode'],
    says: /details/,
    on: STREAM,
    answer: answered((body) => ({ ...body, details: {} })),
  },
  {
    id: 'streams/supported-outside-details',
    breaks: 'the list of modes stands next to error and message',
    caughtBy: ['streams/unknown-mode'],
    says: /no members but error, message and details/,
    on: STREAM,
    answer: answered((body) => ({ ...body, supported: ['updates'] })),
  },
  {
    id: 'streams/values-mixed',
    breaks: 'values may be mixed with other modes',
    caughtBy: ['streams/values-alone'],
    says: /status 400/,
    on: STREAM,
    request: sentPath((asked) => asked.replace(/streamMode=(values,\w+|\w+,values)/, 'streamMode=updates')),
  },
  {
    id: 'streams/unknown-member-ignored',
    breaks: 'an unknown mode in a list is ignored',
    caughtBy: ['streams/unknown-mode-in-a-list'],
    says: /status 400/,
    on: STREAM,
    request: sentPath((asked) => asked.replace(/,no-such-mode|no-such-mode,/, '')),
  },
  {
    id: 'streams/json-is-filtered',
    breaks: 'a client of JSON gets the updates alone',
    caughtBy: ['streams/json-for-clients-without-streams'],
    says: /gets every event of the log/,
    on: STREAM,
    answer: withoutEvents('node.started'),
  },
  {
    id: 'streams/unknown-run-is-an-empty-stream',
    breaks: 'a run that does not exist has an empty stream',
    caughtBy: ['streams/unknown-run'],
    says: /status 404 or 403/,
    on: STREAM,
    answer: status(404, 200),
  },
];

/** Holds the first event back until the next one has passed. */
function swapped(event: SseEvent, memory: MutantMemory): readonly SseEvent[] {
  const held = memory.get('held');
  if (held === undefined) {
    memory.set('held', { ...event });
    return [];
  }
  memory.delete('held');
  memory.set('swapped', true);
  return [event, held as unknown as SseEvent];
}

function documentOf({ data }: SseEvent): JsonObject {
  return objectOf(JSON.parse(data) as Json);
}

function withDocument(event: SseEvent, change: (document: JsonObject) => JsonObject): SseEvent {
  return { ...event, data: JSON.stringify(change(documentOf(event))) };
}

function batchOf({ data }: SseEvent): JsonObject[] {
  return objectsOf(JSON.parse(data) as Json);
}

function withBatch(event: SseEvent, change: (batch: JsonObject[]) => JsonObject[]): SseEvent {
  return event.event === 'batch' ? { ...event, data: JSON.stringify(change(batchOf(event))) } : event;
}
