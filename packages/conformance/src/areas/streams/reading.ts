import { isJsonObject, type Json, type JsonObject, type SseEvent } from '@weft/protocol';
import type { CheckContext } from '../../suite/check.ts';
import type { EventStream, RequestOptions } from '../../suite/host-client.ts';
import { TERMINAL_STATUSES } from '../../suite/run-driver.ts';
import { TERMINAL_EVENTS } from '../events/log.ts';

/** A host that sends nothing for so long is taken to be stuck. */
const SILENCE_MS = 10_000;
/** How long a host may take to close after the terminal event. */
const CLOSE_MS = 2_000;
/** More than any run of the suite has. */
const MAX_EVENTS = 5_000;

/** One event of a stream with its data read as JSON. */
export interface StreamedEvent {
  readonly id: string | undefined;
  readonly name: string;
  readonly data: Json;
}

/**
 * Opens a stream that must be one. A host may lack every mode but `updates`; a check of another mode then does not concern it.
 */
export async function openStream(
  { host, expect, notApplicable }: CheckContext,
  runId: string,
  query = '',
  options: RequestOptions = {},
): Promise<EventStream> {
  const path = `/v1/runs/${runId}/events${query}`;
  const stream = await host.stream(path, options);
  if (stream.status === 400 && /values|messages|debug/.test(query)) {
    const refusal = await host.request('GET', path);
    if (isJsonObject(refusal.json) && refusal.json['error'] === 'unsupported_stream_mode')
      return notApplicable(`the host does not serve the stream mode of ${query}`);
  }
  expect.status(stream, 200);
  const type = stream.headers.get('content-type') ?? 'nothing';
  expect.that(type.startsWith('text/event-stream'), 'a stream has the type text/event-stream', type);
  return stream;
}

/** The next event, or nothing when the host has closed the stream; fails with the claim when neither comes in time. */
export async function nextWithin(
  { expect }: Pick<CheckContext, 'expect'>,
  stream: EventStream,
  claim: string,
  timeoutMs = SILENCE_MS,
): Promise<StreamedEvent | undefined> {
  const pending = stream.next();
  const event = await inTime(pending, timeoutMs);
  if (event === 'late') await stream.close();
  expect.that(event !== 'late', claim, `nothing for ${Math.round(timeoutMs)} ms`);
  return event === 'late' || event === undefined ? undefined : read(expect, event);
}

/** Every event until the host closes, which it must do soon after the terminal one. */
export async function readToEnd(
  context: Pick<CheckContext, 'expect'>,
  stream: EventStream,
): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  let isOver = false;
  while (events.length < MAX_EVENTS) {
    const claim = isOver
      ? 'the host closes the stream after the terminal event'
      : 'the stream sends events until the run has ended, and then its end';
    const event = await nextWithin(context, stream, claim, isOver ? CLOSE_MS : SILENCE_MS);
    if (event === undefined) return events;
    events.push(event);
    isOver ||= endsRun(event.data);
  }
  await stream.close();
  context.expect.that(false, 'the stream ends', `more than ${MAX_EVENTS} events`);
  return events;
}

/** Opens a stream and reads it to its end. */
export async function streamOf(
  context: CheckContext,
  runId: string,
  query = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamedEvent[]> {
  return readToEnd(context, await openStream(context, runId, query, { headers }));
}

export function documentOf({ expect }: Pick<CheckContext, 'expect'>, { data }: StreamedEvent): JsonObject {
  return expect.object(data, 'the data of an event is an object');
}

/** The events that frames carry, batches taken apart. */
export function documentsOf(
  { expect }: Pick<CheckContext, 'expect'>,
  events: readonly StreamedEvent[],
): JsonObject[] {
  return events.flatMap(({ name, data }) => {
    const list = name === 'batch' ? expect.array(data, 'the data of a batch is a list') : [data];
    return list.map((document) => expect.object(document, 'an event is an object'));
  });
}

/** A run that waits for approval, and the number of its last event. */
export async function waitingRun(
  context: CheckContext,
): Promise<{ readonly runId: string; readonly events: readonly JsonObject[] }> {
  const runId = await context.runs.create('conformance-approval');
  await context.runs.reaches(runId, 'waiting-approval');
  const events = await context.runs.eventsSoFar(runId);
  context.expect.that(events.length > 0, 'a run that waits has events');
  return { runId, events };
}

export async function approve({ runs, expect }: Pick<CheckContext, 'runs' | 'expect'>, runId: string) {
  expect.status(await runs.resolve(runId, 'gate', { action: 'accept' }), 200);
}

async function inTime(pending: Promise<SseEvent | undefined>, timeoutMs: number) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((done) => {
    timer = setTimeout(done, timeoutMs, 'late');
  });
  // A read that is given up on may still fail when the stream is closed.
  pending.catch(() => undefined);
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}

function read(expect: CheckContext['expect'], { id, event, data }: SseEvent): StreamedEvent {
  let parsed: Json | undefined;
  try {
    parsed = JSON.parse(data) as Json;
  } catch {
    parsed = undefined;
  }
  expect.that(parsed !== undefined, 'the data of an event is JSON', data);
  return { id, name: event, data: parsed ?? null };
}

function endsRun(data: Json): boolean {
  if (Array.isArray(data)) return data.some(endsRun);
  if (!isJsonObject(data)) return false;
  const { type, status } = data;
  return TERMINAL_EVENTS.includes(String(type)) || TERMINAL_STATUSES.includes(String(status));
}
