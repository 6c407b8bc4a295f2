import { describe, expect, it } from 'vitest';
import type { RunHead } from '../../ports/store.ts';
import {
  auditEntry,
  commitOne,
  completed,
  createUnit,
  documentUnit,
  event,
  given,
  newRunId,
  readAll,
  START,
} from '../fixtures.ts';
import { DAY, IMPORTED, purgeUnit, eraseUnit, keptRuns } from './kept-runs.ts';
import type { Subject } from '../subject.ts';

/** S-9: runs that go. */
export function purgingContract(subject: Subject): void {
  const { givenEndedRun, end, givenOpenRun, givenImportedRun, forkOf } = keptRuns(subject);

  describe('a purge', () => {
    it('takes away everything of a run that has ended', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();

      await given(store, purgeUnit(runId));

      expect(await store.readRun(runId, 'acme')).toBeUndefined();
      expect(await store.readRun(runId, undefined)).toBeUndefined();
      expect(await readAll(store, runId)).toEqual([]);
      expect(await store.readCheckpoint(runId)).toBeUndefined();
      expect(await store.readCommand(runId, 'answer')).toBeUndefined();
      expect(await store.readInbox(runId)).toEqual([]);
      expect(await store.readBlob('acme', runId, 'report', 0)).toBeUndefined();
      for (const collection of ['annotation', 'artifact'])
        expect((await store.listDocuments('acme', collection, runId, { limit: 9 })).rows).toEqual([]);
      expect((await store.listRuns('acme', {}, { limit: 9 })).rows).toEqual([]);
      expect((await store.listRuns('acme', { tag: 'nightly' }, { limit: 9 })).rows).toEqual([]);
      expect(await store.claimOutbox(9, 1_000)).toEqual([]);
      expect(await store.claim(runId, 'h1')).toEqual({ state: 'missing' });
    });

    it('leaves other runs and their things alone', async () => {
      const { store } = subject;
      const [gone, kept] = [await givenEndedRun(), await givenEndedRun()];
      const theirs = await givenEndedRun({ record: { tenant: 'other' } });
      await given(store, documentUnit('other', { collection: 'annotation', scope: 'elsewhere' }));
      const [log, row] = [await readAll(store, kept), await store.readRun(kept, 'acme')];

      await given(store, purgeUnit(gone));
      await givenEndedRun();

      expect(await readAll(store, kept)).toEqual(log);
      expect(await store.readRun(kept, 'acme')).toEqual(row);
      expect(await store.readRun(theirs, 'other')).toBeDefined();
      expect(await store.readBlob('acme', kept, 'report', 0)).toBeDefined();
      expect((await store.listDocuments('acme', 'artifact', kept, { limit: 9 })).rows).toHaveLength(1);
      expect((await store.listDocuments('acme', 'annotation', 'elsewhere', { limit: 9 })).rows).toHaveLength(
        1,
      );
      const tagged = await store.listRuns('acme', { tag: 'it’s' }, { limit: 9 });
      expect(tagged.rows.map(({ record }) => record.runId)).toContain(kept);
      expect(tagged.rows).toHaveLength(2);
      expect((await store.claimOutbox(9, 1_000)).map(({ runId }) => runId)).not.toContain(gone);
    });

    it('leaves a tombstone that only its tenant sees, until its time has come', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();
      expect(await store.readTombstone(runId, 'acme')).toBeUndefined();

      await given(store, purgeUnit(runId));

      const stone = { purgedAt: START + 50, until: START + DAY };
      expect(await store.readTombstone(runId, 'acme')).toEqual(stone);
      expect(await store.readTombstone(runId, 'other')).toBeUndefined();
      expect(await store.readTombstone(runId, 'stranger')).toBeUndefined();
      expect(await store.readTombstone('no run id', 'acme')).toBeUndefined();
      subject.now = START + DAY - 1;
      expect(await store.readTombstone(runId, 'acme')).toEqual(stone);
      subject.now = START + DAY;
      expect(await store.readTombstone(runId, 'acme')).toBeUndefined();
      expect(await store.prune()).toBe(1);
      expect(await store.prune()).toBe(0);
      expect(await store.readTombstone(runId, 'acme')).toBeUndefined();
    });

    it('is refused for a run that is missing, or another tenant’s', async () => {
      const runId = await givenEndedRun();

      for (const unit of [purgeUnit(newRunId()), purgeUnit(runId, { tenant: 'other' }), purgeUnit('x')])
        expect(await commitOne(subject.store, unit)).toEqual({ state: 'refused', reason: 'run_missing' });

      expect(await subject.store.readRun(runId, 'acme')).toBeDefined();
      expect(await subject.store.readTombstone(runId, 'other')).toBeUndefined();
    });

    it('is refused twice for the same run', async () => {
      const runId = await givenEndedRun();

      const results = await subject.store.commit([purgeUnit(runId), purgeUnit(runId)]);

      expect(results).toEqual([{ state: 'committed' }, { state: 'refused', reason: 'run_missing' }]);
    });

    it.each([
      { status: 'running', wakeAt: 0 },
      { status: 'paused', wakeAt: null },
      { status: 'waiting-approval', wakeAt: null },
    ] satisfies RunHead[])('is refused while the run is $status', async (head) => {
      const runId = await givenOpenRun({ head });

      expect(await commitOne(subject.store, purgeUnit(runId))).toEqual({
        state: 'refused',
        reason: 'run_open',
        status: head.status,
      });
      expect(await readAll(subject.store, runId)).toHaveLength(1);
    });

    it('takes away an imported run whose log has no end: it never continues', async () => {
      const runId = await givenImportedRun();

      await given(subject.store, purgeUnit(runId));

      expect(await subject.store.readRun(runId, 'acme')).toBeUndefined();
      expect(await readAll(subject.store, runId)).toEqual([]);
      expect(await subject.store.readTombstone(runId, 'acme')).toBeDefined();
    });

    it('is refused for an imported run while a fork of it is open', async () => {
      const source = await givenImportedRun();
      const fork = await givenOpenRun(forkOf(source));

      for (const unit of [purgeUnit(source), eraseUnit(source)])
        expect(await commitOne(subject.store, unit)).toEqual({
          state: 'refused',
          reason: 'run_pinned',
          byRunId: fork,
        });
    });

    it('may follow the import of the run in the same group', async () => {
      const runId = newRunId();

      const results = await subject.store.commit([
        createUnit(runId, { record: IMPORTED, events: [event(0)] }),
        purgeUnit(runId),
      ]);

      expect(results).toEqual([{ state: 'committed' }, { state: 'committed' }]);
      expect(await subject.store.readRun(runId, 'acme')).toBeUndefined();
    });

    it('is refused while a fork of the run is open, and not afterwards', async () => {
      const source = await givenEndedRun();
      const fork = await givenOpenRun(forkOf(source));

      expect(await commitOne(subject.store, purgeUnit(source))).toEqual({
        state: 'refused',
        reason: 'run_pinned',
        byRunId: fork,
      });
      await end(fork, 2);
      await given(subject.store, purgeUnit(source));

      expect(await readAll(subject.store, fork)).toHaveLength(2);
      await given(subject.store, purgeUnit(fork));
    });

    it('is refused while a fork of a fork is open, however long the chain', async () => {
      const source = await givenEndedRun();
      const first = await givenEndedRun(forkOf(source));
      const second = await givenEndedRun(forkOf(first, 2));
      const last = await givenOpenRun(forkOf(second, 3));

      for (const runId of [source, first, second])
        expect(await commitOne(subject.store, purgeUnit(runId))).toMatchObject({ byRunId: last });

      await end(last, 4);
      await given(subject.store, purgeUnit(source), purgeUnit(first), purgeUnit(second), purgeUnit(last));
    });

    it('is refused for a child while its parent is open', async () => {
      const parent = await givenOpenRun();
      const link = { runId: parent, nodeId: 'n', nodeKey: 'n', ancestors: ['root'], collect: [] };
      const child = await givenEndedRun({ record: { parent: link } });

      expect(await commitOne(subject.store, purgeUnit(child))).toEqual({
        state: 'refused',
        reason: 'run_pinned',
        byRunId: parent,
      });
      await end(parent, 1);
      await given(subject.store, purgeUnit(parent), purgeUnit(child));
    });

    it('brings its audit records, and none when it is refused', async () => {
      const [ended, open] = [await givenEndedRun(), await givenOpenRun()];
      const audit = (target: string) => ({ audit: [auditEntry('run.remove', { target })] });

      await subject.store.commit([purgeUnit(ended, audit(ended)), purgeUnit(open, audit(open))]);

      expect((await subject.store.readAudit(0, 10)).map(({ target }) => target)).toEqual([ended]);
    });

    it('leaves the id free: a run that comes again under it is there, and can go again', async () => {
      const runId = await givenEndedRun();
      await given(subject.store, purgeUnit(runId));

      await given(subject.store, createUnit(runId, { events: [event(0, 'run.completed')], head: completed }));

      expect((await subject.store.readRun(runId, 'acme'))?.nextSeq).toBe(1);
      await given(subject.store, purgeUnit(runId, { at: START + 70 }));
      expect((await subject.store.readTombstone(runId, 'acme'))?.purgedAt).toBe(START + 70);
    });
  });

  describe('an unknown outcome', () => {
    async function withFault(fault: 'beforeCommit' | 'afterCommit', act: () => Promise<unknown>) {
      subject.faults[fault] = () => {
        throw new Error('the connection was lost');
      };
      await act();
      subject.faults[fault] = undefined;
    }

    it('of a purge and an erasure can be asked for', async () => {
      const units = [purgeUnit(await givenEndedRun()), eraseUnit(await givenEndedRun())];

      await withFault('beforeCommit', () => subject.store.commit(units));
      for (const unit of units) expect(await subject.store.committed(unit), unit.kind).toBe(false);

      await withFault('afterCommit', () => subject.store.commit(units));
      for (const unit of units) expect(await subject.store.committed(unit), unit.kind).toBe(true);
    });
  });
}
