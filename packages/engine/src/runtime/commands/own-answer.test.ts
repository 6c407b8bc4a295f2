import { afterEach, describe, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import type { CommandAnswer, IdempotencyClaim, LinkAnswer } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { ResolveCommand, Store, WriteUnit } from '../../ports/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

/** The sender of an answer gets the result of that answer, whatever happens between two processes meanwhile. */

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const GATE = { nodes: [node('gate', 'core.approvalGate')] };
const ACCEPT: ResolveCommand = {
  type: 'resolve',
  nodeId: 'gate',
  value: { action: 'accept' },
  by: 'alice',
  byUser: false,
  viaLink: false,
};

function claimOf(keyHash: string, requestDigest = 'd1'): IdempotencyClaim<unknown> {
  return {
    operation: 'POST /answer',
    keyHash,
    requestDigest,
    render: (outcome) => ({ status: 200, body: JSON.stringify(outcome) }),
  };
}

/** A run that waits for an answer, held by no one, and the link to its question. */
async function asking(at: TestHost): Promise<{ runId: string; link: string }> {
  const runId = await at.run(await at.register(GATE));
  await until(async () => (await at.status(runId)) === 'waiting-approval');
  const { rows } = await at.host.interrupts.list(alice, { limit: 100 });
  return { runId, link: rows.find((row) => row.runId === runId)?.interruptToken ?? '' };
}

/** The stored response of a repeat, parsed; otherwise the answer itself. */
function resultOf(answer: CommandAnswer | LinkAnswer | undefined): unknown {
  return answer?.replayed === true ? JSON.parse(answer.body) : answer;
}

/** The store as a process sees it that stops dead before its next write of this kind, until it is woken. */
function freezing(store: Store, kind: WriteUnit['kind']): Store & { frozen: Promise<void>; wake(): void } {
  let [stop, wake] = [() => {}, () => {}];
  const frozen = new Promise<void>((resolve) => (stop = resolve));
  const woken = new Promise<void>((resolve) => (wake = resolve));
  return {
    ...store,
    frozen,
    wake,
    async commit(units) {
      if (units.some((unit) => unit.kind === kind)) {
        stop();
        await woken;
      }
      return store.commit(units);
    },
  };
}

const APPLIED = { commandResult: { applied: true, status: 'completed' } };

describe('an answer that is sent again with its key, because the process that got it froze', () => {
  it('gets the result of the one that was taken, from either process (W-38)', async () => {
    const store = openMemoryStore();
    const sleepy = freezing(store, 'command');
    const [first, second] = [await open({ store: sleepy }), await open({ store })];
    const { runId } = await asking(second);

    const early = first.host.runs.command(alice, runId, ACCEPT, claimOf('k1'));
    await sleepy.frozen;
    const again = await second.host.runs.command(alice, runId, ACCEPT, claimOf('k1'));
    await until(async () => (await second.status(runId)) === 'completed');
    sleepy.wake();

    expect(resultOf(again)).toMatchObject(APPLIED);
    expect(resultOf(await early)).toMatchObject(APPLIED);
  });

  it('gets the result of the one that was taken, also through a signed link', async () => {
    const store = openMemoryStore();
    const sleepy = freezing(store, 'command');
    const [first, second] = [await open({ store: sleepy }), await open({ store })];
    const { runId, link } = await asking(second);

    const early = first.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });
    await sleepy.frozen;
    const again = await second.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });
    await until(async () => (await second.status(runId)) === 'completed');
    const later = await second.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });
    sleepy.wake();

    expect(resultOf(again)).toMatchObject(APPLIED);
    expect(resultOf(later)).toMatchObject({ ...APPLIED, runId, nodeId: 'gate' });
    expect(resultOf(await early)).toMatchObject(APPLIED);
  });

  it('gets the result of the one that was taken between two polls of the second', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const { runId, link } = await asking(first);
    let isFirstLook = true;
    const second = await open({
      store: {
        ...store,
        async readIdempotency(...asked) {
          const found = await store.readIdempotency(...asked);
          if (!isFirstLook) return found;
          isFirstLook = false;
          await first.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });
          return found;
        },
      },
    });

    const again = await second.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });

    expect(isFirstLook).toBe(false);
    expect(resultOf(again)).toMatchObject(APPLIED);
    expect((await first.types(runId)).filter((type) => type === 'interrupt.resolved')).toHaveLength(1);
  });

  it('gets its result after its link has expired', async () => {
    const clock = testClock();
    const at = await open({ clock });
    const { link } = await asking(at);
    await at.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });

    clock.advance(31 * 60_000);

    expect(
      resultOf(await at.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') })),
    ).toMatchObject(APPLIED);
  });
});

describe('an answer through a signed link', () => {
  it('without a key, or with another one, is too late when the question was answered', async () => {
    const at = await open();
    const { link } = await asking(at);
    await at.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });

    const late = { code: 'interrupt_already_resolved' };
    await expect(at.host.interrupts.answerLink(link, ACCEPT.value)).rejects.toMatchObject(late);
    await expect(
      at.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k2') }),
    ).rejects.toMatchObject(late);
  });

  it('with the key of another answer is refused', async () => {
    const at = await open();
    const { link } = await asking(at);
    await at.host.interrupts.answerLink(link, ACCEPT.value, { idempotency: claimOf('k1') });

    await expect(
      at.host.interrupts.answerLink(link, { action: 'reject' }, { idempotency: claimOf('k1', 'd2') }),
    ).rejects.toMatchObject({
      code: 'idempotency_key_mismatch',
    });
  });

  it('meets no key that was used with a link to another question, or with an API key', async () => {
    const at = await open();
    const [one, other] = [await asking(at), await asking(at)];
    await at.host.interrupts.answerLink(one.link, ACCEPT.value, { idempotency: claimOf('k1') });
    const third = await asking(at);
    await at.host.runs.command(alice, third.runId, ACCEPT, claimOf('k2'));

    const answers = [
      await at.host.interrupts.answerLink(other.link, ACCEPT.value, { idempotency: claimOf('k1', 'd2') }),
      await at.host.interrupts.answerLink((await asking(at)).link, ACCEPT.value, {
        idempotency: claimOf('k2', 'd2'),
      }),
    ];

    expect(answers).toMatchObject([
      { replayed: false, ...APPLIED },
      { replayed: false, ...APPLIED },
    ]);
  });
});

describe('an answer that another process takes between two looks at what became of it', () => {
  it('gets that as its result', async () => {
    const store = openMemoryStore();
    let isLookedFor = false;
    const decider = await open({
      store: { ...store, claimDue: async (...asked) => (isLookedFor ? store.claimDue(...asked) : []) },
    });
    const { runId } = await asking(decider);
    await until(async () => (await store.readRun(runId, undefined))?.holder === undefined);
    const other = await open({
      store: {
        ...store,
        claim: async () => ({ state: 'held', holder: 'another' }),
        claimDue: async () => [],
        async readCommand(...asked) {
          const found = await store.readCommand(...asked);
          isLookedFor = true;
          await until(async () => (await decider.status(runId)) === 'completed');
          return found;
        },
      },
    });

    const answer = await other.host.runs.command(alice, runId, ACCEPT);

    expect(answer).toMatchObject({ replayed: false, ...APPLIED });
  });
});

describe('an answer whose run is removed before its sender gets the result', () => {
  it('is not called too late (W-37)', async () => {
    const store = openMemoryStore();
    const decider = await open({ store });
    let isRemoved = false;
    const other = await open({
      store: {
        ...store,
        // It takes up nothing itself, and is cut off between the two looks at what became of the answer.
        claim: async () => ({ state: 'held', holder: 'another' }),
        claimDue: async () => [],
        async readRun(runId, tenant) {
          const row = await store.readRun(runId, tenant);
          if (row?.head.status !== 'completed' || isRemoved) return row;
          isRemoved = true;
          await decider.host.operations.purge(alice, runId);
          return row;
        },
      },
    });
    const { runId } = await asking(decider);

    const answer = other.host.runs.command(alice, runId, ACCEPT);

    await expect(answer).rejects.toMatchObject({ code: 'run_expired' });
    expect(isRemoved).toBe(true);
  });
});
