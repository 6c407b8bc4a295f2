import { describe, expect, it } from 'vitest';
import type { ExpiredRun, RunHead } from '../../ports/store.ts';
import { completed, createUnit, events, given, newRunId, START } from '../fixtures.ts';
import { purgeUnit } from './kept-runs.ts';
import type { Subject } from '../subject.ts';

const DAY = 86_400_000;

/** Finding runs whose time has come. */
export function expiredRunsContract(subject: Subject): void {
  async function expired(tenant: string | undefined, before: number, limit = 100): Promise<ExpiredRun[]> {
    const found: ExpiredRun[] = [];
    let cursor: string | undefined;
    do {
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      const listed = await subject.store.listExpired(tenant, before, page);
      expect(listed.rows.length).toBeLessThanOrEqual(limit);
      found.push(...listed.rows);
      cursor = listed.nextCursor;
    } while (cursor !== undefined);
    return found;
  }

  describe('runs that have expired', () => {
    async function givenRun(at: number, endedAt: number | undefined, tenant = 'acme'): Promise<string> {
      const runId = newRunId(at);
      const head: RunHead =
        endedAt === undefined ? { status: 'running', wakeAt: 0 } : { ...completed, endedAt };
      await given(
        subject.store,
        createUnit(runId, { record: { createdAt: at, tenant }, events: events(0, 2), head }),
      );
      return runId;
    }

    it('are those that were created and have ended before a time', async () => {
      const old = await givenRun(START, START + 10);
      await givenRun(START, START + 100);
      await givenRun(START, undefined);
      await givenRun(START + 100, START + 10);

      expect(await expired('acme', START + 100)).toEqual([
        { runId: old, tenant: 'acme', endedAt: START + 10, events: 2 },
      ]);
      expect(await expired('acme', START)).toEqual([]);
    });

    it('are listed by tenant, or of all tenants for the host', async () => {
      const mine = await givenRun(START, START + 1);
      const theirs = await givenRun(START, START + 2, 'other');

      expect((await expired('acme', START + DAY)).map(({ runId }) => runId)).toEqual([mine]);
      expect((await expired('other', START + DAY)).map(({ runId }) => runId)).toEqual([theirs]);
      expect(await expired('stranger', START + DAY)).toEqual([]);
      expect((await expired(undefined, START + DAY)).map(({ tenant }) => tenant).toSorted()).toEqual([
        'acme',
        'other',
      ]);
    });

    it('come in pages that continue although what was listed is purged meanwhile', async () => {
      const all = [];
      for (let index = 0; index < 7; index += 1) all.push(await givenRun(START + index, START + index));
      const first = await subject.store.listExpired('acme', START + DAY, { limit: 3 });
      await given(subject.store, ...first.rows.map(({ runId }) => purgeUnit(runId)));

      const cursor = first.nextCursor ?? '';
      const second = await subject.store.listExpired('acme', START + DAY, { limit: 100, cursor });

      expect([...first.rows, ...second.rows].map(({ runId }) => runId).toSorted()).toEqual(all.toSorted());
      expect(await expired(undefined, START + DAY, 2)).toHaveLength(4);
    });
  });
}
