import type { Json, JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { ofType, payloadOf } from '../events/log.ts';

const ROUNDTRIP = 'conformance-agent-memory-roundtrip';
const CROSS_TENANT = 'conformance-agent-memory-cross-tenant';
const REDACTION = 'conformance-agent-memory-redaction';
const TTL = 'conformance-agent-memory-ttl';
const ENTRY_MEMBERS = ['id', 'content', 'tags', 'createdAt', 'expiresAt'];

async function variablesOf({ runs, expect }: CheckContext, workflowId: string): Promise<JsonObject> {
  const runId = await runs.create(workflowId);
  const ended = await runs.ended(runId);
  expect.equal(ended['status'], 'completed', 'a run that uses its memory completes');
  return expect.object(ended['variables'], 'the snapshot has variables');
}

function expectEntry({ expect }: CheckContext, value: Json | undefined): JsonObject {
  const entry = expect.object(value, 'an entry of the memory is an object');
  for (const name of ['id', 'content', 'createdAt'])
    expect.string(entry[name], `an entry of the memory has ${name}`);
  const tags = expect.array(entry['tags'], 'an entry of the memory has tags');
  for (const tag of tags) expect.string(tag, 'a tag is a text');
  const more = Object.keys(entry).filter((name) => !ENTRY_MEMBERS.includes(name));
  expect.equal(more, [], 'an entry of the memory has no other members');
  return entry;
}

export const MEMORY_CHECKS: readonly Check[] = [
  {
    id: 'memory/roundtrip',
    title: 'what an agent remembers can be read back',
    proves: ['MEM-1', 'MEM-2'],
    needs: { fixtures: [ROUNDTRIP] },
    async run(context) {
      const { memoryReadback } = await variablesOf(context, ROUNDTRIP);

      expectEntry(context, memoryReadback);
    },
  },
  {
    id: 'memory/other-tenant',
    title: 'the memory of another tenant is not to be seen',
    proves: ['MEM-3'],
    needs: { fixtures: [CROSS_TENANT] },
    async run({ runs, expect }) {
      const runId = await runs.create(CROSS_TENANT);

      const ended = await runs.ended(runId);

      expect.that(
        ['completed', 'failed'].includes(String(ended['status'])),
        'a run that asks for the memory of another tenant completes or fails',
        ended['status'],
      );
      const variables = objectOf(ended['variables']);
      expect.that(
        isEmpty(variables['crossTenantProbe']),
        'a run finds nothing in the memory of another tenant',
        variables['crossTenantProbe'],
      );
    },
  },
  {
    id: 'memory/redaction',
    title: 'no secret is remembered',
    proves: ['MEM-4'],
    needs: { fixtures: [REDACTION] },
    async run(context) {
      const { memoryReadback } = await variablesOf(context, REDACTION);

      const { content } = expectEntry(context, memoryReadback);
      context.expect.that(
        /\[REDACTED:[^\]]+\]/.test(String(content)),
        'a secret is replaced by [REDACTED:ID] in what is remembered',
      );
    },
  },
  {
    id: 'memory/expiry',
    title: 'entries that have expired are not listed',
    proves: ['MEM-5'],
    needs: { fixtures: [TTL] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create(TTL);
      const ended = await runs.ended(runId);

      const { memoryList } = expect.object(ended['variables'], 'the snapshot has variables');

      const entries = expect.array(memoryList, 'the memory is read as a list');
      // Compared with the host's own clock, at a time before which the list was read.
      const startedAt = Date.parse(String((await runs.events(runId))[0]?.['timestamp']));
      for (const value of entries) {
        const { expiresAt } = expectEntry(context, value);
        if (expiresAt === undefined) continue;
        expect.that(
          Date.parse(String(expiresAt)) > startedAt,
          'no entry that has expired is listed',
          expiresAt,
          `later than ${new Date(startedAt).toISOString()}`,
        );
      }
    },
  },
  {
    id: 'memory/write-events',
    title: 'writing to the memory is recorded without the content',
    proves: ['MEM-6'],
    needs: { fixtures: [ROUNDTRIP] },
    async run({ runs, expect }) {
      const runId = await runs.create(ROUNDTRIP);
      const ended = await runs.ended(runId);

      const events = await runs.events(runId);

      const written = ofType(events, 'memory.written').map(payloadOf);
      expect.that(
        written.length > 0,
        'the log has memory.written',
        events.map(({ type }) => type),
      );
      const variables = objectOf(ended['variables']);
      const entry = objectOf(variables['memoryReadback']);
      for (const payload of written) {
        expect.string(payload['memoryRef'], 'memory.written has a memoryRef');
        expect.string(payload['memoryId'], 'memory.written has a memoryId');
        const isSilent = !JSON.stringify(payload).includes(String(entry['content']));
        expect.that(isSilent, 'memory.written does not have what was remembered', Object.keys(payload));
      }
      const ids = written.map(({ memoryId }) => memoryId);
      expect.that(ids.includes(entry['id']), 'memory.written has the id of the entry', ids, entry['id']);
    },
  },
  {
    id: 'memory/discovery',
    title: 'discovery describes memory with the declared types',
    proves: ['MEM-7'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop', { key: null });

      expect.status(answer, 200);
      const discovery = expect.object(answer.json, 'discovery is an object');
      const memory = advertised(discovery, 'memory');
      if (memory === undefined) return;
      const block = expect.object(memory, 'memory is an object');
      for (const name of ['supported', 'ttlSupported', 'writable'])
        expect.that(
          ['boolean', 'undefined'].includes(typeof block[name]),
          `memory.${name} is a boolean`,
          block[name],
        );
      const { maxEntrySizeBytes } = block;
      if (maxEntrySizeBytes === undefined) return;
      const bytes = expect.integer(maxEntrySizeBytes, 'memory.maxEntrySizeBytes is an integer');
      expect.that(bytes > 0, 'memory.maxEntrySizeBytes is a count', bytes);
    },
  },
];

function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}
