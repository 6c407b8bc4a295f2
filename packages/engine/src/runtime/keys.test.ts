import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Caller, NewKey } from '../host.ts';
import { openMemoryStore } from '../memory-store.ts';
import { ensureFirstKey } from './keys.ts';
import { ALL_SCOPES } from './scopes.ts';
import { testClock } from './testing/test-clock.ts';
import { alice, startHost, type TestHost } from './testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const request: NewKey = { principal: 'bob', kind: 'user', scopes: ['runs:read'] };

async function createKey(test: TestHost, wanted: NewKey = request, caller: Caller = alice): Promise<string> {
  const created = await test.host.createKey(caller, wanted);
  if (created.replayed) throw new Error('not a replay');
  return created.key;
}

describe('a key', () => {
  it('tells who its bearer is, and the store holds only its hash', async () => {
    const test = await open();

    const key = await createKey(test);

    expect(key).toMatch(/^weft_live_[A-Za-z0-9_-]{43}$/);
    expect(await test.host.authenticate(key)).toMatchObject({
      state: 'ok',
      caller: {
        tenant: 'default',
        principal: 'bob',
        kind: 'user',
        test: false,
        scopes: new Set(['runs:read']),
      },
    });
    expect(await test.host.authenticate(`${key}x`)).toEqual({ state: 'unknown' });
    expect(JSON.stringify(await test.host.listKeys(alice))).not.toContain(key.slice('weft_live_'.length));
  });

  it('of a test host says so, and is worth nothing on a live one', async () => {
    const store = openMemoryStore();
    const test = await open({ conformance: true });
    const key = await createKey(test);
    const live = await open({ store });
    await ensureFirstKey({ store, key, test: true, tenant: 'default', now: 1, random: randomBytes });

    expect(key).toMatch(/^weft_test_/);
    expect(await test.host.authenticate(key)).toMatchObject({ state: 'ok', caller: { test: true } });
    expect(await live.host.authenticate(key)).toEqual({ state: 'unknown' });
  });

  it('ends with its time, or when it is revoked', async () => {
    const clock = testClock();
    const test = await open({ clock });
    const short = await createKey(test, { ...request, expiresAt: clock.now() + 1_000 });
    const long = await createKey(test, { ...request, label: 'long' });
    expect(await test.host.authenticate(short)).toMatchObject({ state: 'ok' });
    expect(await test.host.authenticate(long)).toMatchObject({ state: 'ok' });

    clock.advance(1_000);
    const row = (await test.host.listKeys(alice)).find(({ label }) => label === 'long');
    expect(await test.host.revokeKey(alice, row?.keyId ?? '')).toBe(true);

    expect(await test.host.authenticate(short)).toEqual({ state: 'expired' });
    expect(await test.host.authenticate(long)).toEqual({ state: 'revoked' });
    expect(await test.host.revokeKey(alice, 'nothing')).toBe(false);
  });

  it('grants only what the caller has, for the caller’s own tenant', async () => {
    const test = await open();
    const limited: Caller = { ...alice, scopes: new Set(['keys:manage', 'runs:read']) };

    await expect(createKey(test, { ...request, scopes: ['runs:cancel'] }, limited)).rejects.toMatchObject({
      code: 'forbidden',
      details: { scopeRequired: 'runs:cancel' },
    });
    await expect(createKey(test, { ...request, tenant: 'other' }, limited)).rejects.toMatchObject({
      code: 'forbidden',
      details: { scopeRequired: 'host:admin' },
    });
    await expect(createKey(test, { ...request, scopes: ['runs:fly'] })).rejects.toMatchObject({
      code: 'validation_error',
    });
    await expect(createKey(test, { ...request, scopes: [] })).rejects.toMatchObject({
      code: 'validation_error',
    });
    expect(await createKey(test, { ...request, tenant: 'other' })).toMatch(/^weft_live_/);
  });

  it('is created once for a repeated request, whose answer does not hold it', async () => {
    const test = await open();
    const claim = {
      operation: 'POST /v1/host/weft/keys',
      keyHash: 'k1',
      requestDigest: 'd1',
      render: (outcome: unknown) => ({ status: 201, body: JSON.stringify(outcome) }),
    };
    const first = await test.host.createKey(alice, request, claim);

    const second = await test.host.createKey(alice, request, claim);

    expect(second).toMatchObject({ replayed: true, status: 201 });
    expect(JSON.stringify(second)).not.toContain(first.replayed ? '-' : first.key);
    expect(await test.host.listKeys(alice)).toHaveLength(1);
  });

  it('leaves a trace of its creation and revocation', async () => {
    const test = await open();
    await createKey(test);
    const [row] = await test.host.listKeys(alice);
    await test.host.revokeKey(alice, row?.keyId ?? '');

    const actions = (await test.store.readAudit(0, 10)).map(({ action, target }) => [action, target]);

    expect(actions).toEqual([
      ['key.create', row?.keyId],
      ['key.revoke', row?.keyId],
    ]);
  });
});

describe('the first key', () => {
  it('has every scope and is added once', async () => {
    const test = await open();
    const first = {
      store: test.store,
      key: 'weft_live_first',
      test: false,
      tenant: 'default',
      now: 1,
      random: randomBytes,
    };

    expect(await ensureFirstKey(first)).toBe(true);
    expect(await ensureFirstKey(first)).toBe(false);

    expect(await test.host.authenticate('weft_live_first')).toMatchObject({
      state: 'ok',
      caller: { scopes: new Set(ALL_SCOPES) },
    });
  });
});
