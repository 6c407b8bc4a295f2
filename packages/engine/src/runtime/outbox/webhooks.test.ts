import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import { sha256Hex } from '../../crypto/hash.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { IdempotencyClaim } from '../../host/host.ts';
import type { Store } from '../../ports/store.ts';
import type { CreatedWebhook, NewWebhook } from '../../host/host.ts';
import { MARKS } from './subscriptions.ts';
import { type FakeReceiver, fakeReceiver, isSignedWith } from '../testing/fake-receiver.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const URL_A = 'https://a.example.org/hook';
const URL_B = 'https://b.example.org/hook';
const STEPS = { nodes: [node('a'), node('b'), node('c')], edges: chain('a', 'b', 'c') };

let receiver: FakeReceiver;
let store: Store;
let at: TestHost;
beforeEach(async () => {
  receiver = fakeReceiver();
  store = openMemoryStore();
  at = await startHost({ store, egress: receiver.egress });
});
afterEach(() => at.host.stop(1_000));

async function register(request: Partial<NewWebhook> = {}, caller = alice): Promise<CreatedWebhook> {
  const answer = await at.host.webhooks.register(caller, { url: URL_A, events: ['*'], tags: [], ...request });
  if (answer.replayed) throw new Error('nothing was asked before');
  return answer;
}
const sentTypes = (): unknown[] => receiver.requests.map(({ headers }) => headers['x-openwop-event-type']);
async function settled(count: number): Promise<void> {
  await until(() => receiver.requests.length >= count);
  await until(() => at.host.stats()['deliveriesSending'] === 0);
}

describe('a webhook', () => {
  it('gets every event of its tenant’s runs, in order, as it is on the wire', async () => {
    const { webhookId } = await register();
    const runId = await at.run(await at.register(STEPS));
    const types = await at.types(runId);

    await settled(types.length);

    const page = await at.host.runs.events(alice, runId, -1, 100);
    expect(receiver.requests.map(({ body }) => body)).toEqual(
      page?.events.map(({ document }) => `{"runId":"${runId}","workspaceId":"default","event":${document}}`),
    );
    expect(sentTypes()).toEqual(types);
    expect(receiver.requests[0]?.headers).toMatchObject({
      'x-openwop-webhook-id': webhookId,
      'user-agent': 'openwop-webhook-dispatcher/0.0.0-test',
    });
  });

  it('has a secret that is shown once, named by its fingerprint, and signs what is sent', async () => {
    const created = await register({ events: ['run.completed'] });
    await at.run(await at.register(STEPS));
    await settled(1);

    expect(created.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(created.secretFingerprint).toBe(sha256Hex(created.secret).slice(0, 8));
    expect(created.signatureAlgorithm).toBe('v1');
    expect(isSignedWith(created.secret, receiver.requests[0])).toBe(true);
    expect(JSON.stringify(await at.host.webhooks.list(alice))).not.toContain(created.secret);
  });

  it('gets only the types and the tagged runs it asked for', async () => {
    await register({ events: ['run.started', 'run.completed'], tags: ['gold', 'silver'] });
    const workflowId = await at.register(STEPS);
    await at.run(workflowId, { tags: ['lead'] });
    await at.run(workflowId);

    await at.run(workflowId, { tags: ['other', 'silver'] });

    await settled(2);
    expect(sentTypes()).toEqual(['run.started', 'run.completed']);
  });

  it('gets nothing of other tenants', async () => {
    await register({}, stranger);
    await register({ events: ['run.completed'] });

    await at.run(await at.register(STEPS));

    await settled(1);
    expect(sentTypes()).toEqual(['run.completed']);
    expect(await at.host.webhooks.list(stranger)).toHaveLength(1);
  });

  it('that was removed gets nothing more, not even what was waiting', async () => {
    let release: (status: number) => void = () => undefined;
    receiver.answer = () => new Promise((resolve) => (release = resolve));
    const { webhookId } = await register();
    const workflowId = await at.register(STEPS);
    await at.run(workflowId);
    await until(() => receiver.requests.length === 1);

    expect(await at.host.webhooks.remove(alice, webhookId)).toBe(true);
    release(200);

    receiver.answer = () => 200;
    await register({ url: URL_B, events: ['run.completed'] });
    await at.run(workflowId);
    await settled(2);
    expect(receiver.requests.map(({ url }) => url)).toEqual([URL_A, URL_B]);
    expect(await at.host.webhooks.remove(alice, webhookId)).toBe(false);
    expect((await at.host.webhooks.list(alice)).map(({ url }) => url)).toEqual([URL_B]);
  });

  it('registered by another process is served after the next refresh (O-7)', async () => {
    const other = await startHost({ store, egress: receiver.egress, limits: { webhookRefreshMs: 5 } });
    const workflowId = await other.register(STEPS);
    await register({ events: ['run.completed'] });

    await until(async () => {
      await other.run(workflowId);
      return receiver.requests.length > 0;
    });

    await other.host.stop(1_000);
  });

  it('whose registration was cut off half-way is served once it was asked for again (O-8)', async () => {
    await at.host.stop(0);
    let isCut = true;
    const cutting: Store = {
      ...store,
      async commit(units) {
        const isMark = units.some((unit) => unit.kind === 'document' && unit.collection === MARKS);
        if (isMark && isCut) throw new Error('the connection was cut');
        return await store.commit(units);
      },
    };
    at = await startHost({ store: cutting, egress: receiver.egress });
    const request: NewWebhook = { url: URL_A, events: ['run.completed'], tags: [] };
    const claim: IdempotencyClaim<unknown> = {
      operation: 'registerWebhook',
      keyHash: 'key',
      requestDigest: 'digest',
      render: (outcome) => ({ status: 201, body: JSON.stringify(outcome) }),
    };
    await expect(at.host.webhooks.register(alice, request, claim)).rejects.toMatchObject({
      code: 'service_unavailable',
    });

    isCut = false;
    await expect(at.host.webhooks.register(alice, request, claim)).resolves.toMatchObject({ replayed: true });

    await at.run(await at.register(STEPS));
    await settled(1);
    expect(sentTypes()).toEqual(['run.completed']);
  });

  it('gets again what was cut off by a stop, once its host is up again', async () => {
    receiver.answer = () => new Promise(() => undefined);
    await register({ events: ['run.completed'] });
    await at.run(await at.register(STEPS));
    await until(() => receiver.requests.length === 1);
    await at.host.stop(0);
    receiver.answer = () => 200;

    at = await startHost({ store, egress: receiver.egress });

    await settled(2);
    const [cut, whole] = receiver.requests;
    expect(cut?.signal.aborted).toBe(true);
    expect(whole?.body).toBe(cut?.body);
  });
});

describe('a secret at rest', () => {
  it('is sealed when the host has a key for it', async () => {
    await at.host.stop(1_000);
    at = await startHost({ store, egress: receiver.egress, secretsKey: new Uint8Array(32).fill(7) });
    const { secret, webhookId } = await register({ events: ['run.completed'] });

    await at.run(await at.register(STEPS));
    await settled(1);

    const place = { tenant: 'default', collection: 'webhook', scope: '', id: webhookId };
    expect((await store.readDocument(place))?.body).not.toContain(secret);
    expect(isSignedWith(secret, receiver.requests[0])).toBe(true);
  });
});

describe('registering', () => {
  it.each([
    [{ url: 'http://a.example.org/' }, 'url', 'webhook_url_rejected'],
    [{ url: 'https://127.0.0.1/' }, 'url', 'webhook_url_rejected'],
    [{ url: 'https://user@a.example.org/' }, 'url', 'webhook_url_rejected'],
    [{ events: [] }, 'events', 'validation_error'],
    [{ events: ['run.completed', 'run.exploded'] }, 'events[1]', 'validation_error'],
  ])('refuses %j, naming the field', async (request, field, code) => {
    await expect(register(request)).rejects.toMatchObject({ code, details: { field } });
  });

  it('for another tenant is forbidden', async () => {
    await expect(register({ tenantId: 'other' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(at.host.webhooks.remove(alice, 'wh_x', 'other')).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect((await register({ tenantId: 'default' })).webhookId).toMatch(/^wh_/);
  });

  it('stops at the limit', async () => {
    await at.host.stop(1_000);
    at = await startHost({ store, egress: receiver.egress, limits: { maxWebhooks: 1 } });
    await register();

    await expect(register()).rejects.toMatchObject({ code: 'conflict', details: { limit: 1, observed: 1 } });
  });
});
