import type { Json } from '@weft/protocol';
import { answered, omit, payloads, variables, withoutEvents } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY, POLL, SNAPSHOT, SNAPSHOT_AND_POLL } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

/** Changes one variable of every snapshot that has it. */
function variable(name: string, change: (value: Json) => Json) {
  return variables((all) => (all[name] === undefined ? all : { ...all, [name]: change(all[name]) }));
}

export const MEMORY_MUTANTS: readonly Mutant[] = [
  {
    id: 'memory/entry-without-time',
    breaks: 'an entry does not say when it was written',
    caughtBy: ['memory/roundtrip'],
    says: /an entry of the memory has createdAt/,
    on: SNAPSHOT,
    answer: variable('memoryReadback', (entry) => omit(objectOf(entry), 'createdAt')),
  },
  {
    id: 'memory/entry-with-tenant',
    breaks: 'an entry names its tenant',
    caughtBy: ['memory/roundtrip'],
    says: /an entry of the memory has no other members/,
    on: SNAPSHOT,
    answer: variable('memoryReadback', (entry) => ({ ...objectOf(entry), tenant: 'default' })),
  },
  {
    id: 'memory/other-tenant-visible',
    breaks: 'the memory of another tenant can be read',
    caughtBy: ['memory/other-tenant'],
    says: /finds nothing in the memory of another tenant/,
    on: SNAPSHOT,
    answer: variable('crossTenantProbe', () => [
      { id: 'm', content: 'theirs', tags: [], createdAt: '2026-01-01T00:00:00Z' },
    ]),
  },
  {
    id: 'memory/secret-remembered',
    breaks: 'a secret is remembered in clear',
    caughtBy: ['memory/redaction'],
    says: /a secret is replaced by \[REDACTED:ID\]/,
    on: SNAPSHOT,
    answer: variable('memoryReadback', (entry) => ({ ...objectOf(entry), content: 'the key is in clear' })),
  },
  {
    id: 'memory/expired-listed',
    breaks: 'an entry that has expired is listed',
    caughtBy: ['memory/expiry'],
    says: /no entry that has expired is listed/,
    on: SNAPSHOT,
    answer: variable('memoryList', (list) =>
      (Array.isArray(list) ? list : []).map((entry) => ({
        ...objectOf(entry),
        expiresAt: '2001-01-01T00:00:00Z',
      })),
    ),
  },
  {
    id: 'memory/write-not-recorded',
    breaks: 'memory.written is not in the log',
    caughtBy: ['memory/write-events'],
    says: /the log has memory\.written/,
    on: POLL,
    answer: withoutEvents('memory.written'),
  },
  {
    id: 'memory/write-with-content',
    breaks: 'memory.written has what was written',
    caughtBy: ['memory/write-events'],
    says: /does not have what was remembered/,
    on: SNAPSHOT_AND_POLL,
    answer(answer, request, memory) {
      const [, content] = /"content":"([^"]*)"/.exec(answer.body) ?? [];
      if (content !== undefined) memory.set('content', content);
      const leak = payloads('memory.written', (payload) => ({
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
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, memory: { supported: true, maxEntrySizeBytes: '64k' } })),
  },
];
