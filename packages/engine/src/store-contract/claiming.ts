import { describe, expect, it } from 'vitest';
import {
  appendUnit,
  commandUnit,
  commitOne,
  completed,
  createUnit,
  event,
  given,
  givenFreeRun,
  givenHeldRun,
  newRunId,
  readAll,
  running,
  START,
  waiting,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

const TTL = 10_000;

/** What was claimed, without the data read ahead. */
async function claimedBy(
  { store }: Subject,
  holder: string,
  limit: number,
): Promise<readonly { runId: string; epoch: number }[]> {
  return (await store.claimDue(holder, limit)).map(({ runId, epoch }) => ({ runId, epoch }));
}

/** S-3 and S-5: who may write, and who is to look at a run. */
export function claimingContract(subject: Subject): void {
  describe('the holders', () => {
    it('are listed with what they said last, their deadline and the open runs they stand on', async () => {
      await subject.store.heartbeat('h1', TTL, 'first');
      await subject.store.heartbeat('h2', 2 * TTL, 'second');
      await subject.store.heartbeat('h2', 3 * TTL, 'third');
      const runs = [await givenFreeRun(subject.store), await givenFreeRun(subject.store)];
      for (const runId of runs) await subject.store.claim(runId, 'h1');

      expect(await subject.store.holders()).toEqual([
        { name: 'h1', deadline: START + TTL, isAlive: true, runs: 2, about: 'first' },
        { name: 'h2', deadline: START + 3 * TTL, isAlive: true, runs: 0, about: 'third' },
      ]);
    });

    it('are listed past their deadline only while they stand on a run, and not when they have left', async () => {
      for (const holder of ['h1', 'h2', 'h3']) await subject.store.heartbeat(holder, TTL);
      await subject.store.claim(await givenFreeRun(subject.store), 'h1');
      await subject.store.releaseAll('h3');

      expect((await subject.store.holders()).map(({ name }) => name)).toEqual(['h1', 'h2']);
      subject.now += TTL;

      expect(await subject.store.holders()).toEqual([
        { name: 'h1', deadline: START + TTL, isAlive: false, runs: 1 },
      ]);
    });
  });

  describe('a claim', () => {
    it('is born with a run created by a holder, at epoch 1', async () => {
      const runId = await givenHeldRun(subject.store);

      expect(await subject.store.readRun(runId, undefined)).toMatchObject({ holder: 'h1', epoch: 1 });
      expect(await subject.store.claim(runId, 'h2')).toEqual({ state: 'held', holder: 'h1' });
    });

    it('of a free run raises its epoch', async () => {
      await subject.store.heartbeat('h1', TTL);
      const runId = await givenFreeRun(subject.store);

      expect(await subject.store.claim(runId, 'h1')).toEqual({ state: 'claimed', epoch: 1 });
      expect(await subject.store.readRun(runId, undefined)).toMatchObject({ holder: 'h1', epoch: 1 });
      expect(await subject.store.claim(runId, 'h1')).toEqual({ state: 'held', holder: 'h1' });
    });

    it('is won by exactly one of ten racing holders', async () => {
      const runId = await givenFreeRun(subject.store);
      const holders = Array.from({ length: 10 }, (_, index) => `h${index}`);
      await Promise.all(holders.map((holder) => subject.store.heartbeat(holder, TTL)));

      const results = await Promise.all(holders.map((holder) => subject.store.claim(runId, holder)));

      expect(results.filter(({ state }) => state === 'claimed')).toEqual([{ state: 'claimed', epoch: 1 }]);
      expect(results.filter(({ state }) => state === 'held')).toHaveLength(9);
    });

    it('cannot be had of a run that is over or does not exist', async () => {
      const over = newRunId();
      await given(subject.store, createUnit(over, { events: [event(0, 'run.completed')], head: completed }));

      expect(await subject.store.claim(over, 'h1')).toEqual({ state: 'terminal' });
      expect(await subject.store.claim(newRunId(), 'h1')).toEqual({ state: 'missing' });
      expect(await subject.store.claim('no such run', 'h1')).toEqual({ state: 'missing' });
    });

    it('is needed to write: a run without a holder takes no append', async () => {
      const runId = await givenFreeRun(subject.store);

      expect(await commitOne(subject.store, appendUnit(runId, 0, { epoch: 0 }))).toEqual({
        state: 'refused',
        reason: 'stale_epoch',
      });
      expect(await commitOne(subject.store, appendUnit(runId, 0, { epoch: 1 }))).toEqual({
        state: 'refused',
        reason: 'stale_epoch',
      });
    });

    it('stands until the deadline of its holder, and heartbeats move that deadline for all its runs', async () => {
      const [first, second] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await subject.store.heartbeat('h2', 10 * TTL);
      subject.now += TTL - 1;
      await subject.store.heartbeat('h1', TTL);
      subject.now += TTL - 1;

      expect(await subject.store.claim(first, 'h2')).toEqual({ state: 'held', holder: 'h1' });
      expect(await subject.store.claimDue('h2', 10)).toEqual([]);
      expect(await subject.store.readRun(second, undefined)).toMatchObject({ holder: 'h1' });
    });

    it('may be taken over after the deadline, and then the old holder can write nothing', async () => {
      const runId = await givenHeldRun(subject.store, { count: 1 });
      subject.now += TTL + 1;
      await subject.store.heartbeat('h2', TTL);
      expect(await subject.store.readRun(runId, undefined)).not.toHaveProperty('holder');

      expect(await subject.store.claim(runId, 'h2')).toEqual({ state: 'claimed', epoch: 2 });

      await subject.store.heartbeat('h1', TTL);
      expect(await commitOne(subject.store, appendUnit(runId, 1, { epoch: 1 }))).toEqual({
        state: 'refused',
        reason: 'stale_epoch',
      });
      expect(await commitOne(subject.store, appendUnit(runId, 1, { epoch: 2 }))).toEqual({
        state: 'committed',
      });
      expect(await readAll(subject.store, runId)).toHaveLength(2);
    });

    it('grows its epoch with every takeover, however often', async () => {
      const runId = await givenFreeRun(subject.store);

      for (let epoch = 1; epoch <= 5; epoch += 1) {
        await subject.store.heartbeat(`h${epoch}`, TTL);
        expect(await claimedBy(subject, `h${epoch}`, 1)).toEqual([{ runId, epoch }]);
        subject.now += TTL + 1;
      }
    });

    it('of a stale holder counts before the end of the run: it hears that it lost the run', async () => {
      const runId = await givenHeldRun(subject.store);
      subject.now += TTL + 1;
      await subject.store.heartbeat('h2', TTL);
      await subject.store.claim(runId, 'h2');
      await given(subject.store, appendUnit(runId, 0, { epoch: 2, head: completed }));

      expect(await commitOne(subject.store, appendUnit(runId, 0, { epoch: 1 }))).toEqual({
        state: 'refused',
        reason: 'stale_epoch',
      });
    });

    it('is given up with the unit that says so', async () => {
      const runId = await givenHeldRun(subject.store);

      await given(subject.store, appendUnit(runId, 0, { release: true }));

      expect(await subject.store.readRun(runId, undefined)).not.toHaveProperty('holder');
      expect(await commitOne(subject.store, appendUnit(runId, 1))).toEqual({
        state: 'refused',
        reason: 'stale_epoch',
      });
      await subject.store.heartbeat('h2', TTL);
      expect(await claimedBy(subject, 'h2', 5)).toEqual([{ runId, epoch: 2 }]);
    });

    it('ends with the run', async () => {
      const runId = await givenHeldRun(subject.store);

      await given(subject.store, appendUnit(runId, 0, { head: completed }));

      expect(await subject.store.readRun(runId, undefined)).not.toHaveProperty('holder');
    });

    it('can be looked up by its holder', async () => {
      const [born, ended] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, appendUnit(ended, 0, { head: completed }));
      const free = await givenFreeRun(subject.store);

      expect(await subject.store.heldBy('h1')).toEqual([{ runId: born, epoch: 1 }]);
      await subject.store.claim(free, 'h1');

      const held = (await subject.store.heldBy('h1')).map(({ runId }) => runId);
      expect(held.sort()).toEqual([born, free].sort());
      expect(await subject.store.heldBy('stranger')).toEqual([]);
    });

    it('is given up for all runs of a holder at once, which stay due as they are', async () => {
      const mine = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      const theirs = await givenHeldRun(subject.store, { holder: 'h2' });

      await subject.store.releaseAll('h1');

      expect(await commitOne(subject.store, appendUnit(mine[0] ?? '', 0))).toMatchObject({
        reason: 'stale_epoch',
      });
      expect((await subject.store.claimDue('h2', 5)).map(({ runId }) => runId).sort()).toEqual(
        [...mine].sort(),
      );
      expect(await subject.store.readRun(theirs, undefined)).toMatchObject({ holder: 'h2', epoch: 1 });
    });
  });

  describe('a due run', () => {
    it('is claimed when its time has come, not before', async () => {
      await subject.store.heartbeat('h1', 10 * TTL);
      const runId = await givenFreeRun(subject.store, { ...waiting, wakeAt: START + 500 });

      subject.now = START + 499;
      expect(await subject.store.claimDue('h1', 5)).toEqual([]);
      expect(await subject.store.nextDueAt()).toBe(START + 500);

      subject.now = START + 500;
      expect(await claimedBy(subject, 'h1', 5)).toEqual([{ runId, epoch: 1 }]);
      expect(await subject.store.nextDueAt()).toBeUndefined();
    });

    it('is given to one holder only, the longest due first, at most as many as asked', async () => {
      await subject.store.heartbeat('h1', TTL);
      await subject.store.heartbeat('h2', TTL);
      const third = await givenFreeRun(subject.store, { ...running, wakeAt: 30 });
      const first = await givenFreeRun(subject.store, { ...running, wakeAt: 10 });
      const second = await givenFreeRun(subject.store, { ...running, wakeAt: 20 });

      expect((await subject.store.claimDue('h1', 2)).map(({ runId }) => runId)).toEqual([first, second]);
      expect((await subject.store.claimDue('h2', 2)).map(({ runId }) => runId)).toEqual([third]);
      expect(await subject.store.claimDue('h1', 2)).toEqual([]);
    });

    it('of one tenant among many of another gets its turn at once, and so does each after the last', async () => {
      await subject.store.heartbeat('h1', 10 * TTL);
      const of = async (tenant: string, wakeAt: number): Promise<string> =>
        givenFreeRun(subject.store, { ...running, wakeAt }, { tenant });
      for (let wakeAt = 1; wakeAt <= 20; wakeAt += 1) await of('greedy', wakeAt);
      const modest = [await of('modest', 100), await of('modest', 101)];
      const other = await of('other', 50);

      const first = await subject.store.claimDue('h1', 4);
      const second = await subject.store.claimDue('h1', 2, { after: 'modest' });
      const third = await subject.store.claimDue('h1', 3, { after: 'other' });

      expect(first.map(({ tenant }) => tenant)).toEqual(['greedy', 'modest', 'other', 'greedy']);
      expect(first.map(({ runId }) => runId)).toContain(modest[0]);
      expect(first.map(({ runId }) => runId)).toContain(other);
      expect(second.map(({ tenant }) => tenant)).toEqual(['greedy', 'modest']);
      expect(second[1]?.runId).toBe(modest[1]);
      expect(third.map(({ tenant }) => tenant)).toEqual(['greedy', 'greedy', 'greedy']);
      expect(await subject.store.claimDue('h1', 100)).toHaveLength(14);
    });

    it('of a tenant that has enough stays where it is', async () => {
      await subject.store.heartbeat('h1', 10 * TTL);
      const free = (tenant: string): Promise<string> => givenFreeRun(subject.store, running, { tenant });
      for (let count = 0; count < 5; count += 1) await free('greedy');
      const modest = await free('modest');

      const except = await subject.store.claimDue('h1', 10, { except: ['greedy'] });
      const others = await subject.store.claimDue('h1', 10, { except: ['modest'] });

      expect(except.map(({ runId }) => runId)).toEqual([modest]);
      expect(others.map(({ tenant }) => tenant)).toEqual(Array.from({ length: 5 }, () => 'greedy'));
    });

    it('says how large it is, and large ones are claimed only as far as there is room, one in any case', async () => {
      await subject.store.heartbeat('h1', 10 * TTL);
      const large = async (tenant: string, wakeAt: number): Promise<string> =>
        givenFreeRun(
          subject.store,
          { ...running, wakeAt },
          { tenant, inputs: { text: 'x'.repeat(100_000) } },
        );
      for (let wakeAt = 1; wakeAt <= 4; wakeAt += 1) await large('greedy', wakeAt);
      await large('modest', 10);
      const small = await givenFreeRun(subject.store, { ...running, wakeAt: 11 }, { tenant: 'small' });

      const first = await subject.store.claimDue('h1', 10, { maxBytes: 250_000 });
      const second = await subject.store.claimDue('h1', 10, { maxBytes: 10, after: 'modest' });

      expect(first.map(({ tenant }) => tenant)).toEqual(['greedy', 'modest', 'small']);
      expect(first[0]?.bytes).toBeGreaterThanOrEqual(100_000);
      expect(first[0]?.bytes).toBeLessThan(110_000);
      expect(first[2]).toMatchObject({ runId: small, bytes: expect.any(Number) as number });
      expect(first[2]?.bytes).toBeLessThan(1_000);
      expect(second).toHaveLength(1);
    });

    it('counts its checkpoint, too', async () => {
      const runId = await givenHeldRun(subject.store);
      const checkpoint = { seq: 1, foldVersion: 1, state: JSON.stringify('x'.repeat(50_000)) };
      await given(subject.store, appendUnit(runId, 0, { checkpoint, release: true }));

      const [claimed] = await subject.store.claimDue('h1', 5);

      expect(claimed?.bytes).toBeGreaterThanOrEqual(50_000);
    });

    it('of a tenant gets its turn also when those before it were left behind by a holder that is gone', async () => {
      for (let count = 0; count < 10; count += 1)
        await givenHeldRun(subject.store, { record: { tenant: 'greedy' } });
      const modest = await givenHeldRun(subject.store, { record: { tenant: 'modest' } });
      subject.now += TTL + 1;
      await subject.store.heartbeat('h2', 10 * TTL);

      const claimed = await subject.store.claimDue('h2', 3);

      expect(claimed.map(({ tenant }) => tenant)).toEqual(['greedy', 'modest', 'greedy']);
      expect(claimed[1]).toMatchObject({ runId: modest, epoch: 2 });
      const rest = await subject.store.claimDue('h2', 20);
      expect(rest).toHaveLength(8);
      expect(new Set([...claimed, ...rest].map(({ epoch }) => epoch))).toEqual(new Set([2]));
    });

    it('is never skipped, whatever order the commits happened in', async () => {
      await subject.store.heartbeat('h1', TTL);
      const claimed: string[] = [];
      const made: string[] = [];
      for (const wakeAt of [50, 40, 60, 10, 0, 70, 30]) {
        made.push(await givenFreeRun(subject.store, { ...running, wakeAt }));
        if (wakeAt % 20 === 0)
          claimed.push(...(await subject.store.claimDue('h1', 1)).map(({ runId }) => runId));
      }

      claimed.push(...(await subject.store.claimDue('h1', 100)).map(({ runId }) => runId));

      expect(claimed.sort()).toEqual(made.sort());
    });

    it('of a holder past its deadline is found again', async () => {
      const runId = await givenHeldRun(subject.store);
      await subject.store.heartbeat('h2', 10 * TTL);
      expect(await subject.store.nextDueAt()).toBeUndefined();
      expect(await subject.store.claimDue('h2', 5)).toEqual([]);

      subject.now += TTL + 1;

      expect(await subject.store.nextDueAt()).toBe(0);
      expect(await claimedBy(subject, 'h2', 5)).toEqual([{ runId, epoch: 2 }]);
    });

    it('is no longer due when only a command can move it, or it is over', async () => {
      await subject.store.heartbeat('h1', TTL);
      await givenFreeRun(subject.store, waiting);
      const ended = await givenHeldRun(subject.store);
      await given(subject.store, appendUnit(ended, 0, { head: { ...completed, wakeAt: 0 } }));

      expect(await subject.store.nextDueAt()).toBeUndefined();
      expect(await subject.store.claimDue('h1', 5)).toEqual([]);
    });

    it('is made so at once by a command, whatever it waited for', async () => {
      await subject.store.heartbeat('h1', TTL);
      const idle = await givenFreeRun(subject.store, waiting);
      const timed = await givenFreeRun(subject.store, { ...waiting, wakeAt: START + 99_999 });

      await given(subject.store, commandUnit(idle, 'c1'), commandUnit(timed, 'c2'));

      expect(await subject.store.nextDueAt()).toBeLessThanOrEqual(START);
      expect((await subject.store.claimDue('h1', 5)).map(({ runId }) => runId).sort()).toEqual(
        [idle, timed].sort(),
      );
    });

    it('stays so when the holder lets go without having seen the command', async () => {
      const runId = await givenHeldRun(subject.store);

      await given(
        subject.store,
        commandUnit(runId, 'c1'),
        appendUnit(runId, 0, { head: waiting, release: true }),
      );

      expect(await claimedBy(subject, 'h1', 5)).toEqual([{ runId, epoch: 2 }]);
      await given(
        subject.store,
        appendUnit(runId, 1, {
          epoch: 2,
          head: waiting,
          release: true,
          consume: [{ commandId: 'c1', commandResult: { applied: false, status: 'waiting-external' } }],
        }),
      );
      expect(await subject.store.claimDue('h1', 5)).toEqual([]);
    });

    it('is made so by a command that arrives in the moment of the release, before or after it', async () => {
      const runs = await Promise.all(Array.from({ length: 10 }, () => givenHeldRun(subject.store)));

      await Promise.all(
        runs.flatMap((runId, index) => {
          const release = () =>
            subject.store.commit([appendUnit(runId, 0, { head: waiting, release: true })]);
          const command = () => subject.store.commit([commandUnit(runId, 'c1')]);
          return index % 2 === 0 ? [release(), command()] : [command(), release()];
        }),
      );

      expect((await subject.store.claimDue('h1', 20)).map(({ runId }) => runId).sort()).toEqual(
        [...runs].sort(),
      );
    });
  });
}
