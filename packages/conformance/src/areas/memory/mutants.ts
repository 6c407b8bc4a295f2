import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Mutant } from '../../mutants/mutant.ts';
import { objects, omit, payloadsOf, POLL, SNAPSHOT, without } from '../../mutants/polled-events.ts';

/** Changes one variable of every snapshot that has it. */
function variable(name: string, change: (value: Json) => Json) {
  return objects((snapshot) => {
    const variables = isJsonObject(snapshot['variables']) ? snapshot['variables'] : {};
    const value = variables[name];
    return value === undefined
      ? snapshot
      : { ...snapshot, variables: { ...variables, [name]: change(value) } };
  });
}

const asObject = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const ON_SNAPSHOT = { method: 'GET', path: SNAPSHOT };

export const MEMORY_MUTANTS: readonly Mutant[] = [
  {
    id: 'memory/entry-without-time',
    breaks: 'an entry does not say when it was written',
    caughtBy: ['memory/roundtrip'],
    says: /an entry of the memory has createdAt/,
    on: ON_SNAPSHOT,
    answer: variable('memoryReadback', (entry) => omit(asObject(entry), 'createdAt')),
  },
  {
    id: 'memory/entry-with-tenant',
    breaks: 'an entry names its tenant',
    caughtBy: ['memory/roundtrip'],
    says: /an entry of the memory has no other members/,
    on: ON_SNAPSHOT,
    answer: variable('memoryReadback', (entry) => ({ ...asObject(entry), tenant: 'default' })),
  },
  {
    id: 'memory/other-tenant-visible',
    breaks: 'the memory of another tenant can be read',
    caughtBy: ['memory/other-tenant'],
    says: /finds nothing in the memory of another tenant/,
    on: ON_SNAPSHOT,
    answer: variable('crossTenantProbe', () => [
      { id: 'm', content: 'theirs', tags: [], createdAt: '2026-01-01T00:00:00Z' },
    ]),
  },
  {
    id: 'memory/secret-remembered',
    breaks: 'a secret is remembered in clear',
    caughtBy: ['memory/redaction'],
    says: /a secret is replaced by \[REDACTED:ID\]/,
    on: ON_SNAPSHOT,
    answer: variable('memoryReadback', (entry) => ({ ...asObject(entry), content: 'the key is in clear' })),
  },
  {
    id: 'memory/expired-listed',
    breaks: 'an entry that has expired is listed',
    caughtBy: ['memory/expiry'],
    says: /no entry that has expired is listed/,
    on: ON_SNAPSHOT,
    answer: variable('memoryList', (list) =>
      (Array.isArray(list) ? list : []).map((entry) => ({
        ...asObject(entry),
        expiresAt: '2001-01-01T00:00:00Z',
      })),
    ),
  },
  {
    id: 'memory/write-not-recorded',
    breaks: 'memory.written is not in the log',
    caughtBy: ['memory/write-events'],
    says: /the log has memory\.written/,
    on: { path: POLL },
    answer: without('memory.written'),
  },
  {
    id: 'memory/write-with-content',
    breaks: 'memory.written has what was written',
    caughtBy: ['memory/write-events'],
    says: /does not have what was remembered/,
    on: { path: /^\/v1\/runs\/[^/:?]+(\/events\/poll.*)?$/ },
    answer(answer, request, memory) {
      const [, content] = /"content":"([^"]*)"/.exec(answer.body) ?? [];
      if (content !== undefined) memory.set('content', content);
      const leak = payloadsOf('memory.written', (payload) => ({
        ...payload,
        content: memory.get('content') ?? '',
      }));
      return leak(answer, request, memory);
    },
  },
  {
    id: 'memory/size-as-text',
    breaks: 'discovery has the size of an entry as a text',
    caughtBy: ['memory/discovery'],
    says: /memory\.maxEntrySizeBytes is an integer/,
    on: { path: /^\/\.well-known\/openwop$/ },
    answer: objects((body) => ({ ...body, memory: { supported: true, maxEntrySizeBytes: '64k' } })),
  },
];
