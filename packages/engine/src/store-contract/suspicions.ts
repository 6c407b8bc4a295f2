import { describe, expect, it } from 'vitest';
import type { Suspicion } from '../ports/store.ts';
import {
  appendUnit,
  commandUnit,
  commitOne,
  given,
  givenHeldRun,
  newBatchId,
  newRunId,
  START,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

const SUSPICION: Suspicion = { reason: 'it ended a process', since: START, seq: 0, strikes: 1 };
const QUARANTINE: Suspicion = { ...SUSPICION, quarantinedAt: START + 5 };

/** What is held against runs, and what that keeps from happening to them. */
export function suspicionsContract(subject: Subject): void {
  const unit = (runId: string, suspicion?: Suspicion, epoch?: number) =>
    ({
      kind: 'suspicion',
      batchId: newBatchId(),
      runId,
      ...(suspicion !== undefined && { suspicion }),
      ...(epoch !== undefined && { whileHeld: { runId, epoch } }),
    }) as const;

  describe('what is held against a run', () => {
    it('is kept, written over, and taken away', async () => {
      const runId = await givenHeldRun(subject.store);

      await given(subject.store, unit(runId, SUSPICION));
      expect((await subject.store.readRun(runId, undefined))?.suspicion).toEqual(SUSPICION);
      await given(subject.store, unit(runId, { ...SUSPICION, strikes: 2 }, 1));
      expect((await subject.store.readRun(runId, undefined))?.suspicion?.strikes).toBe(2);

      await given(subject.store, unit(runId));
      expect((await subject.store.readRun(runId, undefined))?.suspicion).toBeUndefined();
    });

    it('does not keep its holder from writing', async () => {
      const runId = await givenHeldRun(subject.store);

      await given(subject.store, unit(runId, SUSPICION), appendUnit(runId, 0));

      expect(await subject.store.readRun(runId, undefined)).toMatchObject({
        nextSeq: 1,
        suspicion: SUSPICION,
      });
    });

    it.each([
      ['a run that does not exist', async () => newRunId(), undefined, { reason: 'run_missing' }],
      ['another claim than the present one', () => givenHeldRun(subject.store), 7, { reason: 'stale_epoch' }],
      ['a run that has ended', () => endedRun(subject), undefined, { reason: 'run_terminal' }],
    ])('is refused for %s', async (_what, open, epoch, refusal) => {
      const runId = await open();

      expect(await commitOne(subject.store, unit(runId, SUSPICION, epoch))).toMatchObject(refusal);
    });

    it('is read back right after an unknown outcome', async () => {
      const runId = await givenHeldRun(subject.store);
      const written = unit(runId, SUSPICION);

      expect(await subject.store.committed(written)).toBe(false);
      await given(subject.store, written);
      expect(await subject.store.committed(written)).toBe(true);
    });
  });

  describe('a quarantined run', () => {
    it('is taken from its holder, who can write nothing more', async () => {
      const runId = await givenHeldRun(subject.store);

      await given(subject.store, unit(runId, QUARANTINE));

      expect((await subject.store.readRun(runId, undefined))?.holder).toBeUndefined();
      expect(await commitOne(subject.store, appendUnit(runId, 0))).toMatchObject({ reason: 'stale_epoch' });
    });

    it('is not found by those who look for runs, until a cancel waits for it', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(
        subject.store,
        unit(runId, QUARANTINE),
        commandUnit(runId, 'p', { command: { type: 'resume' } }),
      );
      await subject.store.heartbeat('h2', 10_000);

      expect(await subject.store.claimDue('h2', 10)).toEqual([]);
      expect(await subject.store.nextDueAt()).toBeUndefined();

      await given(subject.store, commandUnit(runId, 'c', { command: { type: 'cancel' } }));
      expect(await subject.store.nextDueAt()).toBe(0);
      expect(await subject.store.claimDue('h2', 10)).toMatchObject([{ runId, epoch: 2 }]);
    });

    it('is not found where tenants take turns either, until a cancel waits for it', async () => {
      const aside = await givenHeldRun(subject.store);
      const others = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, unit(aside, QUARANTINE));
      await subject.store.releaseAll('h1');
      await subject.store.heartbeat('h2', 10_000);

      const first = await subject.store.claimDue('h2', 1);
      expect(others).toContain(first[0]?.runId);
      await given(subject.store, commandUnit(aside, 'c', { command: { type: 'cancel' } }));
      const rest = [...(await subject.store.claimDue('h2', 1)), ...(await subject.store.claimDue('h2', 1))];
      expect([...first, ...rest].map(({ runId }) => runId).sort()).toEqual([aside, ...others].sort());
    });

    it('is found again when nothing is held against it any more', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, unit(runId, QUARANTINE));
      await given(subject.store, unit(runId));
      await subject.store.heartbeat('h2', 10_000);

      expect(await subject.store.claimDue('h2', 10)).toMatchObject([{ runId, epoch: 2 }]);
    });

    it('is counted and listed while it is open', async () => {
      const [bad, good] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, unit(bad, QUARANTINE), unit(good, SUSPICION));

      expect(await subject.store.countQuarantined()).toBe(1);
      const { rows } = await subject.store.listRuns('acme', { quarantined: true }, { limit: 10 });
      expect(rows.map(({ record }) => record.runId)).toEqual([bad]);
    });
  });

  describe('a run that loses its holder', () => {
    async function takeOver(runId: string, holder: string): Promise<void> {
      subject.now += 1_000_000;
      await subject.store.heartbeat(holder, 1_000);
      expect((await subject.store.claim(runId, holder)).state).toBe('claimed');
    }
    const lostHolders = async (runId: string) => (await subject.store.readRun(runId, undefined))?.lostHolders;

    it('is counted as often as that happens in a row, and from the beginning once it got further', async () => {
      const runId = await givenHeldRun(subject.store);
      expect(await lostHolders(runId)).toBeUndefined();

      await takeOver(runId, 'h2');
      expect(await lostHolders(runId)).toBe(1);
      await takeOver(runId, 'h3');
      expect(await lostHolders(runId)).toBe(2);

      await given(subject.store, appendUnit(runId, 0, { epoch: 3 }));
      expect(await lostHolders(runId)).toBeUndefined();
      await takeOver(runId, 'h4');
      expect(await lostHolders(runId)).toBe(1);
    });

    it('is counted the same by those who look for due runs', async () => {
      const runId = await givenHeldRun(subject.store);

      for (const holder of ['h2', 'h3']) {
        subject.now += 1_000_000;
        await subject.store.heartbeat(holder, 1_000);
        expect(await subject.store.claimDue(holder, 10)).toHaveLength(1);
      }

      expect(await lostHolders(runId)).toBe(2);
    });

    it('is counted the same where there are more than can be taken', async () => {
      const runIds = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];

      for (const holder of ['h2', 'h3']) {
        subject.now += 1_000_000;
        await subject.store.heartbeat(holder, 1_000);
        for (const _run of runIds) expect(await subject.store.claimDue(holder, 1)).toHaveLength(1);
      }

      for (const runId of runIds) expect(await lostHolders(runId)).toBe(2);
    });

    it('is not counted when the holder has let go of it', async () => {
      const runId = await givenHeldRun(subject.store);
      await subject.store.releaseAll('h1');

      await takeOver(runId, 'h2');

      expect(await lostHolders(runId)).toBeUndefined();
    });
  });
}

async function endedRun({ store }: Subject): Promise<string> {
  const runId = await givenHeldRun(store);
  await given(store, appendUnit(runId, 0, { head: { status: 'completed', wakeAt: null } }));
  return runId;
}
