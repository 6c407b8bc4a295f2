import { describe, expect, it } from 'vitest';
import type { DocumentUnit, DocumentWrite, StoredDocument } from '../ports/store.ts';
import {
  appendUnit,
  auditEntry,
  commitOne,
  completed,
  createUnit,
  documentUnit,
  event,
  given,
  givenHeldRun,
  idempotencyRecord,
  newRunId,
  removalUnit,
  START,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

const PLACE = { tenant: 'acme', collection: 'notes', scope: '' };

/** Versions of documents, documents that come with other units, and those that are due at a time. */
export function dueDocumentsContract(subject: Subject): void {
  const read = (id: string): Promise<StoredDocument | undefined> =>
    subject.store.readDocument({ ...PLACE, id });
  const written = (id: string, more: Partial<DocumentWrite> = {}): DocumentWrite => ({
    ...PLACE,
    id,
    body: `{"id":"${id}"}`,
    at: START,
    ...more,
  });
  const timed = (id: string, dueAt: number, more: Partial<DocumentUnit> = {}): DocumentUnit =>
    documentUnit(id, { dueAt, ...more });
  const claim = (limit = 10, leaseMs = 1_000) => subject.store.claimDueDocuments('notes', limit, leaseMs);
  const claimedIds = async (limit?: number) => (await claim(limit)).rows.map(({ id }) => id);

  describe('the version of a document', () => {
    it('is another one after every write, and the same for every reader (S-20)', async () => {
      const first = documentUnit('a');
      await given(subject.store, first);
      const before = await read('a');
      await given(subject.store, documentUnit('a'));
      const after = await read('a');

      expect(before?.version).toBe(first.batchId);
      expect(after?.version).not.toBe(before?.version);
      const { rows } = await subject.store.listDocuments('acme', 'notes', '', { limit: 5 });
      expect(rows[0]?.version).toBe(after?.version);
    });

    it('lets a write pass that names it, and rejects any that names another (S-20)', async () => {
      const first = documentUnit('a');
      await given(subject.store, first);
      const second = documentUnit('a', { replaces: first.batchId, body: '2' });

      expect(await commitOne(subject.store, second)).toEqual({ state: 'committed' });
      const changed = { state: 'refused', reason: 'document_changed' };
      expect(await commitOne(subject.store, documentUnit('a', { replaces: first.batchId }))).toEqual(changed);
      expect(await commitOne(subject.store, documentUnit('b', { replaces: first.batchId }))).toEqual(changed);
      expect(await commitOne(subject.store, removalUnit('a', { replaces: first.batchId }))).toEqual(changed);
      expect(await read('a')).toMatchObject({ body: '2', version: second.batchId });
      expect(await commitOne(subject.store, removalUnit('a', { replaces: second.batchId }))).toEqual({
        state: 'committed',
      });
    });

    it('is replaced by one of ten that race, also within one group (S-20)', async () => {
      const first = documentUnit('a');
      await given(subject.store, first);
      const units = Array.from({ length: 10 }, (_, index) =>
        documentUnit('a', { replaces: first.batchId, body: `${index}` }),
      );

      const results = await Promise.all([
        subject.store.commit(units.slice(0, 4)),
        ...units.slice(4).map(async (unit) => [await commitOne(subject.store, unit)]),
      ]);

      const flat = results.flat();
      expect(flat.filter(({ state }) => state === 'committed')).toHaveLength(1);
      const winner = flat.findIndex(({ state }) => state === 'committed');
      expect(await read('a')).toMatchObject({ body: `${winner}` });
    });

    it('of a document that has expired is none', async () => {
      const first = documentUnit('a', { expiresAt: START + 1 });
      await given(subject.store, first);
      subject.now = START + 1;

      expect(await commitOne(subject.store, documentUnit('a', { replaces: first.batchId }))).toMatchObject({
        reason: 'document_changed',
      });
    });
  });

  describe('documents that come with another unit', () => {
    it('are written with it, all of them', async () => {
      const runId = newRunId();
      const unit = createUnit(runId, { documents: [written('a'), written('b', { dueAt: START + 5 })] });

      await given(subject.store, unit);

      expect(await read('a')).toMatchObject({ version: unit.batchId });
      expect((await claim()).nextAt).toBe(START + 5);
      await given(subject.store, {
        kind: 'audit',
        batchId: documentUnit('x').batchId,
        audit: [auditEntry('kept')],
        documents: [{ ...PLACE, id: 'a', at: START }],
      });
      expect(await read('a')).toBeUndefined();
    });

    it('reject it when one of them may not be written, and then nothing of it is (S-20)', async () => {
      const first = documentUnit('a');
      await given(subject.store, first);
      await given(subject.store, documentUnit('a'));
      const runId = newRunId();
      const unit = createUnit(runId, {
        documents: [written('new'), written('a', { replaces: first.batchId })],
        idempotency: idempotencyRecord(),
      });

      expect(await commitOne(subject.store, unit)).toEqual({ state: 'refused', reason: 'document_changed' });

      expect(await subject.store.readRun(runId, undefined)).toBeUndefined();
      expect(await read('new')).toBeUndefined();
      const { operation, keyHash } = idempotencyRecord();
      expect(await subject.store.readIdempotency('acme', operation, keyHash)).toBeUndefined();
    });

    it('are not written when their unit is rejected for another reason', async () => {
      const runId = newRunId();
      await given(subject.store, createUnit(runId));

      const again = createUnit(runId, { documents: [written('a')] });

      expect(await commitOne(subject.store, again)).toMatchObject({ reason: 'run_exists' });
      expect(await read('a')).toBeUndefined();
    });
  });

  describe('a document with a due time', () => {
    it('is found when its time has come by the store’s clock, oldest first (S-19)', async () => {
      await given(
        subject.store,
        timed('late', START + 30),
        timed('soon', START + 10),
        timed('sooner', START + 5, { scope: 's', tenant: 'other' }),
        documentUnit('never'),
        timed('elsewhere', START, { collection: 'memory' }),
      );

      expect(await claim()).toEqual({ now: START, rows: [], nextAt: START + 5 });
      subject.now = START + 10;
      const found = await claim();

      expect(found.rows.map(({ id, tenant, scope }) => [id, tenant, scope])).toEqual([
        ['sooner', 'other', 's'],
        ['soon', 'acme', ''],
      ]);
      expect(found).toMatchObject({ now: START + 10, nextAt: START + 30 });
    });

    it('is leased: found again when that is over, or when it was written (S-19)', async () => {
      await given(subject.store, timed('a', START), timed('b', START + 1));
      subject.now = START + 1;
      expect(await claimedIds()).toEqual(['a', 'b']);
      expect((await claim()).nextAt).toBe(START + 1_001);

      await given(subject.store, timed('b', START));
      expect(await claimedIds()).toEqual(['b']);
      await given(subject.store, documentUnit('b'));
      subject.now = START + 1_001;
      expect(await claimedIds()).toEqual(['a']);
    });

    it('is given to one of many that ask at the same time (S-19)', async () => {
      const ids = Array.from({ length: 40 }, (_, index) => `d${index}`);
      await given(subject.store, ...ids.map((id) => timed(id, START)));

      const found = await Promise.all(Array.from({ length: 8 }, () => claimedIds(8)));

      const all = found.flat();
      expect(new Set(all).size).toBe(all.length);
      for (let rest = await claimedIds(8); rest.length > 0; rest = await claimedIds(8)) all.push(...rest);
      expect([...all].sort()).toEqual([...ids].sort());
    });

    it('of a tenant with few does not wait for one with many (S-19)', async () => {
      const many = Array.from({ length: 30 }, (_, index) => timed(`m${index}`, START - 100 + index));
      await given(subject.store, ...many, timed('few', START, { tenant: 'small' }));

      expect(await claimedIds(4)).toContain('few');
    });

    it('is not found when it was removed, or has expired', async () => {
      await given(
        subject.store,
        timed('a', START),
        timed('b', START, { expiresAt: START + 1 }),
        timed('c', START),
      );
      await given(subject.store, removalUnit('a'));
      subject.now = START + 1;

      expect(await claimedIds()).toEqual(['c']);
    });

    it('is due at once when a run wakes it, leased or not, under another version', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, timed('a', START + 50), documentUnit('untimed'));
      const before = await read('a');
      const wakes = ['a', 'untimed', 'missing'].map((id) => ({ ...PLACE, id }));

      const end = appendUnit(runId, 0, { events: [event(0)], head: completed, wakes });
      await given(subject.store, end);

      expect(new Set(await claimedIds())).toEqual(new Set(['a', 'untimed']));
      expect((await read('a'))?.version).not.toBe(before?.version);
      expect(await read('missing')).toBeUndefined();
      expect(
        await commitOne(subject.store, documentUnit('a', { replaces: before?.version ?? '' })),
      ).toMatchObject({ reason: 'document_changed' });
    });

    it('is woken out of a lease', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, timed('a', START));
      expect(await claimedIds()).toEqual(['a']);

      await given(subject.store, appendUnit(runId, 0, { wakes: [{ ...PLACE, id: 'a' }] }));

      expect(await claimedIds()).toEqual(['a']);
    });
  });

  describe('runs that something started', () => {
    it('are listed by it, newest first, together with any other filter', async () => {
      const source = { kind: 'schedule', id: 'nightly', deliveryId: 'd', dedupKey: 'k', attempt: 1 } as const;
      const runs = [newRunId(START), newRunId(START + 1), newRunId(START + 2), newRunId(START + 3)];
      const [first = '', second = '', other = '', tagged = ''] = runs;
      const create = (runId: string, at: number, record: object) =>
        createUnit(runId, { record: { createdAt: START + at, ...record } });
      await given(
        subject.store,
        create(first, 0, { source, tags: ['a'] }),
        create(second, 1, { source }),
        create(other, 2, { source: { ...source, id: 'nightly2' } }),
        create(tagged, 3, { tags: ['schedule:nightly'] }),
      );
      const listed = async (filter: object) =>
        (await subject.store.listRuns('acme', filter, { limit: 10 })).rows.map(({ record }) => record.runId);

      expect(await listed({ source: 'schedule:nightly' })).toEqual([second, first]);
      expect(await listed({ source: 'schedule:nightly', tag: 'a' })).toEqual([first]);
      expect(await listed({ source: 'schedule:nightly', status: ['completed'] })).toEqual([]);
      expect(await listed({ source: 'trigger:nightly' })).toEqual([]);
      expect((await subject.store.readRun(first, 'acme'))?.record.source).toEqual(source);
    });
  });
}
