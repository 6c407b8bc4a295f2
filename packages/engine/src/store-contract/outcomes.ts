import { describe, expect, it, vi } from 'vitest';
import type { WriteUnit } from '../ports/store.ts';
import {
  appendUnit,
  auditEntry,
  blobUnit,
  commandUnit,
  commitOne,
  createUnit,
  documentUnit,
  event,
  forkOptions,
  given,
  givenHeldRun,
  keyRow,
  newBatchId,
  newRunId,
  readAll,
  removalUnit,
  START,
  workflowUnit,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** S-7: unknown outcomes; and the notification after a commit. */
export function outcomesContract(subject: Subject): void {
  describe('an unknown outcome', () => {
    async function withFault<T>(at: 'beforeCommit' | 'afterCommit', act: () => Promise<T>): Promise<T> {
      subject.faults[at] = () => {
        throw new Error('connection lost');
      };
      const answer = await act();
      subject.faults[at] = undefined;
      return answer;
    }

    /** One unit of every kind, each on ground of its own. */
    async function everyKind(): Promise<WriteUnit[]> {
      const held = await givenHeldRun(subject.store);
      const released = await givenHeldRun(subject.store);
      const commanded = await givenHeldRun(subject.store);
      const settled = await givenHeldRun(subject.store);
      const outbox = ['o1', 'o2', 'o3'].map((id) => ({ id, topic: 't', dueAt: 0, body: {} }));
      await given(
        subject.store,
        appendUnit(settled, 0, { outbox }),
        { kind: 'key', batchId: newBatchId(), key: keyRow('old') },
        documentUnit('overwritten'),
        documentUnit('removed'),
      );
      await subject.store.claimOutbox(10, 1_000);
      return [
        createUnit(newRunId(), { holder: 'h1', events: [event(0)] }),
        createUnit(newRunId()),
        appendUnit(held, 0),
        appendUnit(released, 0, { events: [], release: true }),
        commandUnit(commanded, 'c1'),
        workflowUnit('1.0.0'),
        { kind: 'key', batchId: newBatchId(), key: keyRow('new') },
        { kind: 'revoke-key', batchId: newBatchId(), tenant: 'acme', keyId: 'old', at: START },
        { kind: 'setting', batchId: newBatchId(), name: 'mode', value: 'live' },
        { kind: 'audit', batchId: newBatchId(), audit: [auditEntry('denied')] },
        { kind: 'outbox', batchId: newBatchId(), settle: [{ id: 'o1', state: 'done' }] },
        { kind: 'outbox', batchId: newBatchId(), settle: [{ id: 'o2', state: 'retry', dueAt: START + 77 }] },
        { kind: 'outbox', batchId: newBatchId(), settle: [{ id: 'o3', state: 'dead' }] },
        createUnit(newRunId(), { holder: 'h1', ...forkOptions(7, 2) }),
        documentUnit('new', { onlyNew: true }),
        documentUnit('overwritten'),
        removalUnit('removed'),
        blobUnit(held, 0),
      ];
    }

    it('that was committed after all is reported as committed, for every kind of unit', async () => {
      const units = await everyKind();

      const results = await withFault('afterCommit', () => subject.store.commit(units));

      expect(results.map(({ state }) => state)).toEqual(units.map(() => 'unknown'));
      for (const unit of units) expect(await subject.store.committed(unit), unit.kind).toBe(true);
      expect((await subject.store.listRuns('acme', {}, { limit: 10 })).rows).toHaveLength(7);
    });

    it('that was lost is reported as lost, for every kind of unit, and can be tried again', async () => {
      const units = await everyKind();

      const results = await withFault('beforeCommit', () => subject.store.commit(units));

      expect(results.map(({ state }) => state)).toEqual(units.map(() => 'unknown'));
      for (const unit of units) expect(await subject.store.committed(unit), unit.kind).toBe(false);
      expect((await subject.store.listRuns('acme', {}, { limit: 10 })).rows).toHaveLength(4);
      await given(subject.store, ...units);
    });

    it('of a run unit holds for its signals too: they are there with it, or not at all', async () => {
      const runId = await givenHeldRun(subject.store);
      const receiver = await givenHeldRun(subject.store);
      const signal = { runId: receiver, commandId: 'n1', command: { type: 'cancel' } } as const;
      const unit = appendUnit(runId, 0, { notify: [signal] });

      await withFault('beforeCommit', () => subject.store.commit([unit]));
      expect(await subject.store.committed(unit)).toBe(false);
      expect(await subject.store.readInbox(receiver)).toEqual([]);

      await withFault('afterCommit', () => subject.store.commit([unit]));
      expect(await subject.store.committed(unit)).toBe(true);
      expect(await subject.store.readInbox(receiver)).toHaveLength(1);
    });

    it('of a fork’s append is right also after later writes', async () => {
      const runId = newRunId();
      await subject.store.heartbeat('h1', 10_000);
      await given(subject.store, createUnit(runId, { holder: 'h1', ...forkOptions(7, 2) }));
      const lost = appendUnit(runId, 9, { events: [event(9, 'log', { payload: '"lost"' })] });
      const kept = appendUnit(runId, 9, { events: [event(9, 'log', { payload: '"kept"' })] });
      await withFault('beforeCommit', () => subject.store.commit([lost]));
      await withFault('afterCommit', () => subject.store.commit([kept]));

      await given(subject.store, appendUnit(runId, 10));

      expect(await subject.store.committed(kept)).toBe(true);
      expect(await subject.store.committed(lost)).toBe(false);
    });

    it('of a document that was the same before is not mistaken for the write before', async () => {
      const [first, again] = [documentUnit('a'), documentUnit('a')];
      await given(subject.store, first);

      await withFault('beforeCommit', () => subject.store.commit([again]));

      expect(await subject.store.committed(first)).toBe(true);
      expect(await subject.store.committed(again)).toBe(false);
    });

    it('of a piece that was there before is no question: it is there', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, blobUnit(runId, 0));

      expect(await subject.store.committed(blobUnit(runId, 0))).toBe(true);
      expect(await subject.store.committed(blobUnit(runId, 0, { bytes: Uint8Array.of(9) }))).toBe(false);
      expect(await subject.store.committed(blobUnit(runId, 1))).toBe(false);
      expect(await subject.store.committed(blobUnit(runId, 0, { tenant: 'other' }))).toBe(false);
    });

    it('carries its cause', async () => {
      const result = await withFault('beforeCommit', () => commitOne(subject.store, createUnit(newRunId())));

      expect(result).toMatchObject({ state: 'unknown', cause: { message: 'connection lost' } });
    });

    it('is right also after later writes', async () => {
      const runId = await givenHeldRun(subject.store);
      const lost = appendUnit(runId, 0, { events: [event(0, 'log', { payload: '"lost"' })] });
      const kept = appendUnit(runId, 0, { events: [event(0, 'log', { payload: '"kept"' })] });
      await withFault('beforeCommit', () => subject.store.commit([lost]));
      await withFault('afterCommit', () => subject.store.commit([kept]));

      await given(subject.store, appendUnit(runId, 1));

      expect(await subject.store.committed(kept)).toBe(true);
      expect(await subject.store.committed(lost)).toBe(false);
      expect(await readAll(subject.store, runId)).toHaveLength(2);
    });
  });

  describe('watching', () => {
    it('rings after a commit with events, when they can be read, and never for anything else', async () => {
      const runId = await givenHeldRun(subject.store);
      const rung = vi.fn();
      const stop = subject.store.watch((id, nextSeq) => rung(id, nextSeq));

      await given(subject.store, appendUnit(runId, 0), commandUnit(runId, 'c1'), appendUnit(runId, 1));
      await commitOne(subject.store, appendUnit(runId, 0));

      await vi.waitFor(() => expect(rung).toHaveBeenLastCalledWith(runId, 2));
      expect(rung.mock.calls.every(([id, nextSeq]) => id === runId && nextSeq <= 2)).toBe(true);
      stop();
      await given(subject.store, appendUnit(runId, 2));
      expect(rung).not.toHaveBeenCalledWith(runId, 3);
    });

    it('leaves no gap: a reader that reads whenever it rings sees every event', async () => {
      const runId = await givenHeldRun(subject.store);
      const seen: number[] = [];
      let reading = Promise.resolve();
      subject.store.watch((id) => {
        reading = reading.then(async () => {
          const page = await subject.store.readEvents(id, seen.length, 100, 1_000_000);
          seen.push(...page.map(({ seq }) => seq));
        });
      });

      for (let seq = 0; seq < 30; seq += 1) await given(subject.store, appendUnit(runId, seq));

      await vi.waitFor(async () => {
        await reading;
        expect(seen).toHaveLength(30);
      });
      expect(seen).toEqual([...seen.keys()]);
    });

    it('rings for an unknown commit as soon as it is known', async () => {
      const runId = await givenHeldRun(subject.store);
      const rung = vi.fn();
      subject.store.watch(rung);
      const unit = appendUnit(runId, 0);
      subject.faults.afterCommit = () => {
        throw new Error('connection lost');
      };
      await subject.store.commit([unit]);
      subject.faults.afterCommit = undefined;

      await subject.store.committed(unit);

      await vi.waitFor(() => expect(rung).toHaveBeenCalledWith(runId, 1));
    });
  });

  describe('the store', () => {
    it('answers when asked whether it is there', async () => {
      await expect(subject.store.ping()).resolves.toBeUndefined();
    });
  });
}
