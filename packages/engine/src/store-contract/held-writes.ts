import { describe, expect, it } from 'vitest';
import type { WriteUnit } from '../ports/store.ts';
import {
  appendUnit,
  auditEntry,
  blobUnit,
  commitOne,
  completed,
  createUnit,
  documentUnit,
  given,
  givenHeldRun,
  idempotencyRecord,
  newRunId,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

const TTL_MS = 10_000;
const STALE = { state: 'refused', reason: 'stale_epoch' };

/** What a holder writes on behalf of a run and not to its log: only while its claim holds. */
export function heldWritesContract(subject: Subject): void {
  const KINDS: readonly [string, (runId: string, epoch: number) => WriteUnit][] = [
    ['a document', (runId, epoch) => documentUnit('late', { whileHeld: { runId, epoch } })],
    ['a piece', (runId, epoch) => blobUnit(runId, 0, { whileHeld: { runId, epoch } })],
    ['a child', (runId, epoch) => createUnit(newRunId(), { whileHeld: { runId, epoch } })],
    [
      'a begun child',
      (runId, epoch) => createUnit(newRunId(), { holder: 'h1', whileHeld: { runId, epoch } }),
    ],
  ];

  async function takenOver(runId: string): Promise<void> {
    subject.now += TTL_MS + 1;
    await subject.store.heartbeat('h2', TTL_MS);
    expect(await subject.store.claim(runId, 'h2')).toEqual({ state: 'claimed', epoch: 2 });
  }

  async function isWritten(unit: WriteUnit): Promise<boolean> {
    const { store } = subject;
    switch (unit.kind) {
      case 'document':
        return (await store.readDocument(unit)) !== undefined;
      case 'blob':
        return (await store.readBlob(unit.tenant, unit.runId, unit.blobId, unit.index)) !== undefined;
      case 'run':
        return (await store.readRun(unit.runId, undefined)) !== undefined;
      default:
        throw new Error(`no test writes a unit of kind ${unit.kind}`);
    }
  }

  describe.each(KINDS)('%s that is written while a claim holds', (_, unitOf) => {
    it('is taken from the holder', async () => {
      const runId = await givenHeldRun(subject.store);
      const unit = unitOf(runId, 1);

      expect(await commitOne(subject.store, unit)).toEqual({ state: 'committed' });
      expect(await isWritten(unit)).toBe(true);
    });

    it('is taken past the deadline, until another process has taken the run over', async () => {
      const runId = await givenHeldRun(subject.store);
      subject.now += TTL_MS + 1;

      expect(await commitOne(subject.store, unitOf(runId, 1))).toEqual({ state: 'committed' });
    });

    it('is refused when another holder has taken the run over, and taken from that one', async () => {
      const runId = await givenHeldRun(subject.store);
      await takenOver(runId);
      const [late, own] = [unitOf(runId, 1), unitOf(runId, 2)];

      expect(await commitOne(subject.store, late)).toEqual(STALE);
      expect(await isWritten(late)).toBe(false);
      expect(await commitOne(subject.store, own)).toEqual({ state: 'committed' });
    });

    it('is refused when the claim was given up', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, appendUnit(runId, 0, { release: true }));

      expect(await commitOne(subject.store, unitOf(runId, 1))).toEqual(STALE);
    });

    it('is refused when the run is over, also by a unit of the same group', async () => {
      const runId = await givenHeldRun(subject.store);
      const [before, after] = [unitOf(runId, 1), unitOf(runId, 1)];

      const results = await subject.store.commit([before, appendUnit(runId, 0, { head: completed }), after]);

      expect(results).toEqual([{ state: 'committed' }, { state: 'committed' }, STALE]);
    });
  });

  describe('a write that names a claim', () => {
    it('is refused for a run that does not exist', async () => {
      for (const runId of [newRunId(), 'no such run']) {
        const late = documentUnit('late', { whileHeld: { runId, epoch: 1 } });
        expect(await commitOne(subject.store, late)).toEqual(STALE);
      }
    });

    it('brings nothing along when it is refused', async () => {
      const runId = await givenHeldRun(subject.store);
      const record = idempotencyRecord();
      const claim = { whileHeld: { runId, epoch: 7 } };

      const late = documentUnit('late', { ...claim, idempotency: record, audit: [auditEntry('late')] });
      expect(await commitOne(subject.store, late)).toEqual(STALE);

      expect(await subject.store.readAudit(0, 10)).toEqual([]);
      expect(await subject.store.readIdempotency('acme', record.operation, record.keyHash)).toBeUndefined();
    });

    it('is decided before or after a takeover, never during it', async () => {
      const runs = await Promise.all(Array.from({ length: 10 }, () => givenHeldRun(subject.store)));
      subject.now += TTL_MS + 1;
      await subject.store.heartbeat('h2', TTL_MS);
      const late = runs.map((runId) => documentUnit(runId, { whileHeld: { runId, epoch: 1 } }));

      const [claimed, results] = await Promise.all([
        Promise.all(runs.map((runId) => subject.store.claim(runId, 'h2'))),
        Promise.all(late.map((unit) => commitOne(subject.store, unit))),
      ]);

      expect(claimed).toEqual(runs.map(() => ({ state: 'claimed', epoch: 2 })));
      for (const [index, unit] of late.entries()) {
        expect(await isWritten(unit)).toBe(results[index]?.state === 'committed');
        expect(await commitOne(subject.store, unit)).toEqual(STALE);
      }
    });
  });
}
