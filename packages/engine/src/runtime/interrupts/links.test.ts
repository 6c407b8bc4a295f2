import { createHmac, randomBytes } from 'node:crypto';
import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { deriveKey } from '../secrets/derived-keys.ts';
import { fakeReceiver } from '../testing/fake-receiver.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { alice, newRun, startHost, type TestHost, until } from '../testing/test-host.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const secretsKey = new Uint8Array(32).fill(9);
const GATE = node('gate', 'core.approvalGate', { title: 'Ship it?' });

const started: TestHost[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map(({ host }) => host.stop(0)));
});

interface Given extends TestHost {
  readonly clock: TestClock;
}

async function given(options: Partial<HostOptions> = {}, clock = testClock()): Promise<Given> {
  const store = options.store ?? openMemoryStore({ clock: clock.now });
  const at = await startHost({ secretsKey, clock, ...options, store });
  started.push(at);
  return { ...at, clock };
}

async function waiting(at: TestHost, gate = GATE): Promise<string> {
  const runId = await at.run(await at.register({ nodes: [gate] }));
  await until(async () => (await at.status(runId)) === 'waiting-approval');
  return runId;
}

async function tokenOf({ host }: Pick<TestHost, 'host'>, runId: string): Promise<string | undefined> {
  const view = await host.runs.snapshot(alice, runId);
  const { interrupt } = { ...view?.snapshot } as { interrupt?: { interruptToken?: string } };
  return interrupt?.interruptToken;
}

const accept = (at: Pick<TestHost, 'host'>, token: string | undefined) =>
  at.host.interrupts.answerLink(String(token), { action: 'accept' });

const payloadOf = (token: string | undefined): JsonObject =>
  JSON.parse(Buffer.from(String(token).split('.')[0] ?? '', 'base64url').toString()) as JsonObject;

/** What someone could make who has learnt the keys. */
function forged(token: string | undefined, change: JsonObject): string {
  const link = { ...payloadOf(token), ...change };
  const payload = Buffer.from(JSON.stringify(link)).toString('base64url');
  const key = deriveKey(secretsKey, `weft/links/${String(link['key'])}`);
  return `${payload}.${createHmac('sha256', key).update(payload).digest('base64url')}`;
}

describe('the key that signs links', () => {
  it('is not in the store: who has all of it, but not the secrets key, signs nothing that is accepted', async () => {
    const at = await given();
    const runId = await waiting(at);
    const thief = await given({ store: at.store, secretsKey: new Uint8Array(32).fill(1) }, at.clock);

    const stolen = await tokenOf(thief, runId);

    expect(stolen).toBeDefined();
    await expect(accept(at, stolen)).rejects.toMatchObject({ code: 'interrupt_not_found' });
    expect(await at.store.readSetting('links.secret')).toBeUndefined();
    expect(await accept(at, await tokenOf(at, runId))).toMatchObject({ status: 'completed' });
  });

  it('is the same for every process and after a restart', async () => {
    const at = await given();
    const runId = await waiting(at);
    const token = await tokenOf(at, runId);
    await at.host.stop(0);

    const later = await given({ store: at.store }, at.clock);

    expect(await tokenOf(later, runId)).toBe(token);
    expect(await later.host.interrupts.inspectLink(String(token))).toMatchObject({
      question: { kind: 'approval', data: { title: 'Ship it?' } },
      workflow: { id: expect.any(String), name: expect.any(String) },
      requestedAt: expect.any(String),
      linkExpiresAt: new Date(Number(payloadOf(token)['expiresAt'])).toISOString(),
    });
  });

  it('may be rotated: the links before stay valid once, and are refused after the second time (K-3)', async () => {
    const at = await given();
    const runId = await waiting(at);
    const first = String(await tokenOf(at, runId));

    await at.host.keys.rotateLinks(alice);
    const second = String(await tokenOf(at, runId));
    await at.host.interrupts.inspectLink(first);
    await at.host.keys.rotateLinks(alice);

    expect(second).not.toBe(first);
    await at.host.interrupts.inspectLink(second);
    await expect(at.host.interrupts.inspectLink(first)).rejects.toMatchObject({
      code: 'interrupt_not_found',
    });
  });

  it('may be rotated by one process, and no other accepts an old link or gives one out for long', async () => {
    const one = await given();
    const other = await given({ store: one.store, limits: { linkKeyRefreshMs: 5 } }, one.clock);
    const runId = await waiting(one);
    const first = String(await tokenOf(other, runId));

    await one.host.keys.rotateLinks(alice);
    await one.host.keys.rotateLinks(alice);

    await expect(other.host.interrupts.inspectLink(first)).rejects.toMatchObject({
      code: 'interrupt_not_found',
    });
    const fresh = await until(async () => {
      const token = await tokenOf(other, runId);
      return token === first ? undefined : token;
    });
    expect(payloadOf(fresh)['key']).toBe(payloadOf(await tokenOf(one, runId))['key']);
  });

  it('never comes back: after a restore and two rotations, links from before the restore stay dead', async () => {
    const [live, restored] = [await given(), await given()];
    const runId = await waiting(live);
    await live.host.keys.rotateLinks(alice);
    const lost = payloadOf(await tokenOf(live, runId))['key'];

    await restored.host.keys.rotateLinks(alice);

    expect(payloadOf(await tokenOf(restored, await waiting(restored)))['key']).not.toBe(lost);
  });

  it('leaves who rotated it in the audit log, and changes the validator of snapshots with links', async () => {
    const at = await given();
    const runId = await waiting(at);
    const before = (await at.host.runs.snapshot(alice, runId))?.etag;

    const rotated = await at.host.keys.rotateLinks(alice);

    const entries = await at.store.readAudit(0, 100);
    expect(entries.at(-1)).toMatchObject({
      actor: 'alice',
      action: 'keys.links.rotate',
      target: rotated.keyId,
    });
    expect((await at.host.runs.snapshot(alice, runId))?.etag).not.toBe(before);
  });
});

describe('a link in a snapshot', () => {
  it('stays the same between two reads of one quarter of an hour', async () => {
    const at = await given();
    const runId = await waiting(at);
    const first = await tokenOf(at, runId);

    at.clock.advance(14 * MINUTE);

    expect(await tokenOf(at, runId)).toBe(first);
    at.clock.advance(MINUTE);
    expect(await tokenOf(at, runId)).not.toBe(first);
  });

  it('is accepted for 15 to 30 minutes (K-2)', async () => {
    const at = await given();
    const token = String(await tokenOf(at, await waiting(at)));

    at.clock.advance(30 * MINUTE - 1);
    await at.host.interrupts.inspectLink(token);
    at.clock.advance(1);

    await expect(at.host.interrupts.inspectLink(token)).rejects.toMatchObject({ code: 'interrupt_expired' });
  });

  it('ends with its question', async () => {
    const at = await given();
    const runId = await waiting(at, node('gate', 'core.approvalGate', { title: 'Now?', timeoutMs: MINUTE }));

    const { expiresAt } = payloadOf(await tokenOf(at, runId));

    expect(expiresAt).toBe(at.clock.now() + MINUTE);
  });

  it('is not given out where it would not fit into an address', async () => {
    const at = await given();
    const short = await waiting(at);
    const long = await at.run(
      await at.register({ nodes: [node('n'.repeat(1_000), 'core.approvalGate', { title: 'x' })] }, 'long'),
    );
    await until(async () => (await at.status(long)) === 'waiting-approval');

    expect((await tokenOf(at, short))?.length).toBeLessThanOrEqual(1_024);
    expect(await tokenOf(at, long)).toBeUndefined();
  });
});

describe('no token is accepted', () => {
  it.each([
    ['snapshot', 30 * MINUTE],
    ['callback', 30 * DAY],
  ])('of the kind %s beyond its maximum, whatever it says', async (kind, maxMs) => {
    const at = await given();
    const now = at.clock.now();
    const token = forged(await tokenOf(at, await waiting(at)), {
      kind,
      issuedAt: now,
      expiresAt: now + 400 * DAY,
    });

    at.clock.advance(maxMs - 1);
    await at.host.interrupts.inspectLink(token);
    at.clock.advance(1);

    await expect(at.host.interrupts.inspectLink(token)).rejects.toMatchObject({ code: 'interrupt_expired' });
    await expect(accept(at, token)).rejects.toMatchObject({ code: 'interrupt_expired' });
  });

  it('that was issued in the future, is of no known kind, or lacks a time', async () => {
    const at = await given();
    const token = await tokenOf(at, await waiting(at));
    const now = at.clock.now();

    for (const change of [
      { issuedAt: now + 2 * MINUTE },
      { kind: 'for-ever' },
      { issuedAt: '0' },
      { expiresAt: null },
      { runId: 7 },
      { key: '../../x' },
    ] satisfies JsonObject[]) {
      await expect(at.host.interrupts.inspectLink(forged(token, change))).rejects.toMatchObject({
        code: 'interrupt_not_found',
      });
    }
  });

  it('for another run or question than its own', async () => {
    const at = await given();
    const [one, other] = [await waiting(at), await waiting(at)];
    const [payload = ''] = String(await tokenOf(at, one)).split('.');
    const [, mac = ''] = String(await tokenOf(at, other)).split('.');

    await expect(at.host.interrupts.inspectLink(`${payload}.${mac}`)).rejects.toMatchObject({
      code: 'interrupt_not_found',
    });
  });

  it('that was cut, garbled or is no token (K-1)', async () => {
    const at = await given();
    const token = String(await tokenOf(at, await waiting(at)));
    const [payload = '', mac = ''] = token.split('.');

    for (const text of [
      '',
      '.',
      payload,
      `.${mac}`,
      `${payload}.`,
      `${token}.x`,
      `${token}x`,
      'e30.e30',
      'bnVsbA.x',
    ])
      await expect(at.host.interrupts.inspectLink(text)).rejects.toMatchObject({
        code: 'interrupt_not_found',
      });
  });
});

describe('a link handed to a callback', () => {
  async function asked(at: Given, receiver: ReturnType<typeof fakeReceiver>, gate = GATE): Promise<string> {
    const workflowId = await at.register({ nodes: [gate] });
    await at.run(workflowId, { callbackUrl: 'https://desk.example.org/questions' });
    return String((await until(() => receiver.bodies()[0]))['interruptToken']);
  }

  it('expires with the question', async () => {
    const receiver = fakeReceiver();
    const at = await given({ egress: receiver.egress });

    const token = await asked(
      at,
      receiver,
      node('gate', 'core.approvalGate', { title: 'x', timeoutMs: 3 * DAY }),
    );

    expect(payloadOf(token)).toMatchObject({ kind: 'callback', expiresAt: at.clock.now() + 3 * DAY });
  });

  it('is accepted for 30 days where the question has no end, and for as long as the setting says (K-2)', async () => {
    const receiver = fakeReceiver();
    const at = await given({ egress: receiver.egress });
    const token = await asked(at, receiver);

    at.clock.advance(30 * DAY - 1);
    await at.host.interrupts.inspectLink(token);
    const stricter = await given({ store: at.store, limits: { maxCallbackLinkMs: 7 * DAY } }, at.clock);

    await expect(stricter.host.interrupts.inspectLink(token)).rejects.toMatchObject({
      code: 'interrupt_expired',
    });
  });
});

describe('a host without a secrets key', () => {
  it('gives out no links, accepts none, and takes no callbacks', async () => {
    const at = await given({ secretsKey: undefined });
    const runId = await waiting(at);
    const signing = await given({ store: at.store }, at.clock);
    const token = String(await tokenOf(signing, runId));

    expect(await tokenOf(at, runId)).toBeUndefined();
    await expect(at.host.interrupts.inspectLink(token)).rejects.toMatchObject({
      code: 'interrupt_not_found',
    });
    await expect(
      at.host.runs.create(alice, newRun('test-workflow', { callbackUrl: 'https://desk.example.org/' })),
    ).rejects.toMatchObject({ code: 'capability_not_provided', details: { capability: 'links' } });
    await expect(at.host.keys.rotateLinks(alice)).rejects.toMatchObject({ code: 'capability_not_provided' });
  });
});

describe('the id of a host', () => {
  it('stays the same for the life of the store, and says nothing about its keys', async () => {
    const at = await given();
    const runId = await waiting(at);
    const first = (await at.host.runs.ancestry(alice, runId))?.hostId;
    await at.host.keys.rotateLinks(alice);
    await at.host.stop(0);

    const later = await given({ store: at.store, secretsKey: randomBytes(32) }, at.clock);

    expect(first).toMatch(/^weft-[0-9a-f]{24}$/);
    expect((await later.host.runs.ancestry(alice, runId))?.hostId).toBe(first);
  });
});
