import { describe, expect, it } from 'vitest';
import type { NewTask } from '../ports/store.ts';
import {
  appendUnit,
  commandUnit,
  completed,
  given,
  givenHeldRun,
  newBatchId,
  newRunId,
  START,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** S-18: tasks that one process puts up and another one performs. */
export function tasksContract(subject: Subject): void {
  describe('tasks', () => {
    const TYPE = { typeId: 'acme.work', version: '1.0.0' };
    const TTL = 10_000;

    const task = (runId: string, taskId: string, rest: Partial<NewTask> = {}): NewTask => ({
      ...TYPE,
      taskId,
      tenant: 'acme',
      runId,
      epoch: 1,
      isOnce: false,
      body: `{"of":"${taskId}","text":"ü \\u0000 \\ud83d\\ude00"}`,
      ...rest,
    });

    async function givenTasks(...ids: string[]): Promise<string> {
      const runId = await givenHeldRun(subject.store);
      for (const id of ids) expect(await subject.store.offerTask(task(runId, id))).toBe(true);
      return runId;
    }

    async function claimed(holder: string, limit = 10, types = [TYPE]): Promise<[string, number][]> {
      await subject.store.heartbeat(holder, TTL);
      const leased = await subject.store.claimTasks(holder, 'acme', types, limit);
      return leased.map(({ taskId, lease }) => [taskId, lease]);
    }

    it('are leased as they were put up, the oldest first, each to one holder (S-18)', async () => {
      const runId = await givenTasks('a', 'b', 'c');
      await subject.store.heartbeat('h2', TTL);

      const [first] = await subject.store.claimTasks('h2', 'acme', [TYPE], 1);

      expect(first).toEqual({ ...task(runId, 'a'), lease: 1 });
      expect(await claimed('h3')).toEqual([
        ['b', 1],
        ['c', 1],
      ]);
      expect(await claimed('h2')).toEqual([]);
    });

    it('are leased by type, version and tenant alone', async () => {
      await givenTasks('a');

      expect(await claimed('h2', 10, [{ ...TYPE, version: '1.0.1' }])).toEqual([]);
      expect(await claimed('h2', 10, [{ ...TYPE, typeId: 'acme.other' }])).toEqual([]);
      expect(await subject.store.claimTasks('h2', 'other', [TYPE], 10)).toEqual([]);
      expect(await subject.store.claimTasks('h2', 'acme', [], 10)).toEqual([]);
      expect(await claimed('h2', 10, [{ ...TYPE, version: '2.0.0' }, TYPE])).toEqual([['a', 1]]);
    });

    it('pass to another holder after the deadline only, under a higher number (S-18)', async () => {
      const runId = await givenTasks('a');
      await claimed('h2');
      subject.now += TTL - 1;
      await subject.store.heartbeat('h1', 1_000_000);
      expect(await claimed('h3')).toEqual([]);

      subject.now += 1;
      expect(await claimed('h3')).toEqual([['a', 2]]);

      expect(await subject.store.settleTask('a', 1, '"late"')).toBe(false);
      await subject.store.returnTask('a', 1, true);
      expect(await subject.store.settleTask('a', 2, '"done"')).toBe(true);
      expect(await subject.store.readTasks([runId])).toEqual([
        { taskId: 'a', runId, epoch: 1, lease: 2, holder: 'h3', losses: 1, result: '"done"' },
      ]);
    });

    it('are lost with their holder, and those that may be lost but once are leased to no other (S-18)', async () => {
      const runId = await givenTasks('a');
      await subject.store.offerTask(task(runId, 'b', { isOnce: true }));
      expect(await claimed('h2')).toHaveLength(2);
      subject.now += TTL;
      await subject.store.heartbeat('h1', 1_000_000);

      expect(await subject.store.readTasks([runId])).toMatchObject([
        { taskId: 'a', losses: 1 },
        { taskId: 'b', losses: 1 },
      ]);
      expect(await claimed('h3')).toEqual([['a', 2]]);
      expect(await subject.store.readTasks([runId])).toMatchObject([
        { taskId: 'a', losses: 1, holder: 'h3' },
        { taskId: 'b', losses: 1 },
      ]);
    });

    it('have one result, also when it is reported again', async () => {
      const runId = await givenTasks('a');
      await claimed('h2');

      expect(await subject.store.settleTask('a', 1, '"first"')).toBe(true);
      expect(await subject.store.settleTask('a', 1, '"second"')).toBe(true);

      expect((await subject.store.readTasks([runId])).map(({ result }) => result)).toEqual(['"first"']);
      subject.now += TTL;
      expect(await claimed('h3')).toEqual([]);
      expect(await subject.store.withdrawTask('a', 1, true)).toBe(false);
      expect(await subject.store.withdrawTask('a', 1, false)).toBe(true);
      expect(await subject.store.readTasks([runId])).toEqual([]);
    });

    it('are given back, lost or not, and then leased again', async () => {
      const runId = await givenTasks('a');
      await claimed('h2');
      await subject.store.noteTask('a', 1, '{"worker":"w"}');
      expect(await subject.store.readTasks([runId, newRunId()])).toEqual([
        { taskId: 'a', runId, epoch: 1, lease: 1, holder: 'h2', losses: 0, note: '{"worker":"w"}' },
      ]);

      await subject.store.returnTask('a', 1, false);
      expect(await subject.store.settleTask('a', 1, '"late"')).toBe(false);
      expect(await claimed('h3')).toEqual([['a', 2]]);
      await subject.store.returnTask('a', 2, true);

      expect(await subject.store.readTasks([runId])).toEqual([
        { taskId: 'a', runId, epoch: 1, lease: 2, losses: 1 },
      ]);
    });

    it('that may be lost once only are not leased again', async () => {
      const runId = await givenHeldRun(subject.store);
      await subject.store.offerTask(task(runId, 'returned', { isOnce: true }));
      await subject.store.offerTask(task(runId, 'lost', { isOnce: true }));
      await subject.store.offerTask(task(runId, 'left', { isOnce: true }));
      await claimed('h2');

      await subject.store.returnTask('returned', 1, false);
      await subject.store.returnTask('lost', 1, true);
      subject.now += TTL;

      expect(await claimed('h3')).toEqual([['returned', 2]]);
    });

    it('are put up and leased only while the run is claimed as it was (S-18)', async () => {
      const runId = await givenTasks('a', 'b');
      expect(await subject.store.offerTask(task(runId, 'c', { epoch: 2 }))).toBe(false);
      await claimed('h2', 1);
      subject.now += 1_000_000;
      await subject.store.heartbeat('h5', TTL);
      await subject.store.heartbeat('h2', TTL);
      expect((await subject.store.claim(runId, 'h5')).state).toBe('claimed');

      expect(await claimed('h3')).toEqual([]);
      expect(await subject.store.withdrawTask('b', 2, false)).toBe(false);
      expect(await subject.store.offerTask(task(runId, 'a', { epoch: 1 }))).toBe(false);
      for (const id of ['a', 'b']) await subject.store.offerTask(task(runId, id, { epoch: 2 }));

      expect(await claimed('h3')).toEqual([['b', 1]]);
      expect(await subject.store.settleTask('a', 1, '"kept"')).toBe(true);
    });

    it('keep their run while it is left with them: it is due when one of them is leased (S-21)', async () => {
      const runId = await givenTasks('a');
      await given(subject.store, appendUnit(runId, 0));
      const tasks = [task(runId, 'a'), task(runId, 'b')];
      expect(await subject.store.parkRun({ runId, epoch: 2, wakeAt: null }, tasks)).toBe(false);

      expect(await subject.store.parkRun({ runId, epoch: 1, wakeAt: null }, tasks)).toBe(true);

      const row = await subject.store.readRun(runId, 'acme');
      expect(row).toMatchObject({ nextSeq: 1, head: { status: 'running', wakeAt: null } });
      expect(row?.holder).toBeUndefined();
      expect(await subject.store.claimDue('h5', 10)).toEqual([]);
      expect(await subject.store.nextDueAt()).toBeUndefined();
      const late = await subject.store.commit([appendUnit(runId, 1)]);
      expect(late).toEqual([{ state: 'refused', reason: 'stale_epoch' }]);
      expect(await subject.store.parkRun({ runId, epoch: 1, wakeAt: null }, tasks)).toBe(false);

      expect(await claimed('h2', 1)).toEqual([['a', 1]]);

      expect(await subject.store.nextDueAt()).toBe(0);
      expect(await subject.store.settleTask('a', 1, '"done"')).toBe(true);
      expect(await claimed('h2')).toEqual([['b', 1]]);
      expect(await subject.store.claimDue('h2', 10)).toMatchObject([{ runId, tenant: 'acme' }]);
      expect(await subject.store.readTasks([runId])).toMatchObject([
        { taskId: 'a', result: '"done"' },
        { taskId: 'b', holder: 'h2' },
      ]);
    });

    it('whose run is left with them leave its time and its commands to it (S-21)', async () => {
      const [timed, commanded] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, commandUnit(commanded, 'c-1'));
      const wakeAt = subject.now + 60_000;

      for (const runId of [timed, commanded])
        expect(await subject.store.parkRun({ runId, epoch: 1, wakeAt }, [task(runId, runId)])).toBe(true);

      await subject.store.heartbeat('h5', 1_000_000);
      expect(await subject.store.claimDue('h5', 10)).toMatchObject([{ runId: commanded }]);
      expect(await subject.store.nextDueAt()).toBe(wakeAt);
      subject.now = wakeAt;
      expect(await subject.store.claimDue('h5', 10)).toMatchObject([{ runId: timed }]);
    });

    it('that are leased while their run is being left keep it, or make it due (S-21)', async () => {
      await subject.store.heartbeat('h2', TTL);
      const runIds = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const runId = await givenHeldRun(subject.store);
          await subject.store.offerTask(task(runId, runId));
          return runId;
        }),
      );

      const parking = runIds.map((runId) =>
        subject.store.parkRun({ runId, epoch: 1, wakeAt: null }, [task(runId, runId)]),
      );
      const claiming = runIds.map(() => subject.store.claimTasks('h2', 'acme', [TYPE], 2));
      await Promise.all([...parking, ...claiming]);

      await claimed('h2', 100);
      const due = await subject.store.claimDue('h5', 100);
      const held = await subject.store.heldBy('h1');
      expect([...due, ...held].map(({ runId }) => runId).sort()).toEqual([...runIds].sort());
    });

    it.each(['leased', 'settled'] as const)(
      'do not let go of their run when one is %s (S-21)',
      async (how) => {
        const runId = await givenTasks('a');
        await claimed('h2');
        if (how === 'settled') await subject.store.settleTask('a', 1, '"done"');

        const isParked = await subject.store.parkRun({ runId, epoch: 1, wakeAt: null }, [
          task(runId, 'a'),
          task(runId, 'b'),
        ]);

        expect(isParked).toBe(false);
        expect(await subject.store.readTasks([runId])).toMatchObject([{ taskId: 'a', epoch: 1 }]);
        expect(await subject.store.readRun(runId, 'acme')).toMatchObject({ epoch: 1, holder: 'h1' });
      },
    );

    it('of a run that has ended are not leased, and are pruned', async () => {
      const runId = await givenTasks('a');
      await given(subject.store, appendUnit(runId, 0, { head: completed }));

      expect(await claimed('h2')).toEqual([]);
      await subject.store.prune();

      expect(await subject.store.readTasks([runId])).toEqual([]);
    });

    it.each(['purge', 'erase'] as const)('go with a %s of their run', async (kind) => {
      const runId = await givenTasks('a');
      await given(subject.store, appendUnit(runId, 0, { head: completed }));

      const unit = { batchId: newBatchId(), tenant: 'acme', runId, at: START };
      await given(
        subject.store,
        kind === 'purge' ? { kind, ...unit, tombstoneUntil: START + 1_000 } : { kind, ...unit },
      );

      expect(await subject.store.readTasks([runId])).toEqual([]);
    });

    it('are taken down unless someone has them', async () => {
      await givenTasks('free', 'taken');
      await subject.store.heartbeat('h2', TTL);
      await subject.store.withdrawTask('free', 1, true);
      await claimed('h2');

      expect(await subject.store.withdrawTask('taken', 1, true)).toBe(false);
      expect(await subject.store.withdrawTask('taken', 1, false)).toBe(true);
      expect(await subject.store.withdrawTask('free', 1, true)).toBe(false);
    });

    it('are heard of by those who watch', async () => {
      let offers = 0;
      const stop = subject.store.watchTasks(() => {
        offers += 1;
      });

      await givenTasks('a');

      await expect.poll(() => offers).toBeGreaterThan(0);
      stop();
    });
  });
}
