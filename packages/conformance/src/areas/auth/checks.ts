import type { Json } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { readDiscovery } from '../discovery/document.ts';
import { TENANT_CHECKS } from './tenants.ts';

const NOOP_RUN = { workflowId: 'conformance-noop' };
const UNAUTHENTICATED = { status: 401, code: 'unauthenticated' } as const;

/** Routes that every host has and that want a credential, for a run that does not exist. */
function protectedRoutes(runId: string): readonly (readonly [string, string, object?])[] {
  return [
    ['GET', '/v1/workflows/conformance-noop'],
    ['GET', `/v1/runs/${runId}`],
    ['GET', `/v1/runs/${runId}/events`],
    ['GET', `/v1/runs/${runId}/events/poll?timeout=1`],
    ['GET', `/v1/runs/${runId}/artifacts/none`],
    ['POST', `/v1/runs/${runId}/cancel`, {}],
    ['POST', `/v1/runs/${runId}/interrupts/gate`, { resumeValue: {} }],
  ];
}

/** Shaped as keys are that must never be shown. The marker is what is looked for. */
function canaries(marker: string): readonly string[] {
  return [
    `sk-${marker}`,
    `sk-ant-api03-${marker}`,
    `AIza${marker}`,
    `cred_${marker}`,
    `eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.${marker}`,
  ];
}

const KEY_CHECKS: readonly Check[] = [
  {
    id: 'auth/no-key',
    title: 'without a credential no run is created',
    proves: ['AUTH-1', 'AUTH-4'],
    async run({ host, expect }) {
      const answer = await host.request('POST', '/v1/runs', { body: NOOP_RUN, key: null });

      expect.envelope(answer, UNAUTHENTICATED);
    },
  },
  {
    id: 'auth/unknown-key',
    title: 'an unknown bearer is refused',
    proves: ['AUTH-2', 'AUTH-4'],
    async run({ host, expect, unique }) {
      const key = unique('unknown');
      const created = await host.request('POST', '/v1/runs', { body: NOOP_RUN, key });
      const read = await host.request('GET', `/v1/runs/${unique()}`, { key });

      expect.envelope(created, UNAUTHENTICATED);
      expect.envelope(read, UNAUTHENTICATED);
    },
  },
  {
    id: 'auth/other-schemes',
    title: 'only bearers are credentials',
    proves: ['AUTH-3', 'AUTH-4'],
    async run({ host, expect, unique }) {
      for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', unique('bare')]) {
        const headers = { authorization };
        const answer = await host.request('POST', '/v1/runs', { body: NOOP_RUN, key: null, headers });
        expect.envelope(answer, UNAUTHENTICATED);
      }
    },
  },
  {
    id: 'auth/every-route',
    title: 'every route wants a credential, before it looks anything up',
    proves: ['AUTH-5', 'AUTH-6'],
    async run({ host, expect, unique }) {
      for (const [method, path, body] of protectedRoutes(unique()))
        expect.envelope(
          await host.request(method, path, { key: null, ...(body === undefined ? {} : { body }) }),
          UNAUTHENTICATED,
        );
    },
  },
  {
    id: 'auth/key-not-echoed',
    title: 'a refused credential is not repeated in the answer',
    proves: ['AUTH-7'],
    async run({ host, expect, unique }) {
      const marker = unique('canary');

      for (const key of canaries(marker)) {
        const answer = await host.request('POST', '/v1/runs', { body: NOOP_RUN, key });
        expect.status(answer, 401);
        expect.absent(answer.text, marker, 'the body of a 401 does not hold the credential');
        const headers = JSON.stringify([...answer.headers]);
        expect.absent(headers, marker, 'the headers of a 401 do not hold the credential');
      }
    },
  },
  {
    id: 'auth/body-tenant',
    title: 'a tenantId in the body gives no right that the key does not have',
    proves: ['AUTH-15'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect, unique }) {
      const tenantId = unique('tenant');
      const answer = await runs.tryCreate('conformance-noop', { tenantId });

      if (answer.status !== 201) {
        expect.envelope(answer, { status: [400, 403, 404, 422] });
        return;
      }
      const created = expect.object(answer.json, 'a created run is answered with an object');
      const snapshot = await runs.ended(expect.string(created['runId'], 'a created run has a runId'));
      const owner = objectOf(snapshot['owner']);
      expect.that(owner['tenant'] !== tenantId, 'the run belongs to the tenant of the key', owner['tenant']);
    },
  },
  {
    id: 'auth/owner',
    title: 'the owner of a run is said with opaque ids',
    proves: ['AUTH-26'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const snapshot = await runs.ended(await runs.create('conformance-noop'));
      if (snapshot['owner'] === undefined) return;

      const owner = expect.object(snapshot['owner'], 'the owner of a run is an object');
      expect.string(owner['tenant'], 'the owner of a run names its tenant');
      for (const [name, id] of Object.entries(owner))
        expect.that(
          typeof id !== 'string' || !/^[^@\s]+@[^@\s]+\.[a-z]+$/i.test(id),
          `owner.${name} is no mail address`,
        );
    },
  },
];

const BLOCK_CHECKS: readonly Check[] = [
  {
    id: 'auth/profiles',
    title: 'auth.profiles is a list of names, and its blocks are well-formed',
    proves: ['AUTH-22'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);

      const list = expect.array(advertised(discovery, 'auth.profiles'), 'auth.profiles is a list');
      const names = list.map((name) => expect.string(name, 'an auth profile is named by a text'));
      expect.equal(names.length, new Set(names).size, 'every auth profile is listed once');
      for (const [path, says, fits] of AUTH_BLOCKS) {
        const value = advertised(discovery, path);
        expect.that(value === undefined || fits(value), `${path} is ${says}`, value);
      }
    },
  },
  {
    id: 'auth/only-auth-profiles',
    title: 'auth.profiles has no profile of interrupts',
    proves: ['AUTH-27'],
    async run(context) {
      const { expect } = context;
      const list = advertised(await readDiscovery(context), 'auth.profiles');

      for (const name of expect.array(list, 'auth.profiles is a list'))
        expect.that(!String(name).startsWith('openwop-interrupt-'), 'auth.profiles is about auth', name);
    },
  },
  {
    id: 'auth/authorization',
    title: 'an authorization block fails closed',
    proves: ['AUTH-24'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);
      const block = expect.object(advertised(discovery, 'authorization'), 'authorization is an object');

      const { supported, failClosed = true, roles = [] } = block;
      expect.that(typeof supported === 'boolean', 'authorization.supported is true or false', supported);
      expect.equal(failClosed, true, 'authorization.failClosed is true');
      for (const entry of expect.array(roles, 'authorization.roles is a list')) {
        const role = expect.object(entry, 'a role is an object');
        expect.string(role['role'], 'a role has a name');
        expect.array(role['scopes'], 'a role has a list of scopes');
      }
    },
  },
];

const AUTH_BLOCKS: readonly (readonly [string, string, (value: Json) => boolean])[] = [
  ['auth.rotation.supported', 'true or false', isFlag],
  ['auth.rotation.minGraceSeconds', 'a number of 0 or more', (value) => Number(value) >= 0],
  ['auth.oauth2.supported', 'true or false', isFlag],
  ['auth.oauth2.supportedAlgorithms', 'a list', Array.isArray],
  ['auth.oidc.supported', 'true or false', isFlag],
  ['auth.oidc.issuers', 'a list that is not empty', (value) => Array.isArray(value) && value.length > 0],
  ['auth.mtls.supported', 'true or false', isFlag],
  [
    'auth.mtls.subjectMapping',
    'cn, san-dns or san-uri',
    (value) => value === 'cn' || value === 'san-dns' || value === 'san-uri',
  ],
];

const SCOPE_CHECKS: readonly Check[] = [
  {
    id: 'auth/low-scope-refused',
    title: 'a key that may only read runs may do nothing else',
    proves: ['AUTH-8', 'AUTH-9', 'AUTH-11'],
    needs: { fixtures: ['conformance-approval'], key: 'lowScope' },
    async run(context) {
      const { host, runs, expect, keys } = context;
      const key = keys.lowScope ?? '';
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');

      await expectForbidden(context, 'POST', '/v1/runs', { workflowId: 'conformance-approval' });
      await expectForbidden(context, 'POST', `/v1/runs/${runId}/cancel`, {});
      const answer = { resumeValue: { action: 'accept' } };
      await expectForbidden(context, 'POST', `/v1/runs/${runId}/interrupts/gate`, answer);
      await expectForbidden(context, 'GET', '/v1/workflows/conformance-approval');
      const read = await host.request('GET', `/v1/runs/${runId}`, { key });
      const snapshot = expect.object(read.json, 'a run is answered with an object');
      expect.equal(snapshot['status'], 'waiting-approval', 'what was refused has not happened');
      await runs.cancel(runId);
    },
  },
  {
    id: 'auth/low-scope-reads',
    title: 'runs:read is enough to read a run, to poll it and to follow its stream',
    proves: ['AUTH-10'],
    needs: { fixtures: ['conformance-noop'], key: 'lowScope' },
    async run({ host, runs, expect, keys }) {
      const key = keys.lowScope ?? '';
      const runId = await runs.endedRun('conformance-noop');

      expect.status(await host.request('GET', `/v1/runs/${runId}`, { key }), 200);
      expect.status(await host.request('GET', `/v1/runs/${runId}/events/poll?timeout=1`, { key }), 200);
      const stream = await host.stream(`/v1/runs/${runId}/events`, { key });
      await stream.close();
      expect.status(stream, 200);
    },
  },
];

export const AUTH_CHECKS: readonly Check[] = [
  ...KEY_CHECKS,
  ...BLOCK_CHECKS,
  ...SCOPE_CHECKS,
  ...TENANT_CHECKS,
];

async function expectForbidden(
  { host, expect, keys }: CheckContext,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const key = keys.lowScope ?? '';
  const answer = await host.request(method, path, { key, ...(body === undefined ? {} : { body }) });
  expect.envelope(answer, { status: 403, code: ['forbidden', 'run_forbidden'] });
  expect.absent(answer.text, key, 'the body of a 403 does not hold the key');
}

function isFlag(value: Json): boolean {
  return typeof value === 'boolean';
}
