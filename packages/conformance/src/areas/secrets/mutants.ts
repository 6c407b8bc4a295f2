import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { answered, payloads, repeatedEvents } from '../../mutants/answers.ts';
import type { Mutant, MutantMemory, ProxiedRequest } from '../../mutants/mutant.ts';
import { CREATE, DISCOVERY, POLL, RUNS, SNAPSHOT, SNAPSHOT_AND_POLL } from '../../mutants/targets.ts';

const SECRET = 'a secret that is in clear text';

/** Remembers what a run was created with. */
function remembersCreation(request: ProxiedRequest, memory: MutantMemory): ProxiedRequest {
  if (request.method === 'POST') {
    memory.set('body', JSON.parse(request.body) as Json);
    memory.set('headers', { ...request.headers });
  }
  return request;
}

function created(memory: MutantMemory, member: string): Json {
  const body = memory.get('body');
  return isJsonObject(body) ? (body[member] ?? null) : null;
}

/** Repeats a part of the request in the message of an error. */
function quotes(part: (request: ProxiedRequest) => string) {
  return answered((body, request) =>
    body['error'] === undefined ? body : { ...body, message: `Not accepted: ${part(request)}` },
  );
}

/** A snapshot that shows the hash of the text above in place of the true one. */
function showsHash(snapshot: JsonObject): JsonObject {
  const secretSha256 = createHash('sha256').update(SECRET).digest('hex');
  return { ...snapshot, variables: { 'resolve-secret': { secretSha256, secretLength: SECRET.length } } };
}

export const SECRETS_MUTANTS: readonly Mutant[] = [
  {
    id: 'secrets/no-scopes',
    breaks: 'discovery lists no scope of secrets',
    caughtBy: ['secrets/discovery'],
    says: /at least one scope/,
    on: DISCOVERY,
    answer: answered((body) => ({
      ...body,
      secrets: { supported: true, scopes: [], resolution: 'host-managed' },
    })),
  },
  {
    id: 'secrets/unknown-scope',
    breaks: 'discovery lists a scope that does not exist',
    caughtBy: ['secrets/discovery'],
    says: /secrets\.scopes has only/,
    on: DISCOVERY,
    answer: answered((body) => ({
      ...body,
      secrets: { supported: true, scopes: ['user', 'planet'], resolution: 'host-managed' },
    })),
  },
  {
    id: 'secrets/byok-of-unknown-provider',
    breaks: 'keys are taken for a provider that is not supported',
    caughtBy: ['secrets/byok-providers'],
    says: /aiProviders\.byok is a part of aiProviders\.supported/,
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, aiProviders: { supported: ['one'], byok: ['one', 'another'] } })),
  },
  {
    id: 'secrets/bearer-quoted',
    breaks: 'the refusal of a key repeats the key',
    caughtBy: ['secrets/refused-credential'],
    says: /does not appear in the answer that refuses it/,
    on: CREATE,
    answer: quotes(({ headers }) => String(headers['authorization'])),
  },
  {
    id: 'secrets/bearer-in-header',
    breaks: 'the refusal of a key repeats the key in a header',
    caughtBy: ['secrets/refused-credential'],
    says: /does not appear in the answer that refuses it/,
    on: CREATE,
    answer: (answer, { headers }) => ({
      ...answer,
      headers: { ...answer.headers, 'x-refused': String(headers['authorization']) },
    }),
  },
  {
    id: 'secrets/inputs-in-run-started',
    breaks: 'run.started has the inputs as they came',
    caughtBy: ['secrets/inputs-in-events'],
    says: /the shape of openai does not appear in the events/,
    on: RUNS,
    request: remembersCreation,
    answer: payloads('run.started', (payload, memory) => ({
      ...payload,
      inputs: created(memory, 'inputs'),
    })),
  },
  {
    id: 'secrets/only-known-shapes-masked',
    breaks: 'inputs are masked by two patterns, and others reach the log',
    caughtBy: ['secrets/more-inputs-in-events'],
    says: /the shape of google does not appear in the events/,
    on: RUNS,
    request: remembersCreation,
    answer: payloads('run.started', (payload, memory) => ({
      ...payload,
      inputs: JSON.stringify(created(memory, 'inputs')).replaceAll(/sk-[\w-]+/g, '[REDACTED]'),
    })),
  },
  {
    id: 'secrets/inputs-in-stream',
    breaks: 'the stream has the inputs as they came',
    caughtBy: ['secrets/inputs-in-streams'],
    says: /does not appear in the stream of updates/,
    on: RUNS,
    request: remembersCreation,
    frame: (event, memory) => [
      { ...event, data: `${event.data} ${JSON.stringify(created(memory, 'inputs'))}` },
    ],
  },
  {
    id: 'secrets/inputs-in-debug-stream',
    breaks: 'only the stream for debugging has the inputs as they came',
    caughtBy: ['secrets/inputs-in-streams'],
    says: /does not appear in the stream of debug/,
    on: RUNS,
    request(request, memory) {
      memory.set('isDebug', request.path.includes('streamMode=debug'));
      return remembersCreation(request, memory);
    },
    frame: (event, memory) =>
      memory.get('isDebug') === true
        ? [{ ...event, data: `${event.data} ${JSON.stringify(created(memory, 'inputs'))}` }]
        : [event],
  },
  {
    id: 'secrets/inputs-in-bundle',
    breaks: 'the debug bundle has the inputs as they came',
    caughtBy: ['secrets/inputs-in-bundle'],
    says: /does not appear in the debug bundle/,
    on: RUNS,
    request: remembersCreation,
    answer: (answer, request, memory) =>
      request.path.endsWith('/debug-bundle')
        ? answered((bundle) => ({ ...bundle, inputs: created(memory, 'inputs') }))(answer, request, memory)
        : answer,
  },
  {
    id: 'secrets/reference-in-run-started',
    breaks: 'run.started has the reference to a credential',
    caughtBy: ['secrets/credential-reference'],
    says: /the shape of credential does not appear in the events/,
    on: RUNS,
    request: remembersCreation,
    answer: payloads('run.started', (payload, memory) => ({
      ...payload,
      configurable: created(memory, 'configurable'),
    })),
  },
  {
    id: 'secrets/headers-in-snapshot',
    breaks: 'the snapshot has the headers of the request',
    caughtBy: ['secrets/headers'],
    says: /does not appear in the snapshot/,
    on: RUNS,
    request: remembersCreation,
    answer: answered((body, _request, memory) => ({ ...body, request: memory.get('headers') ?? null })),
  },
  {
    id: 'secrets/workflow-id-quoted',
    breaks: 'the error for an unknown workflow repeats its id',
    caughtBy: ['secrets/workflow-id'],
    says: /does not appear in the error for an unknown workflow/,
    on: CREATE,
    answer: quotes(({ body }) => body),
  },
  {
    id: 'secrets/run-id-quoted',
    breaks: 'the error for an unknown run repeats its id',
    caughtBy: ['secrets/other-errors'],
    says: /does not appear in the error for the id of a run/,
    on: { method: 'GET', path: /^\/v1\/runs\// },
    answer: quotes(({ path }) => path),
  },
  {
    id: 'secrets/broken-body-quoted',
    breaks: 'the error for a body that cannot be parsed repeats it',
    caughtBy: ['secrets/other-errors'],
    says: /does not appear in the error for a body that cannot be parsed/,
    on: CREATE,
    answer: quotes(({ body }) => body.slice(0, 100)),
  },
  {
    id: 'secrets/webhook-url-quoted',
    breaks: 'the error for the URL of a webhook repeats it',
    caughtBy: ['secrets/other-errors'],
    says: /does not appear in the error for the URL of a webhook/,
    on: { method: 'POST', path: /^\/v1\/webhooks$/ },
    answer: quotes(({ body }) => body),
  },
  {
    id: 'secrets/used-twice',
    breaks: 'the node that uses a secret completes twice',
    caughtBy: ['secrets/byok-roundtrip'],
    says: /completes exactly once/,
    on: POLL,
    answer: repeatedEvents((event) => event['type'] === 'node.completed'),
  },
  {
    id: 'secrets/hash-cut',
    breaks: 'the hash of a secret is cut',
    caughtBy: ['secrets/byok-roundtrip'],
    says: /64 lower-case hexadecimal digits/,
    on: SNAPSHOT,
    answer: answered((snapshot) => ({
      ...snapshot,
      variables: { 'resolve-secret': { secretSha256: 'abcdef', secretLength: 40 } },
    })),
  },
  {
    id: 'secrets/in-clear-in-events',
    breaks: 'an event has the secret in clear, in the middle of a sentence',
    caughtBy: ['secrets/byok-in-clear'],
    says: /the secret is not in clear text in the events/,
    on: SNAPSHOT_AND_POLL,
    answer(answer, request, memory) {
      if (!POLL.path.test(request.path)) return answered(showsHash)(answer, request, memory);
      const leak = payloads('node.completed', (payload) => ({
        ...payload,
        note: `It is ${SECRET}, as told.`,
      }));
      return leak(answer, request, memory);
    },
  },
  {
    id: 'secrets/in-clear-in-bundle',
    breaks: 'the debug bundle has the secret in clear',
    caughtBy: ['secrets/byok-in-clear'],
    says: /the secret is not in clear text in the debug bundle/,
    on: { method: 'GET', path: /^\/v1\/runs\/[^/:?]+(\/debug-bundle)?$/ },
    answer: answered((body, { path }) =>
      path.endsWith('/debug-bundle')
        ? { ...body, spans: [{ attributes: { key: SECRET } }] }
        : showsHash(body),
    ),
  },
  {
    id: 'secrets/plaintext-member',
    breaks: 'an event has a member named plaintext',
    caughtBy: ['secrets/byok-in-clear'],
    says: /no member of the events is named for a secret in clear/,
    on: POLL,
    answer: payloads('node.completed', (payload) => ({ ...payload, plaintext: 'x' })),
  },
];
