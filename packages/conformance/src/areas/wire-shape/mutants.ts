import { isJsonObject, type JsonObject } from '@weft/protocol';
import { answered, eachEvent, omit, payloads, refusal, replaces } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import {
  ASYNCAPI,
  CANCEL,
  CREATE,
  DISCOVERY,
  OPENAPI,
  POLL,
  SNAPSHOT,
  STREAM,
} from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

/** Describes another request body for `POST /v1/runs`. */
function describes(schema: JsonObject) {
  const operation = { requestBody: { content: { 'application/json': { schema } } }, responses: {} };
  return replaces('paths', { '/v1/runs': { post: operation } });
}

/** Says something else about the document. */
function info(change: JsonObject) {
  return answered((document) => ({ ...document, info: { ...objectOf(document['info']), ...change } }));
}

/** Describes streamed text in another way; the schema before the repair is there to be referred to. */
function chunkPayload(payload: JsonObject) {
  return answered((document) => {
    const components = objectOf(document['components']);
    const old = { type: 'object', required: ['nodeId', 'chunk'] };
    return {
      ...document,
      components: {
        ...components,
        schemas: { ...objectOf(components['schemas']), OldChunk: old },
        messages: { chunk: { name: 'ai.message.chunk', payload } },
      },
    };
  });
}

/** Changes the JSON of a streamed event. */
function frames(change: (data: JsonObject) => JsonObject): NonNullable<Mutant['frame']> {
  return (event) => [{ ...event, data: JSON.stringify(change(JSON.parse(event.data) as JsonObject)) }];
}

/** Changes what a chunk says, whether or not it stands in an event document. */
function chunks(change: (payload: JsonObject) => JsonObject): NonNullable<Mutant['frame']> {
  return frames((data) =>
    isJsonObject(data['payload']) ? { ...data, payload: change(data['payload']) } : change(data),
  );
}

/** The two halves of the request as they were before the repair: each closed alone, so that nothing fits both. */
const CLOSED_HALVES: JsonObject = {
  allOf: [
    {
      type: 'object',
      required: ['workflowId'],
      properties: { workflowId: { type: 'string' }, inputs: { type: 'object' } },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { configurable: { type: 'object' }, tags: { type: 'array' }, metadata: { type: 'object' } },
      additionalProperties: false,
    },
  ],
};

const DOCUMENT_MUTANTS: readonly Mutant[] = [
  {
    id: 'wire-shape/unsatisfiable-request',
    breaks: 'the described request for a run can be satisfied by nothing',
    caughtBy: ['wire-shape/openapi-create-run'],
    says: /createRun as described accepts/,
    on: OPENAPI,
    answer: describes(CLOSED_HALVES),
  },
  {
    id: 'wire-shape/open-request',
    breaks: 'the described request for a run takes anything',
    caughtBy: ['wire-shape/openapi-create-run'],
    says: /does not accept an undeclared member/,
    on: OPENAPI,
    answer: describes({ type: 'object' }),
  },
  {
    id: 'wire-shape/openapi-of-the-host',
    breaks: 'the OpenAPI document has the version of the host',
    caughtBy: ['wire-shape/openapi-info'],
    says: /version of openapi\.json is one of the corpus/,
    on: OPENAPI,
    answer: info({ version: '0.9' }),
  },
  {
    id: 'wire-shape/openapi-without-registry',
    breaks: 'the OpenAPI document does not say whether the registry is part of it',
    caughtBy: ['wire-shape/openapi-info'],
    says: /describes \/v1\/packs/,
    on: OPENAPI,
    answer: info({ description: 'A host.' }),
  },
  {
    id: 'wire-shape/old-asyncapi',
    breaks: 'the AsyncAPI document says 3.0.0 of itself',
    caughtBy: ['wire-shape/asyncapi-info'],
    says: /is of AsyncAPI 3\.1\.0/,
    on: ASYNCAPI,
    answer: replaces('asyncapi', '3.0.0'),
  },
  {
    id: 'wire-shape/asyncapi-of-the-host',
    breaks: 'the AsyncAPI document has the version of the host',
    caughtBy: ['wire-shape/asyncapi-info'],
    says: /version of asyncapi\.json is one of the corpus/,
    on: ASYNCAPI,
    answer: info({ version: '2026-05' }),
  },
  {
    id: 'wire-shape/addressed-heartbeats',
    breaks: 'the AsyncAPI document invents an address for heartbeats',
    caughtBy: ['wire-shape/asyncapi-channels'],
    says: /heartbeats in asyncapi\.json have no address/,
    on: ASYNCAPI,
    answer: answered((document) => ({
      ...document,
      channels: {
        ...objectOf(document['channels']),
        heartbeatEvents: { address: '/heartbeats/{heartbeatId}/events' },
      },
    })),
  },
  {
    id: 'wire-shape/unmixed-modes',
    breaks: 'the AsyncAPI document has modes one by one only',
    caughtBy: ['wire-shape/asyncapi-channels'],
    says: /modes can be mixed/,
    on: ASYNCAPI,
    answer: answered(({ asyncapi, info: about, channels }) => ({
      asyncapi: asyncapi ?? '',
      info: about ?? {},
      channels: { updates: { ...objectOf(objectOf(channels)['updates']) } },
    })),
  },
  {
    id: 'wire-shape/repeated-chunk',
    breaks: 'the AsyncAPI document repeats the schema of chunks',
    caughtBy: ['wire-shape/asyncapi-chunk'],
    says: /is a reference/,
    on: ASYNCAPI,
    answer: chunkPayload({ type: 'object', required: ['nodeId', 'runId', 'chunk', 'isLast'] }),
  },
  {
    id: 'wire-shape/chunk-of-two-members',
    breaks: 'the schema of chunks in the AsyncAPI document is the one before the repair',
    caughtBy: ['wire-shape/asyncapi-chunk'],
    says: /requires the four members/,
    on: ASYNCAPI,
    answer: chunkPayload({ $ref: '#/components/schemas/OldChunk' }),
  },
  {
    id: 'wire-shape/some-envelopes',
    breaks: 'one envelope is listed without the universal ones',
    caughtBy: ['wire-shape/universal-envelopes'],
    says: /four universal kinds/,
    on: DISCOVERY,
    answer: replaces('supportedEnvelopes', ['clarification.request']),
  },
  {
    id: 'wire-shape/own-grpc-service',
    breaks: 'gRPC is advertised with a service of the host’s own',
    caughtBy: ['wire-shape/grpc-block'],
    says: /grpc\.service/,
    on: DISCOVERY,
    answer: replaces('grpc', { supported: true, service: 'acme.Engine', tls: 'required' }),
  },
  {
    id: 'wire-shape/grpc-without-transport',
    breaks: 'gRPC is advertised, and not among the transports',
    caughtBy: ['wire-shape/grpc-block'],
    says: /supportedTransports has grpc/,
    on: DISCOVERY,
    answer: answered((discovery) => ({
      ...discovery,
      grpc: { supported: true, service: 'openwop.v1.Engine', tls: 'required' },
      supportedTransports: ['rest'],
    })),
  },
];

const RUN_MUTANTS: readonly Mutant[] = [
  {
    id: 'wire-shape/halves-exclude-each-other',
    breaks: 'a request with tags and inputs is refused',
    caughtBy: ['wire-shape/create-run'],
    says: /status 201/,
    on: CREATE,
    request: (request) =>
      request.body.includes('"tags"') && request.body.includes('"inputs"')
        ? { instead: refusal(400, 'validation_error') }
        : request,
  },
  {
    id: 'wire-shape/endless-run-id',
    breaks: 'run ids are longer than paths allow',
    caughtBy: ['wire-shape/create-run'],
    says: /at most 128 characters/,
    on: CREATE,
    answer: answered((body) => ({ ...body, runId: `${String(body['runId'])}-${'0'.repeat(128)}` })),
  },
  {
    id: 'wire-shape/own-status',
    breaks: 'a run being cancelled has a status of the host’s own',
    caughtBy: ['wire-shape/cancelling'],
    says: /status of a snapshot is one of the protocol/,
    on: SNAPSHOT,
    answer: answered((body) => (body['status'] === 'cancelled' ? { ...body, status: 'aborted' } : body)),
  },
  {
    id: 'wire-shape/cancel-says-ok',
    breaks: 'a cancel is answered with another status',
    caughtBy: ['wire-shape/cancelling'],
    says: /cancelled or cancelling/,
    on: CANCEL,
    answer: replaces('status', 'ok'),
  },
  {
    id: 'wire-shape/core-event',
    breaks: 'an event of the host’s own has a name that only the protocol gives',
    caughtBy: ['wire-shape/event-types'],
    says: /form of vendors/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'node.started' ? { ...event, type: 'core.begun' } : event,
    ),
  },
  {
    id: 'wire-shape/old-kind',
    breaks: 'interrupts have a kind that the protocol does not have',
    caughtBy: ['wire-shape/event-types'],
    says: /one of the eight/,
    on: POLL,
    answer: payloads('interrupt.requested', (payload) => ({ ...payload, kind: 'human' })),
  },
  {
    id: 'wire-shape/other-payload-on-streams',
    breaks: 'streamed events have less in their payload than polled ones',
    caughtBy: ['wire-shape/streamed-events'],
    says: /the one that is polled/,
    on: STREAM,
    frame: frames((data) => ({ ...data, payload: null })),
  },
  {
    id: 'wire-shape/payload-as-data',
    breaks: 'the data of a streamed event is its payload alone',
    caughtBy: ['wire-shape/streamed-events'],
    says: /the one that is polled/,
    on: STREAM,
    frame: frames((data) => objectOf(data['payload'])),
  },
  {
    id: 'wire-shape/chunk-without-run',
    breaks: 'chunks have no runId',
    caughtBy: ['wire-shape/chunks'],
    says: /runId of its run/,
    on: STREAM,
    frame: chunks((payload) => omit(payload, 'runId')),
  },
  {
    id: 'wire-shape/chunk-without-end',
    breaks: 'chunks do not say which of them is the last',
    caughtBy: ['wire-shape/chunks'],
    says: /boolean isLast/,
    on: STREAM,
    frame: chunks((payload) => omit(payload, 'isLast')),
  },
  {
    id: 'wire-shape/every-chunk-the-last',
    breaks: 'every chunk says that it is the last',
    caughtBy: ['wire-shape/chunks'],
    says: /and no other, is the last one/,
    on: STREAM,
    frame: chunks((payload) => ({ ...payload, isLast: true })),
  },
];

export const WIRE_SHAPE_MUTANTS: readonly Mutant[] = [...DOCUMENT_MUTANTS, ...RUN_MUTANTS];
