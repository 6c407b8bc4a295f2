import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BlobUnit } from '../ports/store.ts';
import { appendUnit, auditEntry, blobUnit, given, givenHeldRun } from './fixtures.ts';
import type { Subject } from './subject.ts';

/** Large values of a run, piece by piece. */
export function blobsContract(subject: Subject): void {
  describe('a large value', () => {
    /** As text, so that a difference between two big pieces is found without comparing byte by byte. */
    async function read(
      runId: string,
      index: number,
      more: Partial<BlobUnit> = {},
    ): Promise<string | undefined> {
      const { tenant = 'acme', blobId = 'report' } = more;
      const bytes = await subject.store.readBlob(tenant, runId, blobId, index);
      return bytes && Buffer.from(bytes).toString('latin1');
    }

    it('is read piece by piece, in the order in which it was written', async () => {
      const runId = await givenHeldRun(subject.store);
      const pieces = ['first', 'second', '', 'fourth'];

      for (const [index, piece] of pieces.entries()) {
        await given(subject.store, blobUnit(runId, index, { bytes: Buffer.from(piece) }));
      }

      for (const [index, piece] of pieces.entries()) expect(await read(runId, index)).toBe(piece);
      expect(await read(runId, 4)).toBeUndefined();
      expect(await read(runId, -1)).toBeUndefined();
    });

    it('keeps every byte, and gives bytes', async () => {
      const runId = await givenHeldRun(subject.store);
      const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

      await given(subject.store, blobUnit(runId, 0, { bytes }));

      const stored = await subject.store.readBlob('acme', runId, 'report', 0);
      expect(stored).toBeInstanceOf(Uint8Array);
      expect(Buffer.compare(stored ?? Buffer.of(), bytes)).toBe(0);
    });

    it('takes pieces of 256 KiB, several in one group with other units', async () => {
      const runId = await givenHeldRun(subject.store);
      const pieces = Array.from({ length: 4 }, () => randomBytes(262_144));

      await given(
        subject.store,
        appendUnit(runId, 0),
        ...pieces.map((bytes, index) => blobUnit(runId, index, { bytes })),
        appendUnit(runId, 1),
      );

      for (const [index, piece] of pieces.entries()) {
        expect((await read(runId, index)) === piece.toString('latin1')).toBe(true);
      }
    });

    it('keeps a piece that is written again, whatever the second one says', async () => {
      const runId = await givenHeldRun(subject.store);
      const first = blobUnit(runId, 0, { bytes: Buffer.from('first') });
      await given(subject.store, first);

      await given(subject.store, first, blobUnit(runId, 0, { bytes: Buffer.from('second') }));

      expect(await read(runId, 0)).toBe('first');
    });

    it('keeps what was written when the writer uses its buffer again, or a reader what it got', async () => {
      const runId = await givenHeldRun(subject.store);
      const buffer = Buffer.from('xxabcxx');
      await given(subject.store, blobUnit(runId, 0, { bytes: buffer.subarray(2, 5) }));

      buffer.fill('z');
      (await subject.store.readBlob('acme', runId, 'report', 0))?.fill(0);

      expect(await read(runId, 0)).toBe('abc');
    });

    it('belongs to its tenant, its run and its name', async () => {
      const [one, two] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(
        subject.store,
        blobUnit(one, 0, { bytes: Buffer.from('one') }),
        blobUnit(two, 0, { bytes: Buffer.from('two') }),
        blobUnit(one, 0, { bytes: Buffer.from('named'), blobId: `it's 📎` }),
        blobUnit(one, 0, { bytes: Buffer.from('theirs'), tenant: 'other' }),
      );

      expect(await read(one, 0)).toBe('one');
      expect(await read(two, 0)).toBe('two');
      expect(await read(one, 0, { blobId: `it's 📎` })).toBe('named');
      expect(await read(one, 0, { tenant: 'other' })).toBe('theirs');
      expect(await read(two, 0, { tenant: 'other' })).toBeUndefined();
      expect(await read(one, 0, { tenant: 'stranger' })).toBeUndefined();
      expect(await read(one, 0, { blobId: 'unknown' })).toBeUndefined();
      expect(await read('no such run', 0)).toBeUndefined();
    });

    it('brings its audit records', async () => {
      const runId = await givenHeldRun(subject.store);

      await given(subject.store, blobUnit(runId, 0, { audit: [auditEntry('stored')] }));

      expect((await subject.store.readAudit(0, 10)).map(({ action }) => action)).toEqual(['stored']);
    });
  });
}
