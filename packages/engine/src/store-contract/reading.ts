import { describe, expect, it } from 'vitest';
import { HostError } from '@weft/protocol';
import type { RunFilter, RunRow } from '../ports/store.ts';
import {
  appendUnit,
  completed,
  createUnit,
  event,
  events,
  given,
  givenHeldRun,
  newRunId,
  START,
  waiting,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** S-6, and the pages of events and runs. */
export function readingContract(subject: Subject): void {
  describe('reading events', () => {
    it('gives pages in order from the asked sequence, inclusive', async () => {
      const runId = await givenHeldRun(subject.store, { count: 10 });
      const seqs = async (from: number, limit: number) =>
        (await subject.store.readEvents(runId, from, limit, 1_000_000)).map(({ seq }) => seq);

      expect(await seqs(0, 4)).toEqual([0, 1, 2, 3]);
      expect(await seqs(4, 4)).toEqual([4, 5, 6, 7]);
      expect(await seqs(8, 4)).toEqual([8, 9]);
      expect(await seqs(10, 4)).toEqual([]);
      expect(await seqs(99, 4)).toEqual([]);
    });

    it('ends a page at about the asked bytes, but gives at least one event', async () => {
      const payload = `"${'x'.repeat(998)}"`;
      const runId = await givenHeldRun(subject.store);
      await given(
        subject.store,
        appendUnit(runId, 0, { events: events(0, 20).map((e) => ({ ...e, payload })) }),
      );

      const page = await subject.store.readEvents(runId, 0, 100, 5_000);
      const tiny = await subject.store.readEvents(runId, 3, 100, 1);

      expect(page.length).toBeGreaterThanOrEqual(4);
      expect(page.length).toBeLessThanOrEqual(6);
      expect(tiny.map(({ seq }) => seq)).toEqual([3]);
    });

    it('counts overlays, which are read as well', async () => {
      const overlay = JSON.stringify('x'.repeat(998));
      const runId = await givenHeldRun(subject.store);
      await given(
        subject.store,
        appendUnit(runId, 0, { events: events(0, 20).map((e) => ({ ...e, overlay })) }),
      );

      expect((await subject.store.readEvents(runId, 0, 100, 5_000)).length).toBeLessThanOrEqual(6);
    });

    it('has no event for a run that does not exist, whatever its id looks like', async () => {
      expect(await subject.store.readEvents(newRunId(), 0, 10, 1_000)).toEqual([]);
      expect(await subject.store.readEvents('no such run', 0, 10, 1_000)).toEqual([]);
      expect(await subject.store.readRun('no such run', undefined)).toBeUndefined();
      expect(await subject.store.readCheckpoint('no such run')).toBeUndefined();
      expect(await subject.store.readInbox('no such run')).toEqual([]);
      expect(await subject.store.readCommand('no such run', 'c1')).toBeUndefined();
    });

    it('sees what was committed before the read began', async () => {
      const runId = await givenHeldRun(subject.store);
      for (let seq = 0; seq < 20; seq += 1) {
        await given(subject.store, appendUnit(runId, seq));

        expect((await subject.store.readRun(runId, 'acme'))?.nextSeq).toBe(seq + 1);
        expect(await subject.store.readEvents(runId, seq, 10, 1_000)).toHaveLength(1);
      }
    });
  });

  describe('a tenant', () => {
    it('never sees the run of another tenant', async () => {
      const runId = await givenHeldRun(subject.store, { count: 1 });

      expect(await subject.store.readRun(runId, 'other')).toBeUndefined();
      expect((await subject.store.listRuns('other', {}, { limit: 10 })).rows).toEqual([]);
      expect(await subject.store.readRun(runId, 'acme')).toBeDefined();
      expect(await subject.store.readRun(runId, undefined)).toBeDefined();
    });
  });

  describe('listing runs', () => {
    const ids = (rows: readonly RunRow[]) => rows.map(({ record }) => record.runId);

    async function givenRuns(count: number, from = START): Promise<string[]> {
      const units = Array.from({ length: count }, (_, index) =>
        createUnit(newRunId(from + index), { record: { createdAt: from + index } }),
      );
      await given(subject.store, ...units);
      return units.map(({ runId }) => runId).reverse();
    }

    async function walk(
      filter: RunFilter,
      limit: number,
      between?: () => Promise<unknown>,
    ): Promise<string[]> {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await subject.store.listRuns(
          'acme',
          filter,
          cursor === undefined ? { limit } : { limit, cursor },
        );
        expect(page.rows.length).toBeLessThanOrEqual(limit);
        seen.push(...ids(page.rows));
        cursor = page.nextCursor;
        await between?.();
      } while (cursor !== undefined);
      return seen;
    }

    it('goes newest first, page by page, over every run once', async () => {
      const newestFirst = await givenRuns(7);

      expect(await walk({}, 3)).toEqual(newestFirst);
      expect(await walk({}, 7)).toEqual(newestFirst);
      expect(await walk({}, 100)).toEqual(newestFirst);
    });

    it('orders by creation time, whatever order runs were committed in', async () => {
      const later = await givenRuns(2, START + 100);
      const earlier = await givenRuns(2, START);

      expect(await walk({}, 3)).toEqual([...later, ...earlier]);
    });

    it('neither skips nor repeats a run of the same millisecond', async () => {
      const units = Array.from({ length: 9 }, () => createUnit(newRunId()));
      await given(subject.store, ...units);

      const seen = await walk({}, 2);

      expect([...seen].sort()).toEqual(units.map(({ runId }) => runId).sort());
    });

    it('is not moved by runs that arrive between two pages', async () => {
      const newestFirst = await givenRuns(6);
      let at = START + 1_000;

      const seen = await walk({}, 2, () => givenRuns(3, (at += 10)));

      expect(seen).toEqual(newestFirst);
    });

    it('filters by status, workflow, tag and time of creation, and by all at once', async () => {
      const [plain, done, tagged, other] = [newRunId(), newRunId(), newRunId(), newRunId()];
      await given(
        subject.store,
        createUnit(plain, { record: { createdAt: START } }),
        createUnit(done, {
          record: { createdAt: START + 1, tags: ['blue'] },
          head: completed,
          events: [event(0, 'run.completed')],
        }),
        createUnit(tagged, { record: { createdAt: START + 2, tags: ['red', 'blue'] }, head: waiting }),
        createUnit(other, {
          record: {
            createdAt: START + 3,
            workflowId: 'other',
            workflowVersion: '2.0.0',
            definitionDigest: 'e'.repeat(64),
          },
        }),
        createUnit(newRunId(), { record: { tenant: 'other', tags: ['blue'] } }),
      );

      expect(await walk({ status: ['running'] }, 10)).toEqual([other, plain]);
      expect(await walk({ status: ['completed', 'waiting-external'] }, 10)).toEqual([tagged, done]);
      expect(await walk({ status: [] }, 10)).toEqual([]);
      expect(await walk({ workflowId: 'greet' }, 10)).toEqual([tagged, done, plain]);
      expect(await walk({ workflowId: 'unheard-of' }, 10)).toEqual([]);
      expect(await walk({ tag: 'blue' }, 1)).toEqual([tagged, done]);
      expect(await walk({ tag: 'green' }, 10)).toEqual([]);
      expect(await walk({ since: START + 1, until: START + 3 }, 1)).toEqual([tagged, done]);
      expect(
        await walk(
          { status: ['completed'], workflowId: 'greet', tag: 'blue', since: START, until: START + 9 },
          10,
        ),
      ).toEqual([done]);
    });

    it('finds runs by what they failed with, with every other filter', async () => {
      const failed = (errorCode: string) => ({
        head: { ...completed, status: 'failed' as const, errorCode },
        events: [event(0, 'run.failed')],
      });
      const [timeout, tagged, other] = [newRunId(), newRunId(), newRunId()];
      await given(
        subject.store,
        createUnit(timeout, { record: { createdAt: START }, ...failed('timeout') }),
        createUnit(tagged, { record: { createdAt: START + 1, tags: ['red'] }, ...failed('timeout') }),
        createUnit(other, { record: { createdAt: START + 2, tags: ['red'] }, ...failed('broken') }),
        createUnit(newRunId(), { record: { createdAt: START + 3, tags: ['red'] } }),
        createUnit(newRunId(), { record: { tenant: 'other' }, ...failed('timeout') }),
      );

      expect(await walk({ errorCode: 'timeout' }, 1)).toEqual([tagged, timeout]);
      expect(await walk({ errorCode: 'broken' }, 10)).toEqual([other]);
      expect(await walk({ errorCode: 'unheard of' }, 10)).toEqual([]);
      expect(await walk({ errorCode: 'timeout', tag: 'red' }, 10)).toEqual([tagged]);
      expect(await walk({ errorCode: 'timeout', until: START + 1, workflowId: 'greet' }, 10)).toEqual([
        timeout,
      ]);
      expect(await walk({ errorCode: 'timeout', status: ['completed'] }, 10)).toEqual([]);
    });

    it('finds runs by how their id begins, the greatest first, page by page', async () => {
      const ids = ['a0000000', 'a1b00000', 'a1bfffff', 'a1bfff00', 'a2000000', 'ffffffff'].map(
        (head) => `${head}-0000-7000-8000-000000000000`,
      );
      const [, first, last, middle, , end] = ids;
      await given(
        subject.store,
        ...ids.map((runId, index) =>
          createUnit(runId, { record: { createdAt: START + index, ...(index === 1 && { tags: ['red'] }) } }),
        ),
        createUnit('a1b11111-0000-7000-8000-000000000000', { record: { tenant: 'other' } }),
      );

      for (const limit of [1, 2, 10])
        expect(await walk({ idPrefix: 'a1b' }, limit)).toEqual([last, middle, first]);
      expect(await walk({ idPrefix: '' }, 4)).toEqual([...ids].sort().reverse());
      expect(await walk({ idPrefix: 'ffffffff00007000' }, 10)).toEqual([end]);
      expect(await walk({ idPrefix: String(first).replaceAll('-', '') }, 10)).toEqual([first]);
      expect(await walk({ idPrefix: 'b' }, 10)).toEqual([]);
      expect(await walk({ idPrefix: 'a1b', tag: 'red', status: ['running'] }, 10)).toEqual([first]);
      expect(await walk({ idPrefix: 'a1b', since: START + 2, until: START + 3 }, 10)).toEqual([last]);
      expect(await walk({ idPrefix: 'a1b', errorCode: 'broken' }, 10)).toEqual([]);
      const attempt = subject.store.listRuns('acme', { idPrefix: 'a' }, { limit: 1, cursor: 'nonsense' });
      await expect(attempt).rejects.toMatchObject({ details: { field: 'cursor' } });
    });

    it('counts runs by time of creation and status', async () => {
      const minute = 60_000;
      const at = Math.floor(START / minute) * minute;
      await given(
        subject.store,
        createUnit(newRunId(), { record: { createdAt: at } }),
        createUnit(newRunId(), { record: { createdAt: at + minute - 1 } }),
        createUnit(newRunId(), { record: { createdAt: at + minute, tags: ['red'] } }),
        createUnit(newRunId(), {
          record: { createdAt: at + minute },
          head: completed,
          events: [event(0, 'run.completed')],
        }),
        createUnit(newRunId(), { record: { tenant: 'other', createdAt: at } }),
      );
      const counted = async (filter: RunFilter): Promise<string[]> => {
        const { counts, ...rest } = await subject.store.countRuns('acme', filter, minute, 1_000);
        expect(rest).toEqual({});
        return counts.map((each) => `${(each.at - at) / minute} ${each.status} ${each.count}`).sort();
      };

      expect(await counted({})).toEqual(['0 running 2', '1 completed 1', '1 running 1']);
      expect(await counted({ status: ['completed'] })).toEqual(['1 completed 1']);
      expect(await counted({ tag: 'red' })).toEqual(['1 running 1']);
      expect(await counted({ until: at + minute })).toEqual(['0 running 2']);
      expect(await counted({ errorCode: 'broken' })).toEqual([]);
      expect(await counted({ workflowId: 'unheard of' })).toEqual([]);
      expect(await counted({ idPrefix: '' })).toEqual(await counted({}));
    });

    it('counts the newest of very many, and says since when', async () => {
      const most = 1_000;
      await givenRuns(2_500);

      const { counts, countedSince } = await subject.store.countRuns('acme', {}, 1_000, most);
      const none = await subject.store.countRuns('acme', { status: ['failed'] }, 1_000, most);

      const counted = counts.reduce((sum, { count }) => sum + count, 0);
      expect(counted).toBeGreaterThanOrEqual(most);
      expect(counted).toBeLessThan(2_500);
      expect(countedSince).toBe(START + 2_500 - counted);
      expect(none).toEqual({ counts: [], countedSince });
    });

    it('shows the same rows as reading each run', async () => {
      const [runId] = await givenRuns(1);

      const { rows } = await subject.store.listRuns('acme', {}, { limit: 1 });

      expect(rows).toEqual([await subject.store.readRun(runId ?? '', 'acme')]);
    });

    it('ends a page where its records have as many bytes as it may have, with one row in any case', async () => {
      const sizes = [10, 60_000, 60_000, 10, 10, 200_000, 60_000];
      const units = sizes.map((size, index) =>
        createUnit(newRunId(START + index), {
          record: { createdAt: START + index, inputs: { text: 'x'.repeat(size) }, tags: ['all'] },
        }),
      );
      await given(subject.store, ...units);
      const newestFirst = units.map(({ runId }) => runId).reverse();

      for (const filter of [{}, { tag: 'all' }]) {
        const pages: number[] = [];
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await subject.store.listRuns('acme', filter, {
            limit: 5,
            maxBytes: 130_000,
            ...(cursor !== undefined && { cursor }),
          });
          pages.push(page.rows.length);
          seen.push(...ids(page.rows));
          for (const { record } of page.rows) expect(record.inputs).toHaveProperty('text');
          cursor = page.nextCursor;
        } while (cursor !== undefined && pages.length < 20);

        expect(seen).toEqual(newestFirst);
        expect(pages).toEqual([1, 1, 5]);
      }
    });

    it('says which field is wrong when the cursor is not one it gave', async () => {
      const attempt = subject.store.listRuns('acme', {}, { limit: 1, cursor: 'nonsense' });

      await expect(attempt).rejects.toBeInstanceOf(HostError);
      await expect(attempt).rejects.toMatchObject({ code: 'validation_error', details: { field: 'cursor' } });
    });
  });
}
