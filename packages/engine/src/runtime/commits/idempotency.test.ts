import { randomBytes } from 'node:crypto';
import { isHostError, type Json } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { Caller, IdempotencyClaim } from '../../host/host.ts';
import { DEFAULT_LIMITS } from '../../host/limits.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { SYSTEM_CLOCK } from '../../ports/clock.ts';
import { SILENT } from '../../ports/log.ts';
import { createCommitter } from './committer.ts';
import { createIdempotency, createOnce } from './idempotency.ts';

const caller: Caller = {
  tenant: 'acme',
  principal: 'ada',
  keyId: 'key',
  kind: 'user',
  test: false,
  scopes: new Set(),
};

function claim(keyHash: string, requestDigest = 'request'): IdempotencyClaim<Json> {
  const render = (outcome: Json) => ({ status: 201, body: JSON.stringify(outcome) });
  return { operation: 'POST /things', keyHash, requestDigest, render };
}

/** Two processes over one store; each makes numbered things. */
function open(idempotencyWaitMs = DEFAULT_LIMITS.idempotencyWaitMs) {
  const store = openMemoryStore();
  let made = 0;
  const process = () => {
    const committer = createCommitter({ store, log: SILENT, maxUnits: 512, maxBytes: 1024 * 1024 });
    const limits = { idempotencyWaitMs, idempotencyKeptMs: 60_000 };
    const idempotency = createIdempotency({ store, clock: SYSTEM_CLOCK, limits });
    const once = createOnce(idempotency, { committer, random: randomBytes });
    return {
      idempotency,
      make: (asked: IdempotencyClaim<Json> | undefined, first: () => Promise<void> = async () => undefined) =>
        once(caller, asked, async () => {
          await first();
          made += 1;
          return made;
        }),
    };
  };
  return { here: process(), there: process(), made: () => made };
}

function gate() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const ofCode = (code: Parameters<typeof isHostError>[1]) =>
  expect.toSatisfy((error: unknown) => isHostError(error, code));

describe('a request with an Idempotency-Key', () => {
  it('is carried out once, and every repeat gets the first answer', async () => {
    const { here, there, made } = open();

    const first = await here.make(claim('a'));

    expect(first).toEqual({ replayed: false, outcome: 1 });
    expect(await here.make(claim('a'))).toEqual({ replayed: true, status: 201, body: '1' });
    expect(await there.make(claim('a'))).toEqual({ replayed: true, status: 201, body: '1' });
    expect(made()).toBe(1);
  });

  it('conflicts with another request under the same key', async () => {
    const { here } = open();
    await here.make(claim('a'));

    await expect(here.make(claim('a', 'other'))).rejects.toEqual(ofCode('idempotency_key_mismatch'));
    await expect(here.idempotency.isKnown(caller, claim('a', 'other'))).rejects.toEqual(
      ofCode('idempotency_key_mismatch'),
    );
  });

  it('waits for the same request that is in flight, and gets its answer', async () => {
    const { here, made } = open();
    const held = gate();
    const first = here.make(claim('a'), () => held.promise);

    const second = here.make(claim('a'));
    held.resolve();

    expect(await first).toMatchObject({ replayed: false, outcome: 1 });
    expect(await second).toMatchObject({ replayed: true, body: '1' });
    expect(made()).toBe(1);
  });

  it('is asked to retry later when the first takes too long', async () => {
    const { here } = open(0);
    const held = gate();
    const first = here.make(claim('a'), () => held.promise);

    await expect(here.make(claim('a'))).rejects.toEqual(ofCode('idempotency_in_flight'));
    held.resolve();
    await first;
  });

  it('is carried out after one that failed', async () => {
    const { here } = open();
    const failing = here.make(claim('a'), () => Promise.reject(new Error('no')));
    const second = here.make(claim('a'));

    await expect(failing).rejects.toThrow('no');
    expect(await second).toMatchObject({ replayed: false });
  });

  it('gets the answer of another process that was faster', async () => {
    const { here, there } = open();

    const slower = await here.make(claim('a'), async () => {
      await there.make(claim('a'));
    });

    expect(slower).toEqual({ replayed: true, status: 201, body: '1' });
  });

  it('conflicts with another request that another process carried out first', async () => {
    const { here, there } = open();

    const slower = here.make(claim('a'), async () => {
      await there.make(claim('a', 'other'));
    });

    await expect(slower).rejects.toEqual(ofCode('idempotency_key_mismatch'));
  });
});

describe('a request without a key', () => {
  it('is carried out every time', async () => {
    const { here, made } = open();

    await here.make(undefined);
    await here.make(undefined);

    expect(made()).toBe(2);
  });
});
