import type { TSchema } from 'typebox';
import { RunSnapshotSchema } from '../documents/runs.ts';
import type { EventRow } from '../events/catalogue/row.ts';
import { WEFT_EVENTS } from '../events/catalogue/weft.ts';
import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { RunEventDocSchema } from '../events/events.ts';
import { STREAM_MODES, type StreamMode } from '../events/stream-mode-names.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { ENDPOINTS } from '../routes/endpoints.ts';

export interface AsyncApiOptions {
  /** Version of the host. */
  readonly version?: string;
  /** Where it listens, as `host:port`. */
  readonly host?: string;
}

const EVENTS: readonly EventRow[] = [...EVENT_CATALOGUE, ...WEFT_EVENTS];
const CHUNK = 'output.chunk';
const SENT_CHUNK = 'ai.message.chunk';
const SNAPSHOT = 'state.snapshot';
const BATCH = 'batch';
const RUN_EVENT = { $ref: '#/components/schemas/RunEvent' };

const SUMMARIES: Readonly<Record<StreamMode, string>> = {
  updates: 'What has become of the run and its nodes: the events that most readers want.',
  values: 'A snapshot of the run after each event that changes it. Cannot be mixed with other modes.',
  messages: 'Text as it is streamed by nodes.',
  debug: 'Every event of the log, those of the host included.',
};

/** The AsyncAPI 3.1 description of what a run's event stream sends: a channel for each stream mode, and one for mixtures. */
export function asyncApiDocument({
  version = '0.1.0',
  host = '127.0.0.1:7878',
}: AsyncApiOptions = {}): JsonObject {
  const modes = STREAM_MODES.map((mode): [string, readonly string[]] => [mode, sentIn(mode)]);
  const mixable = STREAM_MODES.filter((mode) => mode !== 'values');
  const channels: readonly (readonly [string, readonly string[]])[] = [
    ...modes,
    ['mixed', [...new Set(mixable.flatMap(sentIn))]],
  ];
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'Weft event streams',
      version,
      description:
        'Events of runs as server-sent events. The id of an event is its sequence, `event` its type, `data` the document below. ' +
        'A reader that was cut off sends the last id as Last-Event-ID and gets what came after it. With `bufferMs` several events ' +
        'come as one `batch`. Idle streams carry comments, which are no messages.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      host: { host, protocol: 'http', security: [{ $ref: '#/components/securitySchemes/bearer' }] },
    },
    channels: Object.fromEntries(channels.map(([name, sent]) => [name, channel(name, sent)])),
    operations: Object.fromEntries(channels.map(([name, sent]) => [`send-${name}`, operation(name, sent)])),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: schemas(),
      messages: messages(),
    },
  };
}

/** Names of the messages of a stream mode; batches may come in each. */
function sentIn(mode: StreamMode): readonly string[] {
  if (mode === 'values') return [SNAPSHOT, BATCH];
  const types = EVENTS.filter(({ modes }) => modes.includes(mode)).map(({ type }) => type);
  const sent = mode === 'messages' ? types.map((type) => (type === CHUNK ? SENT_CHUNK : type)) : types;
  return [...sent, BATCH];
}

function channel(name: string, sent: readonly string[]): JsonObject {
  const isMode = (STREAM_MODES as readonly string[]).includes(name);
  const query = isMode ? `streamMode=${name}` : 'streamMode={modes}';
  return {
    address: `${ENDPOINTS.streamRunEvents.path}?${query}`,
    title: name,
    summary: isMode
      ? SUMMARIES[name as StreamMode]
      : 'Several modes at once, such as `updates,messages`: their events in one order.',
    parameters: {
      runId: { description: 'The run.' },
      ...(!isMode && {
        modes: { description: 'Two or three of updates, messages and debug, between commas.' },
      }),
    },
    messages: Object.fromEntries(sent.map((each) => [each, { $ref: `#/components/messages/${each}` }])),
  };
}

function operation(name: string, sent: readonly string[]): JsonObject {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${name}` },
    summary: `The host sends what ${name === 'mixed' ? 'the chosen modes show' : `\`${name}\` shows`}.`,
    messages: sent.map((each) => ({ $ref: `#/channels/${name}/messages/${each}` })),
  };
}

function schemas(): JsonObject {
  const payloads = EVENTS.map(({ type, payload }): [string, Json] => [`payload.${type}`, plain(payload)]);
  return {
    RunEvent: plain(RunEventDocSchema),
    RunSnapshot: plain(RunSnapshotSchema),
    ...Object.fromEntries(payloads),
  };
}

function messages(): JsonObject {
  const ofEvents = EVENTS.map(({ type, summary }): [string, Json] => [type, eventMessage(type, summary)]);
  const chunk = { $ref: `#/components/schemas/payload.${CHUNK}` };
  const snapshot = { $ref: '#/components/schemas/RunSnapshot' };
  return {
    ...Object.fromEntries(ofEvents),
    // Stored as an event; sent alone, under another name.
    [SENT_CHUNK]: { name: SENT_CHUNK, summary: 'Text of a node, as it is streamed.', payload: chunk },
    [SNAPSHOT]: { name: SNAPSHOT, summary: 'The run as it is after an event.', payload: snapshot },
    [BATCH]: {
      name: BATCH,
      summary: 'What came within `bufferMs`, in order.',
      payload: { type: 'array', minItems: 1, items: { anyOf: [RUN_EVENT, snapshot, chunk] } },
    },
  };
}

function eventMessage(type: string, summary: string): JsonObject {
  const properties = { type: { const: type }, payload: { $ref: `#/components/schemas/payload.${type}` } };
  return {
    name: type,
    summary,
    payload: { allOf: [RUN_EVENT, { type: 'object', required: ['type', 'payload'], properties }] },
  };
}

/** A schema as plain JSON, without what its builder keeps on it. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
