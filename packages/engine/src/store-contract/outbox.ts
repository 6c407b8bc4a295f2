import { describe, expect, it } from 'vitest';
import type { NewOutboxRow, OutboxUnit } from '../ports/store.ts';
import { appendUnit, given, givenHeldRun, newBatchId, newRunId, START } from './fixtures.ts';
import type { Subject } from './subject.ts';

/** S-4 for outbox rows: written with the event, claimed by one worker at a time. */
export function outboxContract(subject: Subject): void {
  describe('the outbox', () => {
    const LEASE = 1_000;
    const row = (id: string, dueAt: number): NewOutboxRow => ({
      id,
      topic: 'callback',
      dueAt,
      body: { to: id, n: [1, null] },
    });
    const settle = (...rows: OutboxUnit['settle']): OutboxUnit => ({
      kind: 'outbox',
      batchId: newBatchId(),
      settle: rows,
    });
    const claimedIds = async (limit = 10) =>
      (await subject.store.claimOutbox(limit, LEASE)).map(({ id }) => id);

    async function givenRows(...outbox: NewOutboxRow[]): Promise<string> {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, appendUnit(runId, 0, { outbox }));
      return runId;
    }

    it('hands out due rows, the oldest first, with their run and which attempt this is', async () => {
      const runId = await givenRows(row('b', 20), row('a', 10), row('later', START + 50));

      expect(await subject.store.claimOutbox(10, LEASE)).toEqual([
        { ...row('a', 10), runId, attempts: 1 },
        { ...row('b', 20), runId, attempts: 1 },
      ]);
      subject.now = START + 50;
      expect(await claimedIds()).toEqual(['later']);
    });

    it('gives a row to one worker only, for as long as the lease', async () => {
      await givenRows(row('a', 10), row('b', 20), row('c', 30));

      const [first, second] = await Promise.all([claimedIds(2), claimedIds(2)]);

      expect([...first, ...second].sort()).toEqual(['a', 'b', 'c']);
      subject.now += LEASE - 1;
      expect(await claimedIds()).toEqual([]);
      subject.now += 1;
      expect((await subject.store.claimOutbox(10, LEASE)).map(({ attempts }) => attempts)).toEqual([2, 2, 2]);
    });

    it('forgets what was delivered', async () => {
      await givenRows(row('a', 10));
      await claimedIds();

      await given(subject.store, settle({ id: 'a', state: 'done' }));

      subject.now += 10 * LEASE;
      expect(await claimedIds()).toEqual([]);
    });

    it('tries again at the named time', async () => {
      await givenRows(row('a', 10));
      await claimedIds();

      await given(subject.store, settle({ id: 'a', state: 'retry', dueAt: START + 5 * LEASE }));

      subject.now = START + 5 * LEASE - 1;
      expect(await claimedIds()).toEqual([]);
      subject.now = START + 5 * LEASE;
      expect(await subject.store.claimOutbox(10, LEASE)).toMatchObject([{ id: 'a', attempts: 2 }]);
    });

    it('hands out the rows of a lane one at a time, in the order of writing, whenever they are due', async () => {
      await givenRows(
        { ...row('a1', 30), lane: 'a' },
        { ...row('a2', 10), lane: 'a' },
        { ...row('b1', 40), lane: 'b' },
        row('free', 50),
      );

      expect(await claimedIds()).toEqual(['a1', 'b1', 'free']);
      expect(await claimedIds()).toEqual([]);
      await given(subject.store, settle({ id: 'a1', state: 'retry', dueAt: START + LEASE / 2 }));
      expect(await claimedIds()).toEqual([]);
      await given(subject.store, settle({ id: 'a1', state: 'done' }));
      expect(await subject.store.claimOutbox(10, LEASE)).toMatchObject([{ id: 'a2', lane: 'a' }]);
    });

    it('keeps the order of a lane across writes', async () => {
      const runId = await givenRows({ ...row('a1', 10), lane: 'a' });
      await given(subject.store, appendUnit(runId, 1, { outbox: [{ ...row('a2', 10), lane: 'a' }] }));

      expect(await claimedIds()).toEqual(['a1']);
      await given(subject.store, settle({ id: 'a1', state: 'dead' }));
      expect(await claimedIds()).toEqual(['a2']);
    });

    it('leaves the topics that the claim excludes', async () => {
      await givenRows(row('a', 10), { ...row('b', 20), topic: 'slow' }, { ...row('c', 30), topic: 'slower' });

      expect((await subject.store.claimOutbox(10, LEASE, ['slow', 'slower'])).map(({ id }) => id)).toEqual([
        'a',
      ]);
      expect(await subject.store.claimOutbox(10, LEASE, ['slow'])).toMatchObject([{ id: 'c', attempts: 1 }]);
    });

    it('brings a dead row back, its attempts uncounted', async () => {
      await givenRows(row('a', 10));
      await claimedIds();
      await given(subject.store, settle({ id: 'a', state: 'dead' }));

      await given(subject.store, settle({ id: 'a', state: 'retry', dueAt: START }));

      expect(await subject.store.claimOutbox(10, LEASE)).toMatchObject([{ id: 'a', attempts: 1 }]);
    });

    it('takes rows with any unit, behind those of their lane, each id once, and none for a run that is gone', async () => {
      const runId = await givenRows({ ...row('a1', 10), lane: 'a' });
      await claimedIds();

      await given(subject.store, {
        ...settle({ id: 'a1', state: 'done' }),
        enqueue: [
          { ...row('a2', 10), lane: 'a', runId },
          { ...row('a3', 5), lane: 'a', runId },
          { ...row('free', 20), runId },
          { ...row('gone', 1), runId: newRunId() },
        ],
      });
      await given(subject.store, { ...settle(), enqueue: [{ ...row('a2', 99), lane: 'b', runId }] });

      expect(await subject.store.claimOutbox(10, LEASE)).toEqual([
        { ...row('a2', 10), lane: 'a', runId, attempts: 1 },
        { ...row('free', 20), runId, attempts: 1 },
      ]);
      await given(subject.store, settle({ id: 'a2', state: 'done' }));
      expect(await claimedIds()).toEqual(['a3']);
    });

    it('never hands out what is dead, and continues with the others', async () => {
      await givenRows(row('a', 10), row('b', 20));
      await claimedIds(1);

      await given(subject.store, settle({ id: 'a', state: 'dead' }, { id: 'unknown', state: 'done' }));

      subject.now += 10 * LEASE;
      expect(await claimedIds()).toEqual(['b']);
    });
  });
}
