import { randomBytes } from 'node:crypto';
import { ALL_SCOPES } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import type { Caller, NewKey } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { ensureFirstKey, type FirstKey } from './first-key.ts';
import { testClock } from '../testing/test-clock.ts';
import { alice, startHost, type TestHost } from '../testing/test-host.ts';
import { CONFORMANCE } from '../../conformance/index.ts';

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
  const created = await test.host.keys.create(caller, wanted);
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
    expect(JSON.stringify(await test.host.keys.list(alice))).not.toContain(key.slice('weft_live_'.length));
  });

  it('of a test host says so, and is worth nothing on a live one', async () => {
    const store = openMemoryStore();
    const test = await open({ conformance: CONFORMANCE });
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
    const row = (await test.host.keys.list(alice)).find(({ label }) => label === 'long');
    expect(await test.host.keys.revoke(alice, row?.keyId ?? '')).toBe(true);

    expect(await test.host.authenticate(short)).toEqual({ state: 'expired' });
    expect(await test.host.authenticate(long)).toEqual({ state: 'revoked' });
    expect(await test.host.keys.revoke(alice, 'nothing')).toBe(false);
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
    const scopes = ['runs:read', 'runs:fly', 'runs:raed'];
    await expect(createKey(test, { ...request, scopes })).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringMatching(
        /^Unknown scope "runs:fly", "runs:raed"\. This host has: manifest:read, /,
      ),
      details: { field: 'scopes', unknown: ['runs:fly', 'runs:raed'], supported: [...ALL_SCOPES] },
    });
    await expect(createKey(test, { ...request, scopes: [] })).rejects.toMatchObject({
      code: 'validation_error',
    });
    expect(await createKey(test, { ...request, tenant: 'other' })).toMatch(/^weft_live_/);
  });

  const own: NewKey = { principal: 'alice', kind: 'service', scopes: ['runs:read'] };
  const manager: Caller = { ...alice, scopes: new Set(['keys:manage', 'runs:read', 'host:admin']) };

  it.each([
    ['another principal', { principal: 'bob' }],
    ['a person of the same name, whose vote would count', { kind: 'user' }],
    ['the same name in another tenant', { tenant: 'other' }],
  ] satisfies [string, Partial<NewKey>][])('does not grant %s without keys:impersonate', async (_, other) => {
    const test = await open();
    const impersonator: Caller = { ...manager, scopes: new Set([...manager.scopes, 'keys:impersonate']) };

    await expect(createKey(test, { ...own, ...other }, manager)).rejects.toMatchObject({
      code: 'forbidden',
      details: { scopeRequired: 'keys:impersonate' },
    });
    expect(await createKey(test, own, manager)).toMatch(/^weft_live_/);
    expect(await createKey(test, { ...own, ...other }, impersonator)).toMatch(/^weft_live_/);
  });

  it('of a person makes no service that could vote for others', async () => {
    const test = await open();
    const person: Caller = { ...manager, kind: 'user' };

    await expect(createKey(test, own, person)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await createKey(test, { ...own, kind: 'user' }, person)).toMatch(/^weft_live_/);
  });

  it('does not live longer than the one that created it, whose end it learns when it is used', async () => {
    const clock = testClock();
    const test = await open({ clock });
    const end = clock.now() + 60_000;
    const scopes = ['keys:manage', 'runs:read'];
    const answer = await test.host.authenticate(await createKey(test, { ...own, scopes, expiresAt: end }));
    if (answer.state !== 'ok') throw new Error('the key was just created');
    const { caller } = answer;

    for (const expiresAt of [undefined, end + 1]) {
      const longer = createKey(test, { ...own, ...(expiresAt !== undefined && { expiresAt }) }, caller);
      await expect(longer).rejects.toMatchObject({
        code: 'forbidden',
        details: { field: 'expiresAt', max: new Date(end).toISOString() },
      });
    }

    expect(await createKey(test, { ...own, expiresAt: end }, caller)).toMatch(/^weft_live_/);
  });

  it('of another tenant is listed and revoked with host:admin only', async () => {
    const test = await open();
    await createKey(test, { ...own, tenant: 'other' });
    const tenantManager: Caller = { ...alice, scopes: new Set(['keys:manage']) };

    const [row] = await test.host.keys.list(alice, 'other');

    await expect(test.host.keys.list(tenantManager, 'other')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(test.host.keys.revoke(tenantManager, String(row?.keyId), 'other')).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await test.host.keys.revoke(alice, String(row?.keyId))).toBe(false);
    expect(await test.host.keys.revoke(alice, String(row?.keyId), 'other')).toBe(true);
  });

  it('is created once for a repeated request, whose answer does not hold it', async () => {
    const test = await open();
    const claim = {
      operation: 'POST /v1/host/weft/keys',
      keyHash: 'k1',
      requestDigest: 'd1',
      render: (outcome: unknown) => ({ status: 201, body: JSON.stringify(outcome) }),
    };
    const first = await test.host.keys.create(alice, request, claim);

    const second = await test.host.keys.create(alice, request, claim);

    expect(second).toMatchObject({ replayed: true, status: 201 });
    expect(JSON.stringify(second)).not.toContain(first.replayed ? '-' : first.key);
    expect(await test.host.keys.list(alice)).toHaveLength(1);
  });

  it('leaves a trace of its creation and revocation', async () => {
    const test = await open();
    await createKey(test);
    const [row] = await test.host.keys.list(alice);
    await test.host.keys.revoke(alice, row?.keyId ?? '');

    const entries = await test.store.readAudit(0, 10);

    expect(entries).toMatchObject([
      {
        action: 'key.create',
        target: row?.keyId,
        actor: 'alice',
        details: { principal: 'bob', kind: 'user', scopes: ['runs:read'], keyId: 'key-alice' },
      },
      { action: 'key.revoke', target: row?.keyId },
    ]);
  });
});

describe('the first key', () => {
  const first = (test: TestHost, key: string, more: Partial<FirstKey> = {}) =>
    ensureFirstKey({
      store: test.store,
      key,
      test: false,
      tenant: 'default',
      now: 1,
      random: randomBytes,
      ...more,
    });

  it('has every scope and is added once', async () => {
    const test = await open();

    expect(await first(test, 'weft_live_first')).toBe('added');
    expect(await first(test, 'weft_live_first')).toBe('known');

    expect(await test.host.authenticate('weft_live_first')).toMatchObject({
      state: 'ok',
      caller: { scopes: new Set(ALL_SCOPES) },
    });
  });

  it('of processes that start at the same time with the same one stays valid', async () => {
    const test = await open();
    let release: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      release = resolve;
    });
    // This process read before the other one added it, and continues afterwards.
    const behind: FirstKey['store'] = {
      ...test.store,
      readKeyByHash: async (hash) => {
        const seen = await test.store.readKeyByHash(hash);
        await late;
        return seen;
      },
    };
    const slow = first(test, 'weft_live_first', { store: behind });
    await first(test, 'weft_live_first');

    release();
    await slow;

    expect(await test.host.authenticate('weft_live_first')).toMatchObject({ state: 'ok' });
    expect(await first(test, 'weft_live_first')).toBe('known');
  });

  it('revokes the one before it, on record, and no other key', async () => {
    const test = await open();
    const other = await createKey(test, { ...request, label: 'first key' });
    await first(test, 'weft_live_former');
    const before = (await test.host.keys.list(alice)).find((row) => row.first !== undefined);

    await first(test, 'weft_live_latter');

    expect(await test.host.authenticate('weft_live_former')).toEqual({ state: 'revoked' });
    expect(await test.host.authenticate('weft_live_latter')).toMatchObject({ state: 'ok' });
    expect(await test.host.authenticate(other)).toMatchObject({ state: 'ok' });
    expect((await test.store.readAudit(0, 10)).at(-1)).toMatchObject({
      actor: 'host',
      action: 'key.revoke',
      target: before?.keyId,
      details: { replacedBy: expect.stringMatching(/^key_/) as unknown },
    });
  });

  it('that a process made for itself leaves those of other processes on the store alone', async () => {
    const test = await open();
    await first(test, 'weft_live_chosen');
    await first(test, 'weft_live_made_here', { source: 'generated', replaces: [] });

    await first(test, 'weft_live_chosen_anew', { replaces: ['configured'] });

    expect(await test.host.authenticate('weft_live_chosen')).toEqual({ state: 'revoked' });
    expect(await test.host.authenticate('weft_live_made_here')).toMatchObject({ state: 'ok' });
  });

  it('that was revoked does not come back, and takes no other key’s place', async () => {
    const test = await open();
    await first(test, 'weft_live_former');
    await first(test, 'weft_live_latter');

    expect(await first(test, 'weft_live_former')).toBe('revoked');

    expect(await test.host.authenticate('weft_live_former')).toEqual({ state: 'revoked' });
    expect(await test.host.authenticate('weft_live_latter')).toMatchObject({ state: 'ok' });
  });
});
