import { isJsonObject } from '@weft/protocol';
import { answered, refusal, replaces, replyWith, status } from '../../mutants/answers.ts';
import type { Mutant, ProxiedAnswer, ProxiedRequest } from '../../mutants/mutant.ts';
import { ownersKey } from '../../mutants/requests.ts';
import { CANCEL, CREATE, RUNS, SNAPSHOT } from '../../mutants/targets.ts';

const ANY = /^\/v1\//;

function hasKey({ headers }: ProxiedRequest): boolean {
  return headers['authorization'] !== undefined;
}

/** The proxy knows the caller's own key from the first request that was let through. */
function remembersOwnKey(answer: ProxiedAnswer, request: ProxiedRequest, memory: Map<string, unknown>) {
  const key = request.headers['authorization'];
  if (key !== undefined && answer.status === 201 && !memory.has('key')) memory.set('key', key);
  return answer;
}

export const AUTH_MUTANTS: readonly Mutant[] = [
  {
    id: 'auth/no-key-403',
    breaks: 'a missing credential is answered with 403',
    caughtBy: ['auth/no-key', 'auth/unknown-key', 'auth/other-schemes', 'auth/every-route'],
    says: /status 401/,
    on: { path: ANY },
    answer: status(401, 403),
  },
  {
    id: 'auth/own-code',
    breaks: 'a missing credential has a code of the host’s own',
    caughtBy: ['auth/no-key', 'auth/every-route'],
    says: /code is unauthenticated/,
    on: { path: ANY },
    answer: answered((body) => (body['error'] === 'unauthenticated' ? { ...body, error: 'NO_KEY' } : body)),
  },
  {
    id: 'auth/anyone-creates',
    breaks: 'runs are created for callers without a key',
    caughtBy: ['auth/no-key'],
    says: /status 401/,
    on: CREATE,
    request: (request) =>
      hasKey(request) ? request : { instead: replyWith(201, { runId: 'anyone', status: 'pending' }) },
  },
  {
    id: 'auth/basic-is-fine',
    breaks: 'another scheme than Bearer is taken for a malformed request',
    caughtBy: ['auth/other-schemes'],
    says: /status 401/,
    on: CREATE,
    request: (request) =>
      request.headers['authorization']?.startsWith('Basic ') === true
        ? { instead: refusal(400, 'validation_error') }
        : request,
  },
  {
    id: 'auth/looks-first',
    breaks: 'unknown runs are answered with 404 before the key is asked for',
    caughtBy: ['auth/every-route'],
    says: /status 401/,
    on: { method: 'GET', path: /^\/v1\/runs\/[^/]+\/artifacts\// },
    answer: status(401, 404),
  },
  {
    id: 'auth/echoes-the-key',
    breaks: 'a 401 repeats the credential in its message',
    caughtBy: ['auth/key-not-echoed'],
    says: /body of a 401 does not hold/,
    on: CREATE,
    answer: (answer, request) =>
      answer.status === 401
        ? {
            ...answer,
            body: JSON.stringify({ error: 'unauthenticated', message: request.headers['authorization'] }),
          }
        : answer,
  },
  {
    id: 'auth/echoes-in-a-header',
    breaks: 'a 401 repeats the credential in a header',
    caughtBy: ['auth/key-not-echoed'],
    says: /headers of a 401 do not hold/,
    on: CREATE,
    answer: (answer, request) => ({
      ...answer,
      headers: { ...answer.headers, 'x-caller': request.headers['authorization'] ?? '' },
    }),
  },
  {
    id: 'auth/tenant-from-body',
    breaks: 'the tenant of the body wins over that of the key',
    caughtBy: ['auth/body-tenant'],
    says: /tenant of the key/,
    on: RUNS,
    request: (request, memory) => {
      if (request.method !== 'POST') return request;
      const { tenantId, ...rest } = JSON.parse(request.body) as Record<string, string>;
      if (tenantId !== undefined) memory.set('tenant', tenantId);
      return { ...request, body: JSON.stringify(rest) };
    },
    answer: (answer, request, memory) =>
      replaces('owner', { tenant: memory.get('tenant') ?? '' })(answer, request, memory),
  },
  {
    id: 'auth/owner-by-mail',
    breaks: 'the owner of a run is named by a mail address',
    caughtBy: ['auth/owner'],
    says: /no mail address/,
    on: SNAPSHOT,
    answer: replaces('owner', { tenant: 'acme', principal: 'ann@example.com' }),
  },
  {
    id: 'auth/profile-twice',
    breaks: 'an auth profile is listed twice',
    caughtBy: ['auth/profiles'],
    says: /listed once/,
    on: { path: /openwop$/ },
    answer: replaces('auth', { profiles: ['openwop-auth-mtls', 'openwop-auth-mtls'] }),
  },
  {
    id: 'auth/fails-open',
    breaks: 'an authorization block says that it fails open',
    caughtBy: ['auth/authorization'],
    says: /failClosed is true/,
    on: { path: /openwop$/ },
    answer: replaces('authorization', { supported: true, failClosed: false }),
  },
  {
    id: 'auth/scope-at-the-top',
    breaks: 'the missing scope stands at the top level of the refusal',
    caughtBy: ['auth/low-scope-refused'],
    says: /no members but error, message and details/,
    on: { path: ANY },
    answer: (answer, request, memory) =>
      answer.status === 403 ? replaces('scopeRequired', 'runs:create')(answer, request, memory) : answer,
  },
  {
    id: 'auth/reading-is-cancelling',
    breaks: 'a key that may read runs may cancel them',
    caughtBy: ['auth/low-scope-refused'],
    says: /status 403/,
    on: CANCEL,
    answer: (answer) =>
      answer.status === 403
        ? { ...answer, status: 200, body: '{"runId":"any","status":"cancelled"}' }
        : answer,
  },
  {
    id: 'auth/readers-see-no-events',
    breaks: 'a key with runs:read may not poll events',
    caughtBy: ['auth/low-scope-reads'],
    says: /status 200/,
    on: RUNS,
    request: (request, memory) =>
      request.path.includes('/events/poll') && memory.get('key') !== request.headers['authorization']
        ? { instead: refusal(403, 'forbidden') }
        : request,
    answer: remembersOwnKey,
  },
  {
    id: 'auth/foreign-run-shown',
    breaks: 'a run can be read by other tenants',
    caughtBy: ['auth/foreign-reads'],
    says: /status 403 or 404/,
    on: RUNS,
    request: (request, memory) => {
      const own = memory.get('key');
      const isRun = request.method === 'GET' && /^\/v1\/runs\/[^/:]+$/.test(request.path);
      return isRun && typeof own === 'string'
        ? { ...request, headers: { ...request.headers, authorization: own } }
        : request;
    },
    answer: remembersOwnKey,
  },
  {
    id: 'auth/foreign-run-told',
    breaks: 'another tenant’s run is answered with 403, an unknown one with 404',
    caughtBy: ['auth/foreign-reads'],
    says: /as one that does not exist/,
    on: RUNS,
    request: (request, memory) => {
      const run = memory.get('run');
      const isForeign = typeof run === 'string' && memory.get('key') !== request.headers['authorization'];
      return isForeign && request.path === `/v1/runs/${run}/events/poll?timeout=1`
        ? { instead: refusal(403, 'forbidden') }
        : request;
    },
    answer: (answer, request, memory) => {
      const body: unknown = answer.status === 201 ? JSON.parse(answer.body) : undefined;
      if (isJsonObject(body) && typeof body['runId'] === 'string') memory.set('run', body['runId']);
      return remembersOwnKey(answer, request, memory);
    },
  },
  {
    id: 'auth/foreign-cancel',
    breaks: 'other tenants can cancel a run',
    caughtBy: ['auth/foreign-writes'],
    says: /status 403 or 404/,
    on: RUNS,
    request: (request, memory) => {
      const own = memory.get('key');
      return request.path.endsWith('/cancel') && typeof own === 'string'
        ? { ...request, headers: { ...request.headers, authorization: own } }
        : request;
    },
    answer: remembersOwnKey,
  },
  {
    id: 'auth/one-workspace',
    breaks: 'a key of a workspace reads the runs of every workspace',
    caughtBy: ['auth/other-workspace'],
    says: /status 403 or 404/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'auth/workspace-unnamed',
    breaks: 'a run of another workspace is refused as if a scope were missing',
    caughtBy: ['auth/other-workspace'],
    says: /refused with run_forbidden/,
    on: RUNS,
    answer: answered((body) => (body['error'] === 'run_forbidden' ? { ...body, error: 'forbidden' } : body)),
  },
  {
    id: 'auth/interrupt-profile',
    breaks: 'a profile of interrupts is listed among those of auth',
    caughtBy: ['auth/only-auth-profiles'],
    says: /auth\.profiles is about auth/,
    on: { path: /openwop$/ },
    answer: replaces('auth', { profiles: ['openwop-interrupt-quorum'] }),
  },
];
