import { describe, expect, it } from 'vitest';
import type { CostQuery, CostRow, UsageRow } from '../ports/store.ts';
import { appendUnit, commitOne, completed, createUnit, given, newRunId } from './fixtures.ts';
import { purgeUnit } from './retention/kept-runs.ts';
import type { Subject } from './subject.ts';

const DAY = 20_000;

function usage(more: Partial<UsageRow> = {}): UsageRow {
  return {
    day: DAY,
    workflowId: 'greet',
    provider: 'acme-ai',
    model: 'fable-1',
    calls: 1,
    inputTokens: 10,
    outputTokens: 5,
    nanoUsd: 700,
    unpricedCalls: 0,
    ...more,
  };
}

/** S-22: what model calls have cost. */
export function costsContract(subject: Subject): void {
  async function read(by: CostQuery['by'], more: Partial<CostQuery> = {}, tenant = 'acme') {
    const range = { fromDay: DAY - 10, untilDay: DAY + 10, limit: 10, most: 1_000 };
    return await subject.store.readCosts(tenant, { by, ...range, ...more });
  }

  async function givenSpending(rows: readonly UsageRow[], tenant = 'acme'): Promise<string> {
    const runId = newRunId();
    await given(subject.store, createUnit(runId, { holder: 'h1', record: { tenant }, usage: rows }));
    return runId;
  }

  const summed = ({ calls, inputTokens, outputTokens, nanoUsd, unpricedCalls }: CostRow) =>
    [calls, inputTokens, outputTokens, nanoUsd, unpricedCalls].join(' ');

  describe('the costs of a tenant', () => {
    it('add up by day, workflow, model and run, and are no one else’s (S-22)', async () => {
      const first = await givenSpending([usage(), usage({ model: 'fable-2', nanoUsd: 0, unpricedCalls: 1 })]);
      const second = await givenSpending([usage({ day: DAY + 1, workflowId: 'letters', nanoUsd: 1_000 })]);
      await givenSpending([usage({ nanoUsd: 9 })], 'other');
      await given(subject.store, appendUnit(first, 0, { usage: [usage({ calls: 2, unpricedCalls: 2 })] }));

      const days = await read('day');
      const workflows = await read('workflow');
      const models = await read('model');
      const runs = await read('run');

      expect(days.rows.map((row) => `${row.day} ${summed(row)}`)).toEqual([
        `${DAY + 1} 1 10 5 1000 0`,
        `${DAY} 4 30 15 1400 3`,
      ]);
      expect(workflows.rows.map((row) => `${row.workflowId} ${summed(row)}`)).toEqual([
        'greet 4 30 15 1400 3',
        'letters 1 10 5 1000 0',
      ]);
      expect(models.rows.map((row) => `${row.provider}/${row.model} ${summed(row)}`)).toEqual([
        'acme-ai/fable-1 4 30 15 2400 2',
        'acme-ai/fable-2 1 10 5 0 1',
      ]);
      expect(runs.rows.map((row) => `${row.runId} ${summed(row)}`)).toEqual([
        `${first} 4 30 15 1400 3`,
        `${second} 1 10 5 1000 0`,
      ]);
      expect((await read('total')).rows.map(summed)).toEqual(['5 40 20 2400 3']);
      expect(await read('total', {}, 'stranger')).toEqual({ rows: [], hasMore: false });
    });

    it('are exact beyond what a number holds', async () => {
      const most = Number.MAX_SAFE_INTEGER;
      await givenSpending([usage({ nanoUsd: most }), usage({ day: DAY + 1, nanoUsd: most })]);

      expect((await read('total')).rows[0]?.nanoUsd).toBe(2n * BigInt(most));
    });

    it('are looked at within their days, to their limits, the newest first', async () => {
      for (let day = 0; day < 4; day += 1) await givenSpending([usage({ day: DAY + day })]);

      const within = await read('day', { fromDay: DAY + 1, untilDay: DAY + 3 });
      const cut = await read('day', { limit: 2 });
      const bounded = await read('day', { most: 3 });

      expect(within.rows.map(({ day }) => day)).toEqual([DAY + 2, DAY + 1]);
      expect(cut).toMatchObject({ hasMore: true, rows: [{ day: DAY + 3 }, { day: DAY + 2 }] });
      expect(bounded.rows.map(({ day }) => day)).toEqual([DAY + 3, DAY + 2, DAY + 1]);
      expect(bounded.countedSince).toBe(DAY + 1);
      expect(await read('day', { most: 4 })).not.toHaveProperty('countedSince');
    });

    it('are written with the unit, or not at all, and two units of a group add up', async () => {
      const runId = await givenSpending([]);
      const units = [appendUnit(runId, 0, { usage: [usage()] }), appendUnit(runId, 1, { usage: [usage()] })];
      await subject.store.commit(units);

      const stale = await commitOne(subject.store, appendUnit(runId, 0, { usage: [usage()] }));

      expect(stale).toMatchObject({ state: 'refused', reason: 'sequence_conflict' });
      expect((await read('total')).rows.map(summed)).toEqual(['2 20 10 1400 0']);
    });

    it('outlive the run, without its id', async () => {
      const [gone, kept] = [await givenSpending([usage()]), await givenSpending([usage({ nanoUsd: 1 })])];
      const other = await givenSpending([usage({ nanoUsd: 2 })]);
      for (const runId of [gone, other]) {
        await given(subject.store, appendUnit(runId, 0, { head: completed }));
        await given(subject.store, purgeUnit(runId));
      }

      const { rows } = await read('run');

      expect(rows.map(({ runId, nanoUsd }) => [runId, nanoUsd])).toEqual([
        [undefined, 702n],
        [kept, 1n],
      ]);
    });
  });
}
