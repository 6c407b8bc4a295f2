import { describe, expect, it } from 'vitest';
import {
  appendUnit,
  commandUnit,
  commitOne,
  completed,
  createUnit,
  given,
  givenHeldRun,
  idempotencyRecord,
  keyRow,
  newBatchId,
  newRunId,
  START,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** S-4 for idempotency records: with the effect or not at all. */
export function idempotencyContract(subject: Subject): void {
  describe('an idempotency record', () => {
    const record = idempotencyRecord();
    const read = () => subject.store.readIdempotency(record.tenant, record.operation, record.keyHash);

    it('commits with its effect and is given back to the next one', async () => {
      const second = newRunId();
      await given(subject.store, createUnit(newRunId(), { idempotency: record }));

      const other = idempotencyRecord({ requestDigest: 'c'.repeat(64) });
      const result = await commitOne(subject.store, createUnit(second, { idempotency: other }));

      expect(result).toEqual({ state: 'refused', reason: 'idempotency_exists', record });
      expect(await subject.store.readRun(second, undefined)).toBeUndefined();
      expect(await read()).toEqual(record);
    });

    it('lets one of ten parallel duplicates through, also inside one group', async () => {
      const units = Array.from({ length: 10 }, () => createUnit(newRunId(), { idempotency: record }));

      const grouped = await subject.store.commit(units.slice(0, 5));
      const single = await Promise.all(units.slice(5).map((unit) => commitOne(subject.store, unit)));

      expect([...grouped, ...single].filter(({ state }) => state === 'committed')).toHaveLength(1);
      expect((await subject.store.listRuns('acme', {}, { limit: 20 })).rows).toHaveLength(1);
    });

    it('is checked before any other reason to refuse', async () => {
      const runId = newRunId();
      await given(subject.store, createUnit(runId, { idempotency: record }));

      expect(await commitOne(subject.store, createUnit(runId, { idempotency: record }))).toMatchObject({
        reason: 'idempotency_exists',
      });
    });

    it('belongs to its tenant, its operation and its key', async () => {
      await given(
        subject.store,
        createUnit(newRunId(), { idempotency: record }),
        createUnit(newRunId(), { idempotency: { ...record, tenant: 'other' } }),
        createUnit(newRunId(), { idempotency: { ...record, operation: 'POST /v1/keys' } }),
        createUnit(newRunId(), { idempotency: { ...record, keyHash: 'f'.repeat(64) } }),
      );

      expect(
        await subject.store.readIdempotency('stranger', record.operation, record.keyHash),
      ).toBeUndefined();
      expect(await read()).toEqual(record);
    });

    it('may point to the command whose result is the answer', async () => {
      const runId = await givenHeldRun(subject.store);
      const pointing = idempotencyRecord({ response: { runId, commandId: 'c1' } });

      await given(subject.store, commandUnit(runId, 'c1', { idempotency: pointing }));

      expect(await read()).toEqual(pointing);
      expect(
        await commitOne(subject.store, commandUnit(runId, 'c2', { idempotency: pointing })),
      ).toMatchObject({ record: pointing });
    });

    it('leads to its command also when that has ended the run', async () => {
      const runId = await givenHeldRun(subject.store);
      const pointing = idempotencyRecord({ response: { runId, commandId: 'c1' } });
      const commandResult = { applied: true, status: 'completed', at: START } as const;
      await given(
        subject.store,
        commandUnit(runId, 'c1', { idempotency: pointing }),
        appendUnit(runId, 0, { head: completed, consume: [{ commandId: 'c1', commandResult }] }),
      );

      const again = await commitOne(subject.store, commandUnit(runId, 'c2', { idempotency: pointing }));

      expect(again).toEqual({ state: 'refused', reason: 'idempotency_exists', record: pointing });
      expect(await subject.store.readCommand(runId, 'c1')).toMatchObject({ commandResult });
    });

    it('goes with units of every kind', async () => {
      await given(subject.store, {
        kind: 'key',
        batchId: newBatchId(),
        key: keyRow('k1'),
        idempotency: record,
      });

      const again = await commitOne(subject.store, {
        kind: 'key',
        batchId: newBatchId(),
        key: keyRow('k2'),
        idempotency: record,
      });

      expect(again).toMatchObject({ reason: 'idempotency_exists' });
      expect(await subject.store.listKeys('acme')).toHaveLength(1);
    });

    it('is gone when it expires, whether pruned or not', async () => {
      await given(subject.store, createUnit(newRunId(), { idempotency: record }));
      subject.now = START + 1_001;

      expect(await read()).toBeUndefined();
      const renewed = idempotencyRecord({ expiresAt: START + 9_000 });
      expect(await commitOne(subject.store, createUnit(newRunId(), { idempotency: renewed }))).toEqual({
        state: 'committed',
      });
      expect(await read()).toEqual(renewed);
    });

    it('is removed by pruning once expired, and only then', async () => {
      const records = Array.from({ length: 5 }, (_, index) =>
        idempotencyRecord({ keyHash: `${index}`.repeat(64) }),
      );
      const kept = idempotencyRecord({ expiresAt: START + 9_000 });
      await given(
        subject.store,
        ...[...records, kept].map((idempotency) => createUnit(newRunId(), { idempotency })),
      );

      expect(await subject.store.prune()).toBe(0);
      subject.now = START + 1_001;
      expect(await subject.store.prune()).toBe(5);
      expect(await subject.store.prune()).toBe(0);
      expect(await read()).toEqual(kept);
    });
  });
}
