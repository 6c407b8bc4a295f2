import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../model/run-state.ts';
import type { CreateOptions } from './fixtures.ts';
import {
  appendUnit,
  commitOne,
  completed,
  createUnit,
  event,
  events,
  forkOptions,
  given,
  newRunId,
  readAll,
  recordOf,
} from './fixtures.ts';
import { eraseUnit, keptRuns, purgeUnit } from './retention/kept-runs.ts';
import type { Subject } from './subject.ts';

/** S-8: logs that begin where they leave another; and where runs come from. */
export function forksContract(subject: Subject): void {
  async function givenFork(fromSeq: number, count: number, more: CreateOptions = {}): Promise<string> {
    const runId = newRunId();
    await subject.store.heartbeat('h1', 10_000);
    await given(subject.store, createUnit(runId, { holder: 'h1', ...forkOptions(fromSeq, count), ...more }));
    return runId;
  }

  const page = (runId: string, from: number, limit: number) =>
    subject.store.readEvents(runId, from, limit, 1_000_000);

  describe('a fork', () => {
    it('numbers its events from where it leaves its source, and its length counts from there', async () => {
      const runId = await givenFork(7, 2);
      await given(subject.store, appendUnit(runId, 9, { events: events(9, 3) }));

      expect(await readAll(subject.store, runId)).toEqual(events(7, 5));
      expect((await subject.store.readRun(runId, 'acme'))?.nextSeq).toBe(12);
    });

    it('may begin without an event of its own', async () => {
      const runId = await givenFork(7, 0);

      expect((await subject.store.readRun(runId, 'acme'))?.nextSeq).toBe(7);
      expect(await readAll(subject.store, runId)).toEqual([]);
      await given(subject.store, appendUnit(runId, 7));
      expect((await subject.store.readRun(runId, 'acme'))?.nextSeq).toBe(8);
    });

    it('may leave its source before the first event', async () => {
      const runId = await givenFork(0, 2);

      expect(await readAll(subject.store, runId)).toEqual(events(0, 2));
    });

    it('has no events below its beginning: reading from there gives those after it', async () => {
      const runId = await givenFork(100, 150);

      expect(await page(runId, 0, 3)).toEqual(events(100, 3));
      expect(await page(runId, 99, 2)).toEqual(events(100, 2));
      expect(await page(runId, 101, 2)).toEqual(events(101, 2));
      expect(await page(runId, 0, 150)).toEqual(events(100, 150));
      expect(await page(runId, 50, 1_000)).toEqual(events(100, 150));
      expect(await page(runId, 249, 10)).toEqual(events(249, 1));
      expect(await page(runId, 250, 10)).toEqual([]);
    });

    it.each([0, 6, 8])('that leaves before event 7 cannot be created at sequence %i', async (expectedSeq) => {
      const runId = newRunId();
      const fork = createUnit(runId, { ...forkOptions(7), expectedSeq, events: events(expectedSeq, 1) });

      expect(await commitOne(subject.store, fork)).toEqual({ state: 'refused', reason: 'sequence_conflict' });
      expect(await subject.store.readRun(runId, undefined)).toBeUndefined();
    });

    it('cannot be created with events that do not follow its beginning', async () => {
      const fork = createUnit(newRunId(), { ...forkOptions(7), events: [event(0)] });

      expect(await commitOne(subject.store, fork)).toEqual({ state: 'refused', reason: 'sequence_conflict' });
    });

    it('refuses appends that count from 0, or beyond its end', async () => {
      const runId = await givenFork(7, 2);

      for (const expectedSeq of [0, 2, 7, 8, 10]) {
        expect(await commitOne(subject.store, appendUnit(runId, expectedSeq))).toEqual({
          state: 'refused',
          reason: 'sequence_conflict',
        });
      }
      expect(await readAll(subject.store, runId)).toHaveLength(2);
    });

    it('is not made of a run that is gone, or was erased, in either order', async () => {
      const { givenEndedRun, forkOf } = keptRuns(subject);
      const [removed, erased, kept] = [await givenEndedRun(), await givenEndedRun(), await givenEndedRun()];
      const forksOf = [removed, erased, newRunId(), kept].map((source) => {
        const unit = createUnit(newRunId(), forkOf(source));
        return { ...unit, ...(unit.create && { create: { ...unit.create, whileKept: [kept, source] } }) };
      });

      const results = await subject.store.commit([purgeUnit(removed), eraseUnit(erased), ...forksOf]);

      expect(results.slice(2)).toEqual([
        ...Array.from({ length: 3 }, () => ({ state: 'refused', reason: 'source_gone' })),
        { state: 'committed' },
      ]);
      for (const source of [removed, erased]) {
        const late = createUnit(newRunId(), forkOf(source));
        const create = late.create && { ...late.create, whileKept: [source] };
        expect(await commitOne(subject.store, { ...late, ...(create && { create }) })).toMatchObject({
          reason: 'source_gone',
        });
      }
    });

    it('that exists is not created again', async () => {
      const runId = await givenFork(7, 2);

      expect(await commitOne(subject.store, createUnit(runId, forkOptions(7)))).toEqual({
        state: 'refused',
        reason: 'run_exists',
      });
    });

    it('keeps a checkpoint of what it took over and of what came after', async () => {
      const inherited = { seq: 7, foldVersion: 1, state: '{"x":1}' };
      const runId = await givenFork(7, 1, { checkpoint: inherited });
      expect(await subject.store.readCheckpoint(runId)).toEqual(inherited);

      const own = { seq: 9, foldVersion: 1, state: '{"x":2}' };
      await given(subject.store, appendUnit(runId, 8, { checkpoint: own }));

      expect(await subject.store.readCheckpoint(runId)).toEqual(own);
    });

    it('does not need its source', async () => {
      const source = newRunId();
      await given(subject.store, createUnit(source, { events: events(0, 3) }));
      const runId = await givenFork(2, 1, {
        record: { fork: { sourceRunId: source, fromSeq: 2, mode: 'replay' } },
      });

      expect(await readAll(subject.store, runId)).toEqual([event(2)]);
      expect(await readAll(subject.store, source)).toEqual(events(0, 3));
    });
  });

  describe('where a run comes from', () => {
    const origins: [string, Partial<CreationRecord>][] = [
      [
        'a parent',
        {
          parent: {
            runId: newRunId(),
            nodeId: 'work',
            nodeKey: 'work[2][0]',
            ancestors: ['root', 'greet'],
            collect: ['total', '__proto__'],
          },
        },
      ],
      [
        'inputs that its parent must not show',
        { inputs: { pin: 1, a: { b: 2 } }, sensitiveInputs: { pin: true, a: { b: true } } },
      ],
      ['a parent that wants nothing', { parent: { ...parentOf(newRunId()), ancestors: [], collect: [] } }],
      ['a fork', { fork: { sourceRunId: newRunId(), fromSeq: 0, mode: 'replay' } }],
      [
        'an import',
        {
          imported: {
            bundleDigest: 'e'.repeat(64),
            runId: 'their run 📎',
            host: 'elsewhere.test',
            verified: true,
            totalEvents: 900,
          },
        },
      ],
      ['a bare import', { imported: { bundleDigest: 'e'.repeat(64), runId: 'r', verified: false } }],
      [
        'a fork of a child, with inputs and tags',
        {
          parent: parentOf(newRunId()),
          fork: { sourceRunId: newRunId(), fromSeq: 0, mode: 'branch' },
          inputs: { fork: { fromSeq: 99 } },
          tags: ['t'],
        },
      ],
    ];

    it.each(origins)('is kept with its record: %s', async (_, more) => {
      const runId = newRunId();
      const record = recordOf(runId, more);
      const plain = newRunId();

      await given(subject.store, createUnit(runId, { record: more }), createUnit(plain));

      expect((await subject.store.readRun(runId, 'acme'))?.record).toEqual(record);
      const { rows } = await subject.store.listRuns('acme', {}, { limit: 10 });
      expect(rows.map((row) => row.record)).toEqual([recordOf(plain), record]);
    });

    it('may be a bundle whose run is over, which no process ever claims', async () => {
      const runId = newRunId();
      await subject.store.heartbeat('h1', 10_000);

      await given(
        subject.store,
        createUnit(runId, {
          record: { imported: { bundleDigest: 'e'.repeat(64), runId: 'r', verified: true } },
          events: [event(0), event(1, 'run.completed')],
          head: completed,
        }),
      );

      expect(await subject.store.claimDue('h1', 10)).toEqual([]);
      expect(await subject.store.claim(runId, 'h1')).toEqual({ state: 'terminal' });
      expect(await subject.store.readRun(runId, 'acme')).toMatchObject({ head: completed, nextSeq: 2 });
    });
  });
}

function parentOf(runId: string): NonNullable<CreationRecord['parent']> {
  return { runId, nodeId: 'work', nodeKey: 'work', ancestors: ['root'], collect: ['total'] };
}
