import { randomBytes } from 'node:crypto';
import { type EffectNodeType, NodeFailure } from '@weft/engine';
import type { Json } from '@weft/protocol';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const VALUE = 'sesame-open-now';
const SECRETS = '/v1/host/weft/secrets';

const READS_SECRET = {
  id: 'reads-secret',
  name: 'Reads a secret',
  version: '1',
  nodes: [
    {
      id: 'resolve',
      typeId: 'conformance.secret.echo',
      name: 'resolve',
      position: { x: 0, y: 0 },
      config: { secretId: 'db' },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [],
  metadata: { tags: [] },
  settings: { timeout: 60_000 },
};

/** Says its secret wherever a node can say something. */
const leaky: EffectNodeType = {
  kind: 'effect',
  typeId: 'test.leaky',
  title: 'Leaky',
  summary: 'Says its secret wherever it can.',
  config: Type.Object({ fail: Type.Boolean() }, { additionalProperties: false }),
  perform: async ({ config }, { secrets, memory, artifacts, emit }) => {
    const value = await secrets.resolve('db');
    const said = { [value]: [value, Buffer.from(value).toString('base64'), encodeURIComponent(value)] };
    emit({ chunk: `now ${value.slice(0, 5)}`, isLast: false });
    emit({ chunk: `${value.slice(5)}.`, isLast: true });
    await memory.write('notes', { id: 'leak', content: value });
    await artifacts.put({ name: 'leak', mediaType: 'text/plain', bytes: Buffer.from(`<${value}>`) });
    if (config['fail'] === true) throw new NodeFailure('leaked', `It is ${value}.`, { details: said });
    return {
      outputs: said,
      variables: { leak: said },
      channels: [{ channel: 'leaks', value: said, reducer: 'append' }],
      events: [{ type: 'memory.written', payload: { memoryRef: 'notes', memoryId: value } }],
    };
  },
};

function leakyWorkflow(id: string, fail: boolean): Record<string, Json> {
  const [node] = READS_SECRET.nodes;
  return {
    ...READS_SECRET,
    id,
    nodes: [
      { ...node, id: 'leak', typeId: 'test.leaky', config: { fail } },
      { ...node, id: 'list', typeId: 'weft.memory.list', config: { memoryRef: 'notes' } },
    ],
  };
}

let harness: Harness;

beforeEach(async () => {
  harness = await openHarness({}, undefined, undefined, {
    secretsKey: randomBytes(32),
    nodes: [leaky],
  });
});

afterEach(() => harness.close());

const set = (body: Record<string, string>, options = {}) =>
  harness.call('POST', SECRETS, { body, ...options });

describe('secrets over HTTP', () => {
  it('are set, listed and removed, and no answer holds the value', async () => {
    const stored = await set({ id: 'db', value: VALUE });
    const listed = await harness.call('GET', SECRETS);
    const removed = await harness.call('DELETE', `${SECRETS}/db`);
    const again = await harness.call('DELETE', `${SECRETS}/db`);

    expect(stored.json).toMatchObject({ id: 'db', scope: 'tenant', usable: true });
    expect(listed.json).toMatchObject({ secrets: [{ id: 'db', scope: 'tenant' }] });
    expect([removed.status, again.status]).toEqual([204, 404]);
    expect(stored.text + listed.text).not.toContain(VALUE);
  });

  it('of a user are kept apart from the tenant’s', async () => {
    await set({ id: 'db', value: VALUE, scope: 'user' });

    expect((await harness.call('DELETE', `${SECRETS}/db`)).status).toBe(404);
    expect((await harness.call('DELETE', `${SECRETS}/db?scope=user`)).status).toBe(204);
    expect((await harness.call('DELETE', `${SECRETS}/db?scope=run`)).status).toBe(400);
  });

  it('are not seen by another tenant', async () => {
    await set({ id: 'db', value: VALUE });

    const listed = await harness.call('GET', SECRETS, { key: harness.otherTenantKey });

    expect(listed.json).toEqual({ secrets: [] });
  });

  it('need the scope secrets:manage', async () => {
    const key = await harness.keyWithout('secrets:manage');

    expect((await set({ id: 'db', value: VALUE }, { key })).status).toBe(403);
    expect((await harness.call('GET', SECRETS, { key })).status).toBe(403);
    expect((await harness.call('DELETE', `${SECRETS}/db`, { key })).status).toBe(403);
  });

  it.each([
    ['a bad id', { id: '../x', value: VALUE }],
    ['a short value', { id: 'db', value: '1234567' }],
    ['an unknown scope', { id: 'db', value: VALUE, scope: 'run' }],
    ['an unknown member', { id: 'db', value: VALUE, extra: 'x' }],
  ])('are refused with %s, without an echo of the value', async (_what, body) => {
    const answer = await set(body);

    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain(body.value);
  });

  it('are set once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };

    const first = await set({ id: 'db', value: VALUE }, { headers });
    const again = await set({ id: 'db', value: VALUE }, { headers });
    const other = await set({ id: 'db', value: `${VALUE}!` }, { headers });

    expect(again.text).toBe(first.text);
    expect(again.headers['openwop-idempotent-replay']).toBe('true');
    expect(other.json['error']).toBe('idempotency_key_mismatch');
  });

  it('cannot be kept by a host without a key, which does not advertise them', async () => {
    const plain = await openHarness({}, undefined, undefined, { secretsKey: undefined });

    const answer = await plain.call('POST', SECRETS, { body: { id: 'db', value: VALUE } });
    const discovery = await plain.call('GET', '/.well-known/openwop');
    await plain.close();

    expect(answer.status).toBe(501);
    expect(discovery.json).not.toHaveProperty('secrets');
    expect((await harness.call('GET', '/.well-known/openwop')).json['secrets']).toEqual({
      supported: true,
      scopes: ['tenant', 'user'],
      resolution: 'host-managed',
    });
  });
});

describe('a run that resolves a secret', () => {
  it('shows hash and length, and the value nowhere', async () => {
    await set({ id: 'db', value: VALUE });
    await harness.call('POST', '/v1/host/weft/workflows', { body: READS_SECRET });
    const { runId } = await harness.start('reads-secret');
    await harness.reaches(runId, 'completed');

    const run = await harness.call('GET', `/v1/runs/${runId}`);
    const events = await harness.call('GET', `/v1/runs/${runId}/events/poll`);

    expect(run.json['variables']).toMatchObject({ resolve: { secretLength: VALUE.length } });
    expect(run.text + events.text).not.toContain(VALUE);
  });

  it.each([
    ['completes', false, 'completed'],
    ['fails', true, 'failed'],
  ])('and says it everywhere shows it nowhere when it %s', async (_how, fail, status) => {
    await set({ id: 'db', value: VALUE });
    await harness.call('POST', '/v1/host/weft/workflows', { body: leakyWorkflow('leaky', fail) });
    const { runId } = await harness.start('leaky');
    await harness.reaches(runId, status);

    const answers = await Promise.all(
      [
        `/v1/runs/${runId}`,
        `/v1/runs/${runId}/events/poll?limit=1000`,
        `/v1/runs/${runId}/events?streamMode=debug`,
        `/v1/runs/${runId}/artifacts/leak%3A0%3Aleak`,
      ].map((url) => harness.call('GET', url)),
    );

    for (const { text } of answers) {
      expect(text).toContain('[REDACTED:db]');
      expect(text).not.toContain(VALUE);
      expect(text).not.toContain(Buffer.from(VALUE).toString('base64').slice(0, 16));
      expect(text).not.toContain(VALUE.slice(0, 5));
    }
  });

  it('fails with credential_unavailable when it is not set', async () => {
    await harness.call('POST', '/v1/host/weft/workflows', { body: READS_SECRET });
    const { runId } = await harness.start('reads-secret');
    await harness.reaches(runId, 'failed');

    const run = await harness.call('GET', `/v1/runs/${runId}`);

    expect(run.json['error']).toMatchObject({ code: 'credential_unavailable' });
  });
});
