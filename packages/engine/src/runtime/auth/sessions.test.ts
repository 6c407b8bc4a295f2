import { afterEach, describe, expect, it } from 'vitest';
import { CONFORMANCE } from '../../conformance/index.ts';
import type { Caller, OpenedSession } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { testClock } from '../testing/test-clock.ts';
import { alice, startHost, type TestHost } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const SCOPES = ['runs:read', 'runs:create'];

/** Someone with a key of the store. */
async function holder(test: TestHost, expiresAt?: number): Promise<Caller> {
  const created = await test.host.keys.create(alice, {
    principal: 'bob',
    kind: 'user',
    scopes: SCOPES,
    ...(expiresAt !== undefined && { expiresAt }),
  });
  if (created.replayed) throw new Error('not a replay');
  return callerOf(test, created.key);
}

async function callerOf(test: TestHost, key: string): Promise<Caller> {
  const answer = await test.host.authenticate(key);
  if (answer.state !== 'ok') throw new Error(`the key is ${answer.state}`);
  return answer.caller;
}

async function signIn(test: TestHost, caller: Caller): Promise<OpenedSession> {
  const { code } = await test.host.sessions.createCode(caller);
  return test.host.sessions.open(code);
}

const HOURS = 60 * 60_000;

describe('a session', () => {
  it('lets in as the holder of the key that made its code, with the same scopes and for twelve hours (K-10, K-11)', async () => {
    const clock = testClock();
    const test = await open({ clock });
    const bob = await holder(test);

    const { key, expiresAt } = await signIn(test, bob);

    expect(key).toMatch(/^weft_session_[0-9a-f]{32}\.[A-Za-z0-9_-]{43}$/);
    expect(expiresAt).toBe(clock.now() + 12 * HOURS);
    const { keyId, ...who } = await callerOf(test, key);
    expect(who).toEqual({
      tenant: 'default',
      principal: 'bob',
      kind: 'user',
      test: false,
      scopes: new Set(SCOPES),
      expiresAt,
    });
    expect(keyId).toMatch(/^ses_/);
    clock.advance(12 * HOURS - 1);
    expect(await test.host.authenticate(key)).toMatchObject({ state: 'ok' });
    clock.advance(1);
    expect(await test.host.authenticate(key)).toEqual({ state: 'expired' });
  });

  it('is opened once by all who bring the same code at the same time, on any process (K-9)', async () => {
    const store = openMemoryStore();
    const [one, other] = [await open({ store }), await open({ store })];
    const { code } = await one.host.sessions.createCode(alice);

    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : other).host.sessions.open(code)),
    );

    const [first, ...more] = answers.filter(({ status }) => status === 'fulfilled');
    expect(more).toEqual([]);
    const key = first?.status === 'fulfilled' ? first.value.key : '';
    expect(await one.host.authenticate(key)).toMatchObject({ state: 'ok' });
    expect(await other.host.authenticate(key)).toMatchObject({ state: 'ok' });
    await expect(one.host.sessions.open(code)).rejects.toMatchObject({ code: 'sign_in_code_invalid' });
  });

  it('is not opened by a code whose minute is over (K-10)', async () => {
    const clock = testClock();
    const test = await open({ clock });
    const [early, late] = [
      await test.host.sessions.createCode(alice),
      await test.host.sessions.createCode(alice),
    ];

    clock.advance(59_999);
    await test.host.sessions.open(early.code);
    clock.advance(1);

    await expect(test.host.sessions.open(late.code)).rejects.toMatchObject({ code: 'sign_in_code_invalid' });
  });

  it.each(['', 'x', 'A'.repeat(43), '../session', `${'A'.repeat(43)}\u0000`])(
    'is not opened by %j',
    async (code) => {
      const test = await open();
      await expect(test.host.sessions.open(code)).rejects.toMatchObject({ code: 'sign_in_code_invalid' });
    },
  );

  it('ends when the key behind it is revoked, and its codes with it (K-10)', async () => {
    const clock = testClock();
    const test = await open({ clock });
    const bob = await holder(test);
    const { key } = await signIn(test, bob);
    const { code } = await test.host.sessions.createCode(bob);

    await test.host.keys.revoke(alice, bob.keyId);

    expect(await test.host.authenticate(key)).toEqual({ state: 'revoked' });
    await expect(test.host.sessions.open(code)).rejects.toMatchObject({ code: 'sign_in_code_invalid' });
  });

  it('does not outlive the key behind it (K-10)', async () => {
    const clock = testClock();
    const test = await open({ clock });
    const end = clock.now() + HOURS;

    const { key, expiresAt } = await signIn(test, await holder(test, end));

    expect(expiresAt).toBe(end);
    clock.advance(HOURS);
    expect(await test.host.authenticate(key)).toEqual({ state: 'expired' });
  });

  it('makes no codes, and no keys that hold more or live longer (K-11)', async () => {
    const test = await open();
    const { caller } = await signIn(test, { ...alice, scopes: new Set(['keys:manage', 'runs:read']) });
    const key = { principal: 'alice', kind: 'service', scopes: ['runs:read'] } as const;

    await expect(test.host.sessions.createCode(caller)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(test.host.keys.create(caller, key)).rejects.toMatchObject({
      code: 'forbidden',
      details: { field: 'expiresAt' },
    });
    await expect(test.host.keys.create(caller, { ...key, scopes: ['runs:create'] })).rejects.toMatchObject({
      code: 'forbidden',
      details: { scopeRequired: 'runs:create' },
    });
  });

  it('ends when its holder signs out, or when it is revoked by its id, in its own tenant alone', async () => {
    const clock = testClock();
    const test = await open({ clock });
    const [own, other] = [await signIn(test, alice), await signIn(test, alice)];

    expect(await test.host.sessions.end(own.caller)).toBe(true);
    expect(await test.host.sessions.end(alice)).toBe(false);
    expect(await test.host.keys.revoke(alice, other.caller.keyId, 'elsewhere')).toBe(false);
    expect(await test.host.authenticate(other.key)).toMatchObject({ state: 'ok' });
    expect(await test.host.keys.revoke(alice, other.caller.keyId)).toBe(true);

    expect(await test.host.authenticate(own.key)).toEqual({ state: 'revoked' });
    expect(await test.host.authenticate(other.key)).toEqual({ state: 'revoked' });
  });

  it('is on record from its code to its end, and neither code nor key is in the store', async () => {
    const test = await open();
    const { code } = await test.host.sessions.createCode(alice);
    const { key, caller } = await test.host.sessions.open(code, '203.0.113.7');
    await test.host.sessions.end(caller);

    const entries = await test.store.readAudit(0, 10);

    const target = caller.keyId;
    expect(entries).toMatchObject([
      { action: 'session.code', actor: 'alice', target, details: { keyId: 'key-alice' } },
      {
        action: 'session.open',
        actor: 'alice',
        target,
        details: { of: 'key-alice', address: '203.0.113.7' },
      },
      { action: 'session.end', actor: 'alice', target },
    ]);
    const secret = key.split('.')[1] ?? '';
    const kept = await Promise.all(
      ['session', 'session-code'].map((collection) =>
        test.store.listDocuments('', collection, '', { limit: 10 }),
      ),
    );
    const text = JSON.stringify([entries, kept]);
    expect(kept.map(({ rows }) => rows.length)).toEqual([1, 1]);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(code);
  });

  it('with another secret, or of another kind of host, is not known', async () => {
    const store = openMemoryStore();
    const test = await open({ conformance: CONFORMANCE });
    const { key } = await signIn(test, { ...alice, test: true });
    const live = await open({ store });
    const forged = `${key.slice(0, -43)}${'A'.repeat(43)}`;

    expect(await test.host.authenticate(forged)).toEqual({ state: 'unknown' });
    expect(await test.host.authenticate('weft_session_')).toEqual({ state: 'unknown' });
    expect(await live.host.authenticate(key)).toEqual({ state: 'unknown' });
  });
});
