import { AnnotationNoticeSchema, RUN_ANNOTATED, showsAnnotations } from '../documents/annotations.ts';
import { BatchSchema, SENT_BATCH, SENT_CHUNK, SENT_SNAPSHOT } from '../documents/event-stream.ts';
import { RunSnapshotSchema } from '../documents/runs.ts';
import type { EventRow } from '../events/catalogue/row.ts';
import { OutputChunkSchema } from '../events/catalogue/state.ts';
import { WEFT_EVENTS } from '../events/catalogue/weft.ts';
import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { RunEventDocSchema } from '../events/events.ts';
import { STREAM_MODES, type StreamMode } from '../events/stream-mode-names.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { ENDPOINTS } from '../routes/endpoints.ts';
import { type Bundle, createBundle } from './bundle.ts';
import { CORPUS_VERSION } from './corpus-version.ts';

const EVENTS: readonly EventRow[] = [...EVENT_CATALOGUE, ...WEFT_EVENTS];
const CHUNK = 'output.chunk';

const SUMMARIES: Readonly<Record<StreamMode, string>> = {
  updates: 'What has become of the run and its nodes: the events that most readers want.',
  values: 'A snapshot of the run after each event that changes it. Cannot be mixed with other modes.',
  messages: 'Text as it is streamed by nodes.',
  debug: 'Every event of the log, those of the host included.',
};

/** The AsyncAPI 3.1 description of what a run's event stream sends: a channel for each stream mode, and one for mixtures. */
export function asyncApiDocument(): JsonObject {
  const bundle = createBundle('#/components/schemas/');
  const modes = STREAM_MODES.map((mode): [string, readonly string[]] => [mode, sentIn(mode)]);
  const mixable = STREAM_MODES.filter((mode) => mode !== 'values');
  const channels: readonly (readonly [string, readonly string[]])[] = [
    ...modes,
    ['mixed', [...new Set(mixable.flatMap(sentIn))]],
  ];
  const payloads = payloadSchemas(bundle);
  const sent = messages(bundle);
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'Weft event streams',
      version: CORPUS_VERSION,
      description:
        'Events of runs as server-sent events. The id of an event is its sequence, `event` its type, `data` the document below. ' +
        'A reader that was cut off sends the last id as Last-Event-ID and gets what came after it. With `bufferMs` several events ' +
        'come as one `batch`. Idle streams carry comments, which are no messages.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      host: {
        host: '{host}',
        protocol: 'http',
        variables: { host: { default: '127.0.0.1:7878', description: 'Where the host listens.' } },
        security: [{ $ref: '#/components/securitySchemes/bearer' }],
      },
    },
    channels: Object.fromEntries(channels.map(([name, types]) => [name, channel(name, types)])),
    operations: Object.fromEntries(channels.map(([name, types]) => [`send-${name}`, operation(name, types)])),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { ...bundle.components(), ...payloads },
      messages: sent,
    },
  };
}

/** Names of the messages of a stream mode; batches may come in each. */
function sentIn(mode: StreamMode): readonly string[] {
  if (mode === 'values') return [SENT_SNAPSHOT, SENT_BATCH];
  const types = EVENTS.filter(({ modes }) => modes.includes(mode)).map(({ type }) => type);
  const sent = mode === 'messages' ? types.map((type) => (type === CHUNK ? SENT_CHUNK : type)) : types;
  return [...sent, ...(showsAnnotations([mode]) ? [RUN_ANNOTATED] : []), SENT_BATCH];
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

function payloadSchemas(bundle: Bundle): JsonObject {
  const entries = EVENTS.filter(({ type }) => type !== CHUNK).map(({ type, payload }): [string, Json] => [
    `payload.${type}`,
    bundle.body(payload),
  ]);
  return Object.fromEntries(entries);
}

function messages(bundle: Bundle): JsonObject {
  const event = bundle.schema(RunEventDocSchema);
  const chunk = bundle.schema(OutputChunkSchema);
  const ofEvents = EVENTS.map(({ type, summary }): [string, Json] => {
    const payload = type === CHUNK ? chunk : { $ref: `#/components/schemas/payload.${type}` };
    const properties = { type: { const: type }, payload };
    const narrowed = { type: 'object', required: ['type', 'payload'], properties };
    return [type, { name: type, summary, payload: { allOf: [event, narrowed] } }];
  });
  const others: readonly (readonly [name: string, summary: string, payload: Json])[] = [
    // Stored as an event; sent alone, under another name.
    [SENT_CHUNK, 'Text of a node, as it is streamed.', chunk],
    [SENT_SNAPSHOT, 'The run as it is after an event.', bundle.schema(RunSnapshotSchema)],
    [
      RUN_ANNOTATED,
      'An annotation was made. In no log, and without an id.',
      bundle.schema(AnnotationNoticeSchema),
    ],
    [SENT_BATCH, 'What came within `bufferMs`, in order.', bundle.schema(BatchSchema)],
  ];
  return Object.fromEntries([
    ...ofEvents,
    ...others.map(([name, summary, payload]): [string, Json] => [name, { name, summary, payload }]),
  ]);
}
