import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openMemoryStore, type StoreFaults } from '../../memory-store/memory-store.ts';
import type { NewOutboxRow, OutboxRow, Store, WriteUnit } from '../../ports/store.ts';
import { appendUnit, documentUnit, given, givenHeldRun, START } from '../../store-contract/fixtures.ts';
import { createCommitter } from '../commits/committer.ts';
import { SILENT } from '../../ports/log.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import type { Attempt } from './delivery.ts';
import { createOutboxWorker, type OutboxWorker } from './worker.ts';

/** A receiver whose answers the test decides. */
interface Sent {
  readonly row: OutboxRow;
  readonly signal: AbortSignal;
  readonly mayLeave: () => boolean;
  readonly answer: (attempt: Attempt) => void;
}

const LIMITS = {
  pollMs: 5,
  deliveryTimeoutMs: 5_000,
  deliveryLeaseMs: 60_000,
  deliveryConcurrency: 6,
  deliveriesPerTarget: 2,
};
const delivered: Attempt = { state: 'delivered' };
const failed: Attempt = { state: 'failed', reason: 'status_500' };

let clock: TestClock;
let store: Store;
let faults: StoreFaults;
let sent: Sent[];
let worker: OutboxWorker;
let buried: string[];

function newWorker(limits: Partial<typeof LIMITS> = {}): OutboxWorker {
  return createOutboxWorker({
    store,
    committer: createCommitter({ store, log: SILENT, maxUnits: 64, maxBytes: 1e6, askDelaysMs: [0] }),
    clock,
    random: randomBytes,
    log: SILENT,
    limits: { ...LIMITS, ...limits },
    deliver: (row, signal, mayLeave) =>
      new Promise((resolve) => {
        sent.push({ row, signal, mayLeave, answer: resolve });
        signal.addEventListener('abort', () => resolve({ state: 'aborted' }));
      }),
    deadLetter: async (row, reason) => {
      buried.push(`${row.id} ${reason}`);
      return undefined;
    },
  });
}

beforeEach(() => {
  clock = testClock(START);
  faults = {};
  store = openMemoryStore({ clock: clock.now, faults });
  sent = [];
  buried = [];
  worker = newWorker();
});
afterEach(async () => {
  for (const { answer } of sent) answer(delivered);
  await worker.stop(0);
});

const row = (id: string, more: Partial<NewOutboxRow> = {}): NewOutboxRow => ({
  id,
  topic: 'webhook:one',
  dueAt: START,
  body: { seq: 0 },
  ...more,
});
async function givenRows(...outbox: NewOutboxRow[]): Promise<void> {
  const runId = await givenHeldRun(store);
  await given(store, appendUnit(runId, 0, { outbox }));
}
const until = (condition: () => boolean): Promise<true> =>
  vi.waitUntil(condition, { interval: 1, timeout: 10_000 });
const ids = (): string[] => sent.map((each) => each.row.id);
const next = (count: number): Promise<true> => until(() => sent.length >= count);
const answer = (id: string, attempt: Attempt): void =>
  sent.findLast((each) => each.row.id === id)?.answer(attempt);

describe('a delivery', () => {
  it('that succeeds is never sent again', async () => {
    await givenRows(row('a'));
    worker.start();
    await next(1);

    answer('a', delivered);

    await until(() => worker.counts().sending === 0);
    clock.advance(24 * 60 * 60 * 1_000);
    await givenRows(row('b'));
    await next(2);
    expect(ids()).toEqual(['a', 'b']);
  });

  it('that fails is tried again after a wait, eight times in all, and is then dead (O-5)', async () => {
    await givenRows(row('a'));
    worker.start();

    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await next(attempt);
      expect(sent.at(-1)?.row.attempts).toBe(attempt);
      expect(buried).toEqual([]);
      answer('a', failed);
      await until(() => worker.counts().sending === 0);
      clock.advance(4 * 60 * 60 * 1_000);
    }

    await until(() => buried.length === 1);
    await givenRows(row('b'));
    await next(9);
    expect(ids().at(-1)).toBe('b');
    expect(buried).toEqual(['a status_500']);
  });

  it('whose sender slept past the lease sends nothing, and leaves it to the next claimer (O-4)', async () => {
    await givenRows(row('a'));
    const sleepy = newWorker({ pollMs: 1_000_000 });
    sleepy.start();
    await next(1);
    expect(sent[0]?.mayLeave()).toBe(true);

    clock.advance(LIMITS.deliveryLeaseMs - LIMITS.deliveryTimeoutMs);
    expect(sent[0]?.mayLeave()).toBe(false);
    clock.advance(LIMITS.deliveryTimeoutMs);
    worker.start();
    await next(2);
    sent[0]?.answer(failed);
    await until(() => sleepy.counts().sending === 0);
    await sleepy.stop(0);

    // Written down by the first, it would wait for its next turn instead of its second one's lease.
    const [again] = await store.claimOutbox(1, 1);
    expect([sent[1]?.row.attempts, sent[1]?.mayLeave(), again]).toEqual([2, true, undefined]);
    clock.advance(LIMITS.deliveryLeaseMs - 1);
    expect(await store.claimOutbox(1, 1)).toEqual([]);
  });

  it('that was withdrawn is over', async () => {
    await givenRows(row('a', { lane: 'l' }), row('b', { lane: 'l' }));
    worker.start();
    await next(1);

    answer('a', { state: 'withdrawn' });

    await next(2);
    expect(ids()).toEqual(['a', 'b']);
  });

  it('whose success could not be written down is sent again under the same id (O-1)', async () => {
    await givenRows(row('a'));
    worker.start();
    await next(1);
    faults.beforeCommit = () => {
      throw new Error('the database is gone');
    };

    answer('a', delivered);

    await until(() => worker.counts().sending === 0);
    faults.beforeCommit = undefined;
    clock.advance(61_000);
    await next(2);
    expect(ids()).toEqual(['a', 'a']);
  });

  it('that takes too long is cut off and counts as failed', async () => {
    worker = newWorker({ deliveryTimeoutMs: 10 });
    await givenRows(row('a'));
    worker.start();
    await next(1);

    await until(() => sent[0]?.signal.aborted === true);

    await until(() => worker.counts().sending === 0);
    clock.advance(4_000 - 1);
    await givenRows(row('b'));
    await next(2);
    expect(ids()).toEqual(['a', 'b']);
    clock.advance(6_000);
    await next(3);
    expect(sent.at(-1)?.row).toMatchObject({ id: 'a', attempts: 2 });
  });
});

describe('the lanes', () => {
  it('send one after the other, in order, also when the first is tried again (O-2)', async () => {
    await givenRows(...['a1', 'a2', 'a3'].map((id) => row(id, { lane: 'a' })));
    worker.start();
    await next(1);

    answer('a1', failed);
    await until(() => worker.counts().sending === 0);
    clock.advance(10_000);
    await next(2);
    answer('a1', delivered);
    await next(3);
    answer('a2', delivered);
    await next(4);

    expect(ids()).toEqual(['a1', 'a1', 'a2', 'a3']);
  });

  it('continue after a dead row (O-5)', async () => {
    await givenRows(row('a1', { lane: 'a' }), row('a2', { lane: 'a' }));
    worker.start();

    for (let attempt = 1; attempt < 8; attempt += 1) {
      await next(attempt);
      answer('a1', failed);
      await until(() => worker.counts().sending === 0);
      clock.advance(4 * 60 * 60 * 1_000);
    }
    await next(8);
    answer('a1', failed);
    await next(9);

    expect(ids().at(-1)).toBe('a2');
  });
});

describe('receivers', () => {
  it('that are slow do not delay others, whatever waits for them (O-3)', async () => {
    const slow = Array.from({ length: 100 }, (_, index) => row(`slow-${index}`, { topic: 'webhook:slow' }));
    const fast = Array.from({ length: 30 }, (_, index) => row(`fast-${index}`, { topic: 'webhook:fast' }));
    await givenRows(...slow, ...fast);
    worker.start();

    const served = async (index: number): Promise<void> => {
      await until(() => ids().includes(`fast-${index}`));
      answer(`fast-${index}`, delivered);
    };
    for (let index = 0; index < fast.length; index += 1) await served(index);

    expect(ids().filter((id) => id.startsWith('slow'))).toHaveLength(LIMITS.deliveriesPerTarget);
  });

  it('never see more requests at once than are allowed, for one and in all (O-3)', async () => {
    const rows = ['a', 'b', 'c', 'd'].flatMap((topic) =>
      Array.from({ length: 5 }, (_, index) => row(`${topic}${index}`, { topic })),
    );
    await givenRows(...rows);
    worker.start();

    await next(LIMITS.deliveryConcurrency);

    const { sending } = worker.counts();
    expect(sending).toBe(LIMITS.deliveryConcurrency);
    for (const topic of ['a', 'b', 'c', 'd']) {
      expect(ids().filter((id) => id.startsWith(topic)).length).toBeLessThanOrEqual(2);
    }
  });
});

describe('a worker that stops', () => {
  it('lets running deliveries end', async () => {
    await givenRows(row('a'));
    worker.start();
    await next(1);

    const stopped = worker.stop(60_000);
    answer('a', delivered);
    await stopped;

    expect(await store.claimOutbox(10, 1_000)).toEqual([]);
    clock.advance(120_000);
    expect(await store.claimOutbox(10, 1_000)).toEqual([]);
  });

  it('aborts what does not end and leaves everything unsent to the next one, at once', async () => {
    await givenRows(...['a', 'b', 'c', 'd'].map((id) => row(id)));
    worker.start();
    await next(2);

    await worker.stop(0);

    expect(sent.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    const left = (await store.claimOutbox(10, 1_000)).map(({ id }) => id);
    expect(left.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('that is given up dies in the transaction of its record', async () => {
    const groups: WriteUnit[][] = [];
    const commit: Store['commit'] = (units) => {
      groups.push([...units]);
      return store.commit(units);
    };
    await worker.stop(0);
    const watched = { ...store, commit };
    worker = createOutboxWorker({
      store,
      committer: createCommitter({
        store: watched,
        log: SILENT,
        maxUnits: 64,
        maxBytes: 1e6,
        askDelaysMs: [0],
      }),
      clock,
      random: randomBytes,
      log: SILENT,
      limits: LIMITS,
      deliver: async () => failed,
      retryScale: Number.MAX_SAFE_INTEGER,
      deadLetter: async ({ id }) => documentUnit(id),
    });
    await givenRows(row('a'));

    worker.start();

    const isLast = (unit: WriteUnit): boolean => unit.kind === 'outbox' && unit.settle[0]?.state === 'dead';
    await until(() => groups.some((units) => units.some(isLast)));
    expect(groups.find((units) => units.some(isLast))?.map(({ kind }) => kind)).toEqual([
      'document',
      'outbox',
    ]);
  });
});
