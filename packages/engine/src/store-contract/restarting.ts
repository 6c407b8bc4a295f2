import { describe, expect, it } from 'vitest';
import {
  appendUnit,
  auditEntry,
  blobUnit,
  commandUnit,
  completed,
  createUnit,
  documentUnit,
  events,
  forkOptions,
  given,
  givenHeldRun,
  idempotencyRecord,
  keyRow,
  newBatchId,
  newRunId,
  readAll,
  START,
  waiting,
  workflowUnit,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** What must be there after a restart: all of it. */
export function restartingContract(subject: Subject, restart: () => Promise<void>): void {
  describe('after a restart', () => {
    it('a run that was left with its tasks still is, and none is leased twice while its lease may hold (S-18, S-21)', async () => {
      const type = { typeId: 'acme.work', version: '1.0.0' };
      const [leased, left] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      for (const runId of [leased, left]) {
        const task = { ...type, taskId: runId, tenant: 'acme', runId, epoch: 1, isOnce: false, body: '{}' };
        await subject.store.parkRun({ runId, epoch: 1, wakeAt: null }, [task]);
      }
      await subject.store.heartbeat('h2', 10_000);
      await subject.store.claimTasks('h2', 'acme', [type], 1);

      await restart();

      await subject.store.heartbeat('h3', 10_000);
      const claimed = await subject.store.claimTasks('h3', 'acme', [type], 10);
      expect(claimed).toMatchObject([{ taskId: left, lease: 1 }]);
      const due = await subject.store.claimDue('h3', 10);
      expect(due.map(({ runId }) => runId).sort()).toEqual([leased, left].sort());
    });

    it('everything acknowledged is as it was', async () => {
      const runId = await givenHeldRun(subject.store, { count: 3 });
      const record = idempotencyRecord();
      const workflow = workflowUnit('1.0.0');
      await given(
        subject.store,
        appendUnit(runId, 3, {
          head: { ...waiting, wakeAt: 77, currentNodeId: 'a' },
          release: true,
          checkpoint: { seq: 4, foldVersion: 1, state: '{"x":1}' },
          outbox: [{ id: 'o1', topic: 't', dueAt: 0, body: [1] }],
          idempotency: record,
          audit: [auditEntry('noted')],
        }),
        commandUnit(runId, 'c1'),
        workflow,
        { kind: 'key', batchId: newBatchId(), key: keyRow('k1') },
        { kind: 'setting', batchId: newBatchId(), name: 'mode', value: 'live' },
        documentUnit('b', { expiresAt: START + 5 }),
        documentUnit('a'),
        blobUnit(runId, 0),
      );
      const look = async () => ({
        run: await subject.store.readRun(runId, 'acme'),
        log: await readAll(subject.store, runId),
        inbox: await subject.store.readInbox(runId),
        checkpoint: await subject.store.readCheckpoint(runId),
        record: await subject.store.readIdempotency(record.tenant, record.operation, record.keyHash),
        workflow: await subject.store.readWorkflow('acme', 'greet', undefined),
        definition: await subject.store.readDefinition(workflow.digest),
        keys: await subject.store.listKeys('acme'),
        setting: await subject.store.readSetting('mode'),
        audit: await subject.store.readAudit(0, 10),
        due: await subject.store.nextDueAt(),
        document: await subject.store.readDocument({
          tenant: 'acme',
          collection: 'notes',
          scope: '',
          id: 'a',
        }),
        documents: await subject.store.listDocuments('acme', 'notes', '', { limit: 10 }),
        blob: Buffer.from((await subject.store.readBlob('acme', runId, 'report', 0)) ?? []).toString('hex'),
      });
      const before = await look();
      expect(before.documents.rows).toHaveLength(2);
      expect(before.blob).not.toBe('');

      await restart();

      expect(await look()).toEqual(before);
      expect(await subject.store.claimOutbox(10, 1_000)).toMatchObject([{ id: 'o1', runId, body: [1] }]);
    });

    it('epochs keep growing', async () => {
      const runId = newRunId();
      await given(subject.store, createUnit(runId, { events: events(0, 1) }));
      await subject.store.heartbeat('h1', 10_000);
      expect(await subject.store.claim(runId, 'h1')).toEqual({ state: 'claimed', epoch: 1 });
      await given(subject.store, appendUnit(runId, 1, { release: true }));

      await restart();

      await subject.store.heartbeat('h2', 10_000);
      expect(await subject.store.claim(runId, 'h2')).toEqual({ state: 'claimed', epoch: 2 });
      await given(subject.store, appendUnit(runId, 2, { epoch: 2 }));
      expect(await readAll(subject.store, runId)).toHaveLength(3);
    });

    it('a lost and a kept write are still distinguished', async () => {
      const runId = await givenHeldRun(subject.store);
      const [kept, lost] = [appendUnit(runId, 0), appendUnit(runId, 1)];
      const [keptDocument, lostDocument] = [documentUnit('a'), documentUnit('a')];
      await given(subject.store, kept, keptDocument, blobUnit(runId, 0));

      await restart();

      expect(await subject.store.committed(kept)).toBe(true);
      expect(await subject.store.committed(lost)).toBe(false);
      expect(await subject.store.committed(keptDocument)).toBe(true);
      expect(await subject.store.committed(lostDocument)).toBe(false);
      expect(await subject.store.committed(blobUnit(runId, 0))).toBe(true);
      expect(await subject.store.committed(blobUnit(runId, 1))).toBe(false);
    });

    it('a fork’s log continues where it was', async () => {
      const runId = newRunId();
      await subject.store.heartbeat('h1', 10_000);
      await given(subject.store, createUnit(runId, { holder: 'h1', release: true, ...forkOptions(100, 2) }));
      const before = await subject.store.readRun(runId, 'acme');

      await restart();

      expect(await subject.store.readRun(runId, 'acme')).toEqual(before);
      await subject.store.heartbeat('h2', 10_000);
      expect(await subject.store.claim(runId, 'h2')).toEqual({ state: 'claimed', epoch: 2 });
      await given(subject.store, appendUnit(runId, 102, { epoch: 2 }));
      expect(await readAll(subject.store, runId)).toEqual(events(100, 3));
    });

    it('a signal still waits for the next holder of the run it was sent to', async () => {
      const runId = newRunId();
      await given(subject.store, createUnit(runId, { head: waiting }));
      const other = await givenHeldRun(subject.store);
      const command = { type: 'cancel', parentRunId: other } as const;
      await given(
        subject.store,
        appendUnit(other, 0, { head: completed, notify: [{ runId, commandId: 'n1', command }] }),
      );

      await restart();

      await subject.store.heartbeat('h2', 10_000);
      expect(await subject.store.claimDue('h2', 5)).toMatchObject([{ runId, epoch: 1 }]);
      expect(await subject.store.readInbox(runId)).toMatchObject([{ commandId: 'n1', command }]);
    });
  });
}
