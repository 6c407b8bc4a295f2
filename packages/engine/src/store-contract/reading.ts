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
