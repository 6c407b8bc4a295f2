import { describe, expect, it } from 'vitest';
import type { WriteUnit } from '../ports/store.ts';
import {
  appendUnit,
  auditEntry,
  blobUnit,
  commandUnit,
  commitOne,
  createUnit,
  documentUnit,
  event,
  given,
  givenHeldRun,
  keyRow,
  newBatchId,
  newRunId,
  readAll,
  running,
  workflowUnit,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** The part of the contract about texts that a database cannot keep as they are (S-11). */

/** Two texts each, that differ only in what is lost. */
const UNSTORABLE = ['d\0x', 'd\0', 'd\ud800', 'd\udc00', '\udc00\ud800'];

/** Where a text stands as it is, and a unit with this text there. `runId` is that of a held run without events. */
const PLACES: Readonly<Record<string, (text: string, runId: string) => WriteUnit>> = {
  'the tenant of a run': (tenant) => createUnit(newRunId(), { record: { tenant } }),
  'the workflow of a run': (workflowId) => createUnit(newRunId(), { record: { workflowId } }),
  'the scope of a run': (scopeId) => createUnit(newRunId(), { record: { scopeId } }),
  'a tag': (tag) => createUnit(newRunId(), { record: { tags: ['plain', tag] } }),
  'the type of an event': (type, runId) => appendUnit(runId, 0, { events: [event(0, type)] }),
  'the node of an event': (nodeId, runId) => appendUnit(runId, 0, { events: [event(0, 'a', { nodeId })] }),
  'the node of a head': (currentNodeId, runId) =>
    appendUnit(runId, 0, { head: { ...running, currentNodeId } }),
  'the error of a head': (errorCode, runId) => appendUnit(runId, 0, { head: { ...running, errorCode } }),
  'the id of an outbox row': (id, runId) =>
    appendUnit(runId, 0, { outbox: [{ id, topic: 't', dueAt: 0, body: null }] }),
  'the lane of an outbox row': (lane, runId) =>
    appendUnit(runId, 0, { outbox: [{ id: newBatchId(), topic: 't', lane, dueAt: 0, body: null }] }),
  'the id of a command': (commandId, runId) => commandUnit(runId, commandId),
  'the version of a workflow': (version) => workflowUnit(version),
  'the id of a workflow': (id) => workflowUnit('1', { id }),
  'the tenant of a key': (tenant) => ({
    kind: 'key',
    batchId: newBatchId(),
    key: keyRow(newBatchId(), { tenant }),
  }),
  'a setting': (name) => ({ kind: 'setting', batchId: newBatchId(), name, value: 'v' }),
  'the id of a document': (id) => documentUnit(id),
  'the scope of a document': (scope) => documentUnit('a', { scope }),
  'the id of a blob': (blobId, runId) => blobUnit(runId, 0, { blobId }),
  'an audited actor': (actor) => ({
    kind: 'audit',
    batchId: newBatchId(),
    audit: [auditEntry('act', { actor })],
  }),
};

export function textsContract(subject: Subject): void {
  describe('a text that cannot be kept as it is', () => {
    it.each(Object.entries(PLACES))('fails its unit, alone, as %s', async (_, unitWith) => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, unitWith('d', await givenHeldRun(subject.store)));

      for (const text of UNSTORABLE) {
        const [first, last] = [createUnit(newRunId()), documentUnit('last')];
        const results = await subject.store.commit([first, unitWith(text, runId), last]);

        expect(
          results.map(({ state }) => state),
          JSON.stringify(text),
        ).toEqual(['committed', 'failed', 'committed']);
        expect(await subject.store.readRun(first.runId, 'acme')).toBeDefined();
      }
      expect(await readAll(subject.store, runId)).toEqual([]);
    });

    it('is kept as it is, or fails its unit, where a store may choose', async () => {
      for (const principal of UNSTORABLE) {
        const unit = createUnit(newRunId(), { record: { principal } });
        const { state } = await commitOne(subject.store, unit);

        const kept = (await subject.store.readRun(unit.runId, 'acme'))?.record.principal;
        expect(kept).toBe(state === 'committed' ? principal : undefined);
      }
    });

    it('does not stand in the way of the texts it resembles', async () => {
      const register = (version: string, name: string) =>
        commitOne(subject.store, workflowUnit(version, { definition: name, digest: name }));

      const results = [
        await register('1\0x', 'a'),
        await register('1', 'b'),
        await register('1\0y', 'c'),
        await register('1\ud800', 'd'),
        await register('1\ufffd', 'e'),
      ];

      expect(results.map(({ state }) => state)).toEqual([
        'failed',
        'committed',
        'failed',
        'failed',
        'committed',
      ]);
      expect(await subject.store.readWorkflow('acme', 'greet', '1')).toMatchObject({ digest: 'b' });
      expect(await subject.store.readWorkflow('acme', 'greet', '1\ufffd')).toMatchObject({ digest: 'e' });
    });

    it('finds nothing of others', async () => {
      await given(subject.store, workflowUnit('1'), documentUnit('d'));
      const { store } = subject;
      const asked = [
        store.readWorkflow('acme', 'greet', '1\0x'),
        store.readWorkflow('acme', 'greet\0', undefined),
        store.readDocument({ tenant: 'acme', collection: 'notes', scope: '', id: 'd\0x' }),
      ];

      for (const answer of await Promise.allSettled(asked))
        expect(answer.status === 'fulfilled' ? answer.value : undefined).toBeUndefined();
    });

    it('is kept inside JSON, where it is escaped', async () => {
      const runId = newRunId();
      const value = { 'a\0b': 'c\0\ud800d' };
      const payload = JSON.stringify(value);

      await given(
        subject.store,
        createUnit(runId, {
          record: { inputs: value, metadata: value },
          events: [event(0, 'a', { payload })],
        }),
        documentUnit('d', { body: payload }),
      );

      const run = await subject.store.readRun(runId, 'acme');
      expect([run?.record.inputs, run?.record.metadata]).toEqual([value, value]);
      expect((await readAll(subject.store, runId))[0]?.payload).toBe(payload);
    });
  });
}
