import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

const CORPUS_VERSION = /^1\.\d+\.\d+$/;
const CHUNK = 'ai.message.chunk';

/** RFC 0094 repaired the published documents; what a host publishes of its own is held to the same. */
export const DOCUMENT_CHECKS: readonly Check[] = [
  {
    id: 'wire-shape/openapi-info',
    title: 'the host’s OpenAPI document has the version of the corpus and says where the registry is',
    proves: ['WIRE-25', 'WIRE-27'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/v1/openapi.json', { key: null });

      expect.status(answer, 200);
      const document = expect.object(answer.json, 'openapi.json is a JSON object');
      const version = objectOf(document['info'])['version'];
      expect.that(
        CORPUS_VERSION.test(String(version)),
        'info.version of openapi.json is one of the corpus',
        version ?? 'nothing',
      );
      expect.that(
        JSON.stringify(document).includes('/v1/packs'),
        'openapi.json describes /v1/packs, or says that it does not',
      );
    },
  },
  {
    id: 'wire-shape/asyncapi-info',
    title: 'the host’s AsyncAPI document is of 3.1.0 and has the version of the corpus',
    proves: ['WIRE-25'],
    async run(context) {
      const document = await readAsyncApi(context);

      const { expect } = context;
      expect.equal(document['asyncapi'], '3.1.0', 'asyncapi.json is of AsyncAPI 3.1.0');
      const version = objectOf(document['info'])['version'];
      expect.that(
        CORPUS_VERSION.test(String(version)),
        'info.version of asyncapi.json is one of the corpus',
        version ?? 'nothing',
      );
    },
  },
  {
    id: 'wire-shape/asyncapi-channels',
    title:
      'the host’s AsyncAPI document has no invented address of heartbeats and says that modes can be mixed',
    proves: ['WIRE-26'],
    async run(context) {
      const document = await readAsyncApi(context);

      const { expect } = context;
      const channels = Object.entries(expect.object(document['channels'], 'asyncapi.json has channels'));
      const addressed = channels.filter(
        ([name, channel]) => /heartbeat/i.test(name) && typeof objectOf(channel)['address'] === 'string',
      );
      expect.equal(
        addressed.map(([name]) => name),
        [],
        'channels of heartbeats in asyncapi.json have no address',
      );
      expect.that(
        /updates,\s?messages|\bmixed\b/i.test(JSON.stringify(document)),
        'asyncapi.json says that stream modes can be mixed',
      );
    },
  },
  {
    id: 'wire-shape/asyncapi-chunk',
    title: 'the host’s AsyncAPI document refers to the one schema of chunks',
    proves: ['WIRE-14'],
    async run(context) {
      const document = await readAsyncApi(context);

      const messages = Object.values(objectOf(objectOf(document['components'])['messages']));
      const chunk = messages.map(objectOf).find(({ name }) => name === CHUNK);
      const { expect } = context;
      const { payload } = expect.object(chunk, `asyncapi.json has the message ${CHUNK}`);
      const reference = expect.string(
        objectOf(payload)['$ref'],
        `the payload of ${CHUNK} in asyncapi.json is a reference`,
      );
      const schema = resolve(document, reference);
      expect.equal(
        ['nodeId', 'runId', 'chunk', 'isLast'].filter((name) => !requiredOf(schema).includes(name)),
        [],
        `the schema of ${CHUNK} in asyncapi.json requires the four members`,
      );
    },
  },
];

/** Few hosts publish one, and none has to. */
async function readAsyncApi({ host, expect, notApplicable }: CheckContext): Promise<JsonObject> {
  const answer = await host.request('GET', '/v1/asyncapi.json', { key: null });
  if (answer.status !== 200) return notApplicable('the host does not serve /v1/asyncapi.json');
  return expect.object(answer.json, 'asyncapi.json is a JSON object');
}

function resolve(document: JsonObject, reference: string): Json | undefined {
  let part: Json | undefined = document;
  for (const name of reference.replace(/^#\//, '').split('/'))
    part = isJsonObject(part) ? part[name] : undefined;
  return part;
}

function requiredOf(schema: Json | undefined): readonly Json[] {
  const required = objectOf(schema)['required'];
  return Array.isArray(required) ? required : [];
}
