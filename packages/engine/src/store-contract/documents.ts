import { describe, expect, it } from 'vitest';
import type { DocumentPlace, StoredDocument } from '../ports/store.ts';
import {
  auditEntry,
  commitOne,
  documentUnit,
  given,
  idempotencyRecord,
  newBatchId,
  removalUnit,
  START,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

const PLACE = { tenant: 'acme', collection: 'notes', scope: '' };

function unversioned({ version: _version, ...document }: StoredDocument): Omit<StoredDocument, 'version'> {
  return document;
}

/** Small records of a tenant: written over, removed, expired, listed. */
export function documentsContract(subject: Subject): void {
  /** Versions are looked at by the tests that are about them. */
  const read = async (id: string, place: Partial<DocumentPlace> = {}) => {
    const stored = await subject.store.readDocument({ ...PLACE, id, ...place });
    return stored && unversioned(stored);
  };

  /** The ids of all pages; the clock and the documents may change between two of them. */
  async function listedIds(limit: number, betweenPages?: () => Promise<void>): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = { limit, ...(cursor === undefined ? {} : { cursor }) };
      const listed = await subject.store.listDocuments('acme', 'notes', '', page);
      pages.push(listed.rows.map(({ id }) => id));
      cursor = listed.nextCursor;
      await betweenPages?.();
    } while (cursor !== undefined);
    return pages;
  }

  describe('a document', () => {
    it('is read as it was written', async () => {
      const body = '{ "kept" : "as is, with its blanks and 🧵" }';
      await given(subject.store, documentUnit('a', { body, at: START + 3, expiresAt: START + 9 }));
      await given(subject.store, documentUnit('b', { body: '' }));

      expect(await read('a')).toEqual({ id: 'a', body, at: START + 3, expiresAt: START + 9 });
      expect(await read('b')).toEqual({ id: 'b', body: '', at: START });
      expect(await read('c')).toBeUndefined();
    });

    it('is written over, down to the expiry that is gone', async () => {
      await given(subject.store, documentUnit('a', { expiresAt: START + 9 }));

      await given(subject.store, documentUnit('a', { body: '"new"', at: START - 5 }));

      expect(await read('a')).toEqual({ id: 'a', body: '"new"', at: START - 5 });
      expect(await listedIds(10)).toEqual([['a']]);
    });

    it('is removed, and removing what is not there is no error', async () => {
      await given(subject.store, documentUnit('a'), documentUnit('b'));

      await given(subject.store, removalUnit('a'), removalUnit('a'), removalUnit('never there'));

      expect(await read('a')).toBeUndefined();
      expect(await listedIds(10)).toEqual([['b']]);
      await given(subject.store, documentUnit('a', { onlyNew: true }));
      expect(await read('a')).toBeDefined();
    });

    it('of two that must be new is the first, also within one group', async () => {
      const results = await subject.store.commit([
        documentUnit('a', { onlyNew: true, body: '1' }),
        documentUnit('a', { onlyNew: true, body: '2' }),
        documentUnit('b', { onlyNew: true }),
      ]);

      expect(results).toEqual([
        { state: 'committed' },
        { state: 'refused', reason: 'document_exists' },
        { state: 'committed' },
      ]);
      expect(await read('a')).toMatchObject({ body: '1' });
    });

    it('is one only when ten that must be new race for its place', async () => {
      const units = Array.from({ length: 10 }, (_, index) =>
        documentUnit('a', { onlyNew: true, body: `${index}` }),
      );

      const results = await Promise.all(units.map((unit) => commitOne(subject.store, unit)));

      const winner = results.findIndex(({ state }) => state === 'committed');
      expect(results.filter(({ state }) => state === 'refused')).toHaveLength(9);
      expect(await read('a')).toMatchObject({ body: `${winner}` });
    });

    it('that must be new may take the place of one that has expired, pruned or not', async () => {
      await given(subject.store, documentUnit('a', { expiresAt: START + 10 }));
      const renewed = documentUnit('a', { onlyNew: true, body: '"renewed"' });

      subject.now = START + 9;
      expect(await commitOne(subject.store, renewed)).toEqual({
        state: 'refused',
        reason: 'document_exists',
      });
      subject.now = START + 10;
      expect(await commitOne(subject.store, renewed)).toEqual({ state: 'committed' });

      expect(await read('a')).toEqual({ id: 'a', body: '"renewed"', at: START });
    });

    it('is gone once it has expired by the store’s clock, whether read or listed', async () => {
      await given(
        subject.store,
        documentUnit('short', { expiresAt: START + 10 }),
        documentUnit('long', { expiresAt: START + 20 }),
        documentUnit('endless'),
        documentUnit('late', { expiresAt: START - 1 }),
      );

      expect(await read('late')).toBeUndefined();
      subject.now = START + 9;
      expect(await read('short')).toBeDefined();
      expect(await listedIds(10)).toEqual([['endless', 'long', 'short']]);
      subject.now = START + 10;
      expect(await read('short')).toBeUndefined();
      expect(await listedIds(10)).toEqual([['endless', 'long']]);
      subject.now = START + 1e12;
      expect(await listedIds(10)).toEqual([['endless']]);
    });

    it('is removed by pruning once expired, and counted', async () => {
      await given(
        subject.store,
        documentUnit('a', { expiresAt: START + 10 }),
        documentUnit('b', { expiresAt: START + 10, tenant: 'other' }),
        documentUnit('c', { expiresAt: START + 11, idempotency: idempotencyRecord() }),
        documentUnit('d'),
      );

      expect(await subject.store.prune()).toBe(0);
      subject.now = START + 10;
      expect(await subject.store.prune()).toBe(2);
      subject.now = START + 1_000_000;
      expect(await subject.store.prune()).toBe(2);
      expect(await listedIds(10)).toEqual([['d']]);
    });

    it('is kept apart by tenant, collection and scope', async () => {
      const places = [
        { tenant: 'acme', collection: 'notes', scope: '' },
        { tenant: 'other', collection: 'notes', scope: '' },
        { tenant: 'acme', collection: 'memory', scope: '' },
        { tenant: 'acme', collection: 'notes', scope: 'x' },
        { tenant: 'acme', collection: 'notesx', scope: '' },
        { tenant: 'acmenotes', collection: '', scope: 'x' },
      ];
      const units = places.map((place, index) => documentUnit('a', { ...place, body: `${index}` }));
      await given(subject.store, ...units);

      await given(subject.store, removalUnit('a', places[0]));

      for (const [index, { tenant, collection, scope }] of places.entries()) {
        const expected = index === 0 ? [] : [{ id: 'a', body: `${index}`, at: START }];
        expect(await read('a', { tenant, collection, scope })).toEqual(expected[0]);
        const listed = await subject.store.listDocuments(tenant, collection, scope, { limit: 10 });
        expect(listed.nextCursor).toBeUndefined();
        expect(listed.rows.map(unversioned)).toEqual(expected);
      }
      expect(await read('a', { tenant: 'stranger' })).toBeUndefined();
      expect((await subject.store.listDocuments('stranger', 'notes', '', { limit: 10 })).rows).toEqual([]);
    });

    it.each([
      '',
      "it's",
      '"',
      '%',
      '_',
      '\\',
      "'; DROP TABLE runs; --",
      '📎 Zoë\u0301\n\t',
      'a/b',
      '__proto__',
    ])('may be named %j, in all its parts', async (name) => {
      const place = { tenant: `t${name}`, collection: `c${name}`, scope: name };
      const body = JSON.stringify({ [name]: name });
      await given(subject.store, documentUnit(name, { ...place, body }), documentUnit(`${name}x`, place));

      expect(await read(name, place)).toEqual({ id: name, body, at: START });
      const { rows } = await subject.store.listDocuments(place.tenant, place.collection, name, { limit: 5 });
      expect(rows.map(({ id }) => id)).toEqual([`${name}x`, name]);
      await given(subject.store, removalUnit(name, place));
      expect(await read(name, place)).toBeUndefined();
      expect(await read(`${name}x`, place)).toBeDefined();
    });

    it('brings its idempotency and audit records, and none of them when it is refused', async () => {
      const record = idempotencyRecord();
      await given(subject.store, documentUnit('a', { idempotency: record, audit: [auditEntry('kept')] }));

      const refused = await subject.store.commit([
        documentUnit('a', {
          onlyNew: true,
          idempotency: idempotencyRecord({ keyHash: 'c'.repeat(64) }),
          audit: [auditEntry('refused')],
        }),
        documentUnit('b', { idempotency: record, batchId: newBatchId() }),
      ]);

      expect(refused).toMatchObject([{ reason: 'document_exists' }, { reason: 'idempotency_exists' }]);
      expect((await subject.store.readAudit(0, 10)).map(({ action }) => action)).toEqual(['kept']);
      expect(await subject.store.readIdempotency('acme', record.operation, 'c'.repeat(64))).toBeUndefined();
      expect(await read('b')).toBeUndefined();
    });
  });

  describe('a list of documents', () => {
    it('has the newest first, and of the same time what was written last', async () => {
      const written: [string, number][] = [
        ['a', 5],
        ['b', 7],
        ['c', 5],
        ['d', 6],
        ['e', 5],
      ];
      for (const [id, at] of written) await given(subject.store, documentUnit(id, { at }));

      const { rows } = await subject.store.listDocuments('acme', 'notes', '', { limit: 10 });

      expect(rows.map(unversioned)).toEqual(
        ['b', 'd', 'e', 'c', 'a'].map((id) => ({
          id,
          body: `{"id":"${id}"}`,
          at: new Map(written).get(id) ?? 0,
        })),
      );
    });

    it('takes a document that was written over as written then', async () => {
      await given(subject.store, documentUnit('a'), documentUnit('b'), documentUnit('c'));

      await given(subject.store, documentUnit('a'));
      expect(await listedIds(10)).toEqual([['a', 'c', 'b']]);

      await given(subject.store, documentUnit('a', { at: START - 1 }));
      expect(await listedIds(10)).toEqual([['c', 'b', 'a']]);
    });

    it.each([1, 2, 3, 7, 8])(
      'is given in pages of %i, every document once, also those of one time',
      async (limit) => {
        const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
        await given(
          subject.store,
          ...ids.map((id, index) => documentUnit(id, { at: START + Math.floor(index / 4) })),
        );

        const pages = await listedIds(limit);

        expect(pages.flat()).toEqual([...ids].reverse());
        expect(pages.map((page) => page.length <= limit && page.length > 0)).not.toContain(false);
        expect(pages).toHaveLength(Math.ceil(ids.length / limit));
      },
    );

    it('moves nothing between its pages when others write, remove and expire', async () => {
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      await given(
        subject.store,
        ...ids.map((id) => documentUnit(id, id === 'c' ? { expiresAt: START + 1 } : {})),
      );

      const pages = await listedIds(2, async () => {
        subject.now = START + 1;
        await given(subject.store, removalUnit('e'), documentUnit('later', { at: START + 50 }));
      });

      expect(pages).toEqual([['f', 'e'], ['d', 'b'], ['a']]);
    });

    it('refuses a cursor that it did not give', async () => {
      await expect(
        subject.store.listDocuments('acme', 'notes', '', { limit: 2, cursor: 'bogus' }),
      ).rejects.toMatchObject({ code: 'validation_error', details: { field: 'cursor' } });
    });
  });
}
