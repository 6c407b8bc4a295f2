import { describe, expect, it } from 'vitest';
import { completed, given, newRunId, readAll, recordOf, START, waiting } from '../fixtures.ts';
import { IMPORTED, ANSWER, CHANNEL, CHILD, eraseUnit, keptRuns } from './kept-runs.ts';
import type { Subject } from '../subject.ts';

/** S-10: what of a run goes before it. */
export function erasingContract(subject: Subject): void {
  const { givenEndedRun, givenOpenRun, givenImportedRun, forkOf } = keptRuns(subject);

  describe('an erasure', () => {
    it('takes away what only the fold may see, and leaves the public log as it is', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();
      const before = await readAll(store, runId);
      expect(before[0]?.overlay).toBeDefined();

      await given(store, eraseUnit(runId));

      expect(await readAll(store, runId)).toEqual(before.map(({ overlay: _overlay, ...rest }) => rest));
      expect(await store.readCheckpoint(runId)).toBeUndefined();
      const row = await store.readRun(runId, 'acme');
      expect(row?.record).toEqual(
        recordOf(runId, { tags: ['nightly', 'it’s'], inputs: { name: '[REDACTED]' } }),
      );
      expect(row).toMatchObject({ erasedAt: START + 60, head: completed, nextSeq: 3 });
      expect(await store.readBlob('acme', runId, 'report', 0)).toBeDefined();
      expect((await store.listRuns('acme', { tag: 'nightly' }, { limit: 9 })).rows).toEqual([row]);
    });

    it('takes the values out of commands and keeps their result', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();

      await given(store, eraseUnit(runId));

      expect(await store.readCommand(runId, 'answer')).toMatchObject({
        command: { ...ANSWER, value: null },
        commandResult: { applied: true },
      });
      expect((await store.readCommand(runId, 'channel'))?.command).toEqual({ ...CHANNEL, value: null });
      const { outputs: _outputs, variables: _variables, ...signal } = CHILD;
      expect((await store.readCommand(runId, 'child'))?.command).toEqual(signal);
      expect((await store.readCommand(runId, 'pause'))?.command).toEqual({
        type: 'pause',
        policy: 'immediate',
      });
    });

    it('takes from an imported run whose log has no end', async () => {
      const runId = await givenImportedRun();

      await given(subject.store, eraseUnit(runId));

      expect(await subject.store.readRun(runId, 'acme')).toMatchObject({
        erasedAt: START + 60,
        record: { ...IMPORTED, inputs: { name: '[REDACTED]' } },
        head: waiting,
      });
    });

    it('takes from a fork the values that it was given in place of masked ones', async () => {
      const fork = { sourceRunId: newRunId(), fromSeq: 1, mode: 'branch' } as const;
      const filled = { 0: { '/outputs/page': 'canary' } };
      const runId = await givenEndedRun({
        ...forkOf(fork.sourceRunId),
        record: { fork: { ...fork, filled } },
      });
      expect((await subject.store.readRun(runId, 'acme'))?.record.fork).toEqual({ ...fork, filled });

      await given(subject.store, eraseUnit(runId));

      const row = await subject.store.readRun(runId, 'acme');
      expect(row?.record.fork).toEqual(fork);
      expect(JSON.stringify(row)).not.toContain('canary');
    });

    it('a second time changes nothing', async () => {
      const runId = await givenEndedRun();
      await given(subject.store, eraseUnit(runId));
      const row = await subject.store.readRun(runId, 'acme');

      await given(subject.store, eraseUnit(runId, { at: START + 90 }));

      expect(await subject.store.readRun(runId, 'acme')).toEqual(row);
    });

    it('is no sign on runs that were not erased', async () => {
      const runId = await givenEndedRun();

      expect(await subject.store.readRun(runId, 'acme')).not.toHaveProperty('erasedAt');
    });

    it('is refused while another run may need what it takes', async () => {
      const { store } = subject;
      const [open, source] = [await givenOpenRun(), await givenEndedRun()];
      const fork = await givenOpenRun(forkOf(source));
      const refused = { state: 'refused' } as const;

      expect(await store.commit([eraseUnit(newRunId()), eraseUnit(source, { tenant: 'other' })])).toEqual([
        { ...refused, reason: 'run_missing' },
        { ...refused, reason: 'run_missing' },
      ]);
      expect(await store.commit([eraseUnit(open), eraseUnit(source)])).toEqual([
        { ...refused, reason: 'run_open', status: 'running' },
        { ...refused, reason: 'run_pinned', byRunId: fork },
      ]);
      expect((await readAll(store, source))[0]?.overlay).toBeDefined();
    });
  });
}
