import {
  compileClientSchema,
  EVENT_TYPES,
  HostError,
  INTERRUPT_KINDS,
  isJsonObject,
  type Json,
  type JsonObject,
  RUN_STATUSES,
  VENDOR_TYPE_PATTERN,
  WorkBudget,
} from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check } from '../../suite/check.ts';
import { readDiscovery } from '../discovery/document.ts';
import { DOCUMENTED_BODIES, UNDECLARED_BODY } from './bodies.ts';

const UNIVERSAL_KINDS = ['clarification.request', 'schema.request', 'schema.response', 'error'];
const vendorType = new RegExp(VENDOR_TYPE_PATTERN);
const TERMINAL = ['completed', 'failed', 'cancelled'];

export const LIVE_SHAPE_CHECKS: readonly Check[] = [
  {
    id: 'wire-shape/create-run',
    title: 'a request with members of both halves is accepted',
    proves: ['WIRE-4', 'WIRE-39'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect, unique }) {
      const runId = await runs.create('conformance-noop', {
        inputs: {},
        scopeId: unique('scope'),
        configurable: {},
        tags: ['conformance'],
        metadata: { 'acme.note': { ticket: 'T-1' } },
      });

      expect.that(runId.length <= 128, 'a run id has at most 128 characters', runId);
      const snapshot = await runs.ended(runId);
      expect.equal(snapshot['runId'], runId, 'the run can be read under its id');
    },
  },
  {
    id: 'wire-shape/openapi-create-run',
    title: 'the schema of createRun in the host’s OpenAPI document can be satisfied',
    proves: ['WIRE-5'],
    async run(context) {
      const { expect } = context;
      const answer = await context.host.request('GET', '/v1/openapi.json', { key: null });
      expect.status(answer, 200);
      const document = expect.object(answer.json, 'openapi.json is a JSON object');

      const accepts = createRunSchemaOf(document);
      // One that is not described there, or too large to be evaluated, is not wrong.
      if (accepts === undefined) return;
      for (const body of DOCUMENTED_BODIES)
        expect.that(accepts(body), `createRun as described accepts ${JSON.stringify(body)}`);
      expect.that(!accepts(UNDECLARED_BODY), 'createRun as described does not accept an undeclared member');
    },
  },
  {
    id: 'wire-shape/cancelling',
    title: 'a run being cancelled has statuses of the protocol',
    proves: ['WIRE-7'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run({ runs, expect, eventually }) {
      const runId = await runs.create('conformance-cancellable', { inputs: { delayMs: 30_000 } });
      await runs.reaches(runId, 'running');
      const answer = await runs.cancel(runId);

      expect.status(answer, 200);
      const cancelled = expect.object(answer.json, 'a cancel is answered with an object');
      const said = String(cancelled['status']);
      expect.that(
        said === 'cancelled' || said === 'cancelling',
        'a cancel is answered with cancelled or cancelling',
        said,
      );
      await eventually('the run is cancelled in the end', async () => {
        const { status } = await runs.snapshot(runId);
        const known: readonly string[] = RUN_STATUSES;
        expect.that(
          known.includes(String(status)),
          'the status of a snapshot is one of the protocol',
          status,
        );
        return TERMINAL.includes(String(status)) ? true : undefined;
      });
      const { status } = await runs.snapshot(runId);
      expect.equal(status, 'cancelled', 'a run that was cancelled while it waited ends as cancelled');
    },
  },
  {
    id: 'wire-shape/event-types',
    title: 'stored events have types of the catalogue or of vendors',
    proves: ['WIRE-10', 'WIRE-16'],
    needs: { fixtures: ['conformance-approval'] },
    async run({ runs, expect }) {
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');
      expect.status(await runs.resolve(runId, 'gate', { action: 'accept' }), 200);
      await runs.ended(runId);
      const events = await runs.events(runId);

      for (const event of events) {
        const type = expect.string(event['type'], 'an event has a type');
        expect.that(
          EVENT_TYPES.includes(type) || vendorType.test(type),
          'the type of an event is of the catalogue or of the form of vendors',
          type,
        );
      }
      for (const kind of kindsOf(events)) {
        const kinds: readonly string[] = INTERRUPT_KINDS;
        expect.that(kinds.includes(kind), 'the kind of an interrupt is one of the eight', kind);
      }
    },
  },
  {
    id: 'wire-shape/streamed-events',
    title: 'a streamed event is the document that polling shows',
    proves: ['WIRE-36'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run({ host, runs, expect }) {
      const runId = await runs.endedRun('conformance-multi-node');
      const polled = new Map((await runs.events(runId)).map((event) => [event['sequence'], core(event)]));
      const stream = await host.stream(`/v1/runs/${runId}/events`);
      expect.status(stream, 200);
      const frames = await stream.rest();

      expect.that(frames.length > 0, 'a stream of a run that has ended has events', frames.length);
      for (const { data } of frames) {
        const event = expect.object(parsed(data), 'the data of a streamed event is a JSON object');
        expect.equal(
          core(event),
          polled.get(event['sequence']),
          'a streamed event is the one that is polled',
        );
      }
    },
  },
  {
    id: 'wire-shape/chunks',
    title: 'chunks have their four members, and the last one says so',
    proves: ['WIRE-13'],
    needs: { fixtures: ['conformance-stream-text'] },
    async run({ host, runs, expect }) {
      const tokens = ['one', ' two', ' three'];
      const mockProvider = { id: 'stream-text', config: { tokens } };
      const runId = await runs.create('conformance-stream-text', { configurable: { mockProvider } });
      const stream = await host.stream(`/v1/runs/${runId}/events?streamMode=messages`);
      expect.status(stream, 200);
      const chunks = (await stream.rest())
        .filter(({ event }) => event === 'ai.message.chunk')
        .map(({ data }) => payloadOf(expect.object(parsed(data), 'a chunk is a JSON object')));

      expect.that(chunks.length > 0, 'a run that streams text sends chunks', chunks.length);
      for (const chunk of chunks) {
        expect.string(chunk['nodeId'], 'a chunk has a nodeId');
        expect.equal(chunk['runId'], runId, 'a chunk has the runId of its run');
        expect.that(typeof chunk['chunk'] === 'string', 'a chunk has the text chunk', chunk['chunk']);
        expect.that(typeof chunk['isLast'] === 'boolean', 'a chunk has the boolean isLast', chunk['isLast']);
      }
      const ends = chunks.map(({ isLast }) => isLast);
      expect.equal(ends.indexOf(true), ends.length - 1, 'the last chunk, and no other, is the last one');
      const text = chunks.map(({ chunk }) => String(chunk)).join('');
      expect.equal(text, tokens.join(''), 'the chunks together are the text');
    },
  },
  {
    id: 'wire-shape/universal-envelopes',
    title: 'a host that lists any envelope lists the universal ones',
    proves: ['WIRE-18'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);
      const listed = expect.array(discovery['supportedEnvelopes'], 'supportedEnvelopes is a list');

      const missing = UNIVERSAL_KINDS.filter((kind) => !listed.includes(kind));
      expect.equal(missing, [], 'supportedEnvelopes has the four universal kinds');
    },
  },
  {
    id: 'wire-shape/grpc-block',
    title: 'a grpc block has its shape',
    proves: ['WIRE-23'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);
      const grpc = expect.object(advertised(discovery, 'grpc'), 'grpc is an object');

      const { supported, service, tls, endpoint } = grpc;
      expect.that(typeof supported === 'boolean', 'grpc.supported is true or false', supported ?? 'nothing');
      expect.equal(service, 'openwop.v1.Engine', 'grpc.service is openwop.v1.Engine');
      expect.that(
        tls === 'required' || tls === 'optional' || tls === 'disabled',
        'grpc.tls is required, optional or disabled',
        tls ?? 'nothing',
      );
      if (endpoint !== undefined)
        expect.that(/^grpcs?:\/\//.test(String(endpoint)), 'grpc.endpoint is a grpc(s) address', endpoint);
      const transports = discovery['supportedTransports'];
      expect.that(
        supported !== true || (Array.isArray(transports) && transports.includes('grpc')),
        'supportedTransports has grpc where it is supported',
        transports ?? 'nothing',
      );
    },
  },
];

/** A test for bodies of `POST /v1/runs` as the document describes them. */
function createRunSchemaOf(document: JsonObject): ((body: JsonObject) => boolean) | undefined {
  const path = ['paths', '/v1/runs', 'post', 'requestBody', 'content', 'application/json', 'schema'];
  let schema: Json | undefined = document;
  for (const name of path) schema = isJsonObject(schema) ? schema[name] : undefined;
  if (!isJsonObject(schema)) return undefined;
  try {
    const validate = compileClientSchema({ ...schema, components: { schemas: schemasOf(document, schema) } });
    return (body) => validate(body, new WorkBudget()).length === 0;
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

const COMPONENT = /"#\/components\/schemas\/([^"/]+)/g;

/** The components that a schema leads to: those of the whole document are more than can be evaluated. */
function schemasOf({ components }: JsonObject, schema: JsonObject): JsonObject {
  const all = isJsonObject(components) && isJsonObject(components['schemas']) ? components['schemas'] : {};
  const found = new Map<string, Json>();
  const open: Json[] = [schema];
  for (const part of open) {
    for (const [, name = ''] of JSON.stringify(part).matchAll(COMPONENT)) {
      const named = all[name];
      if (named === undefined || found.has(name)) continue;
      found.set(name, named);
      open.push(named);
    }
  }
  return Object.fromEntries(found);
}

/** The members that every event document has. */
function core({ eventId, runId, type, payload, timestamp, sequence }: JsonObject) {
  return { eventId, runId, type, payload, timestamp, sequence };
}

/** The payload of an event, or the event itself where a host sends nothing around it. */
function payloadOf(event: JsonObject): JsonObject {
  return isJsonObject(event['payload']) ? event['payload'] : event;
}

function kindsOf(events: readonly JsonObject[]): string[] {
  return events
    .filter(({ type }) => type === 'interrupt.requested')
    .map(({ payload }) => String(isJsonObject(payload) ? payload['kind'] : undefined));
}

function parsed(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}
