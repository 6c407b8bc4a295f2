import { randomBytes } from 'node:crypto';
import { ALL_SCOPES } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store } from '../../ports/store.ts';
import { SYSTEM_CLOCK } from '../../ports/clock.ts';
import { createCommitter } from '../commits/committer.ts';
import { createIdempotency } from '../commits/idempotency.ts';
import { DEFAULT_LIMITS } from '../../host/limits.ts';
import { SILENT } from '../../ports/log.ts';
import { withConformanceSecrets } from '../../conformance/conformance-secrets.ts';
import { createManageSecrets } from './manage-secrets.ts';
import { createLocalResolver, openSealer, SECRETS } from './resolver.ts';
import { createSealer } from './sealer.ts';

const VALUE = 'sesame-open-now';

const caller = (tenant: string, principal = 'ada'): Caller => ({
  tenant,
  principal,
  keyId: 'key',
  kind: 'user',
  test: false,
  scopes: new Set(ALL_SCOPES),
});

function manage(store: Store, key: Uint8Array | undefined) {
  return createManageSecrets({
    store,
    committer: createCommitter({ store, log: SILENT, maxUnits: 512, maxBytes: 1024 * 1024 }),
    clock: SYSTEM_CLOCK,
    random: randomBytes,
    limits: DEFAULT_LIMITS,
    idempotency: createIdempotency({ store, clock: SYSTEM_CLOCK, limits: DEFAULT_LIMITS }),
    sealer: openSealer(key, randomBytes),
  });
}

function open() {
  const key = randomBytes(32);
  const store = openMemoryStore();
  const host = manage(store, key);
  const resolver = createLocalResolver(store, openSealer(key, randomBytes));
  const set = (who: Caller, scope: 'tenant' | 'user', value = VALUE, id = 'db') =>
    host.set(who, { id, value, scope });
  return { store, host, resolver, set };
}

describe('a secret', () => {
  it('is resolved for its own tenant and for no other', async () => {
    const { resolver, set } = open();
    await set(caller('a'), 'tenant');

    expect(await resolver.resolve({ tenant: 'a', principal: undefined }, 'db')).toEqual({
      state: 'resolved',
      value: VALUE,
    });
    expect(await resolver.resolve({ tenant: 'b', principal: 'ada' }, 'db')).toEqual({ state: 'missing' });
  });

  it('of a user goes before the tenant’s, for that user only', async () => {
    const { resolver, set } = open();
    await set(caller('a'), 'tenant', 'for all users');
    await set(caller('a', 'ada'), 'user', 'for ada alone');

    const valueFor = async (principal: string | undefined) =>
      await resolver.resolve({ tenant: 'a', principal }, 'db');

    expect(await valueFor('ada')).toMatchObject({ value: 'for ada alone' });
    expect(await valueFor('bob')).toMatchObject({ value: 'for all users' });
    expect(await valueFor(undefined)).toMatchObject({ value: 'for all users' });
  });

  it('stands encrypted in the store, differently each time', async () => {
    const { store, set } = open();
    const place = { tenant: 'a', collection: SECRETS, scope: '', id: 'db' };

    await set(caller('a'), 'tenant');
    const first = await store.readDocument(place);
    await set(caller('a'), 'tenant');
    const second = await store.readDocument(place);

    expect(first?.body).not.toContain(VALUE);
    expect(first?.body).not.toBe(second?.body);
  });

  it('does not open when its row was moved to another tenant, user or id, or changed', async () => {
    const sealer = createSealer(randomBytes(32), randomBytes);
    const place = { tenant: 'a', scope: '', id: 'db' };
    const sealed = sealer.seal(place, VALUE);

    expect(sealer.open(place, sealed)).toBe(VALUE);
    expect(sealer.open({ ...place, tenant: 'b' }, sealed)).toBeUndefined();
    expect(sealer.open({ ...place, scope: 'user:eve' }, sealed)).toBeUndefined();
    expect(sealer.open({ ...place, id: 'other' }, sealed)).toBeUndefined();
    expect(sealer.open(place, { ...sealed, text: `A${sealed.text.slice(1)}B` })).toBeUndefined();
  });

  it('stored with another key is distinguished from one that is missing', async () => {
    const { store, set } = open();
    await set(caller('a'), 'tenant');
    const rotated = createLocalResolver(store, createSealer(randomBytes(32), randomBytes));
    const host = manage(store, randomBytes(32));

    expect(await rotated.resolve({ tenant: 'a', principal: undefined }, 'db')).toEqual({
      state: 'unreadable',
    });
    expect(await host.list(caller('a'))).toMatchObject([{ id: 'db', usable: false }]);
  });

  it('is listed without its value, the caller’s own next to the tenant’s', async () => {
    const { host, set } = open();
    await set(caller('a'), 'user');
    await set(caller('a'), 'tenant');
    await set(caller('a', 'bob'), 'user', VALUE, 'of-bob');
    await set(caller('b'), 'tenant', VALUE, 'of-b');

    const listed = await host.list(caller('a'));

    expect(listed).toMatchObject([
      { id: 'db', scope: 'tenant', usable: true },
      { id: 'db', scope: 'user', usable: true },
    ]);
    expect(JSON.stringify(listed)).not.toContain(VALUE);
  });

  it('is gone when removed, and removing again says so', async () => {
    const { host, resolver, set } = open();
    await set(caller('a'), 'tenant');

    expect(await host.remove(caller('b'), 'db', 'tenant')).toBe(false);
    expect(await host.remove(caller('a'), 'db', 'tenant')).toBe(true);
    expect(await host.remove(caller('a'), 'db', 'tenant')).toBe(false);
    expect(await resolver.resolve({ tenant: 'a', principal: undefined }, 'db')).toEqual({ state: 'missing' });
  });

  it('leaves its trace in the audit trail, without its value', async () => {
    const { host, store, set } = open();
    await set(caller('a'), 'tenant');
    await host.remove(caller('a'), 'db', 'tenant');

    const entries = await store.readAudit(0, 10);

    expect(entries.map(({ action, target, actor }) => [action, target, actor])).toEqual([
      ['secret.set', 'db', 'ada'],
      ['secret.remove', 'db', 'ada'],
    ]);
    expect(JSON.stringify(entries)).not.toContain(VALUE);
  });

  it.each([
    ['an id with a slash', { id: 'a/b', value: VALUE }, 'id'],
    ['an empty id', { id: '', value: VALUE }, 'id'],
    ['a value too short to be masked', { id: 'a', value: '1234567' }, 'value'],
    ['a value that is too large', { id: 'a', value: 'x'.repeat(32 * 1024 + 1) }, 'value'],
  ])('is refused with %s', async (_what, wrong, field) => {
    const { host } = open();

    await expect(host.set(caller('a'), { ...wrong, scope: 'tenant' })).rejects.toMatchObject({
      code: 'validation_error',
      details: { field },
    });
  });

  it('can neither be kept nor resolved without a key', async () => {
    const store = openMemoryStore();
    const host = manage(store, undefined);

    await expect(host.set(caller('a'), { id: 'db', value: VALUE, scope: 'tenant' })).rejects.toMatchObject({
      code: 'capability_not_provided',
    });
    expect(
      await createLocalResolver(store, undefined).resolve({ tenant: 'a', principal: undefined }, 'db'),
    ).toEqual({ state: 'off' });
  });
});

describe('a repeated request to set a secret', () => {
  const claimFor = (requestDigest: string) => ({
    operation: 'POST /v1/host/weft/secrets',
    keyHash: 'k',
    requestDigest,
    render: () => ({ status: 200, body: '{}' }),
  });

  it('gets the first answer, and another content is refused', async () => {
    const { host } = open();
    const request = { id: 'db', value: VALUE, scope: 'tenant' } as const;

    await host.set(caller('a'), request, claimFor('d1'));

    expect(await host.set(caller('a'), request, claimFor('d1'))).toEqual({
      replayed: true,
      status: 200,
      body: '{}',
    });
    await expect(host.set(caller('a'), request, claimFor('d2'))).rejects.toMatchObject({
      code: 'idempotency_key_mismatch',
    });
  });

  it('leaves no digest by which the value could be guessed', async () => {
    const { host, store } = open();

    await host.set(caller('a'), { id: 'db', value: VALUE, scope: 'tenant' }, claimFor('d1'));
    const record = await store.readIdempotency('a', 'POST /v1/host/weft/secrets', 'k');

    expect(record?.requestDigest).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('the secrets of the protocol’s suite', () => {
  it('resolve on a test host unless they are set otherwise', async () => {
    const { resolver, set } = open();
    const suite = withConformanceSecrets(resolver);
    const resolve = (id: string) => suite.resolve({ tenant: 'a', principal: undefined }, id);
    await set(caller('a'), 'tenant', 'set by hand', 'conformance-test-secret');

    expect(await resolve('conformance-test-secret')).toMatchObject({ value: 'set by hand' });
    expect(await resolve('openwop-conformance-canary-secret')).toMatchObject({ state: 'resolved' });
    expect(await resolve('something-else')).toEqual({ state: 'missing' });
  });
});
