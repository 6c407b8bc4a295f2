import { describe, expect, it } from 'vitest';
import type { Command, EraseUnit, PurgeUnit, RunHead } from '../store.ts';
import {
  appendUnit,
  auditEntry,
  blobUnit,
  commandUnit,
  commitOne,
  completed,
  createUnit,
  documentUnit,
  event,
  events,
  given,
  newBatchId,
  newRunId,
  readAll,
  recordOf,
  START,
  type CreateOptions,
  waiting,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

const DAY = 86_400_000;

export function purgeUnit(runId: string, more: Partial<PurgeUnit> = {}): PurgeUnit {
  const unit = { kind: 'purge', batchId: newBatchId(), tenant: 'acme', runId } as const;
  return { ...unit, at: START + 50, tombstoneUntil: START + DAY, ...more };
}

function eraseUnit(runId: string, more: Partial<EraseUnit> = {}): EraseUnit {
  return { kind: 'erase', batchId: newBatchId(), tenant: 'acme', runId, at: START + 60, ...more };
}

/** S9 and S10: runs that go, and what of them goes earlier. */
export function keepingContract(subject: Subject): void {
  /** A run that has ended, with something of everything a run can have. */
  async function givenEndedRun(more: CreateOptions = {}): Promise<string> {
    const { store } = subject;
    const runId = newRunId();
    await store.heartbeat('h1', 10_000);
    const record = { tags: ['nightly', 'it’s'], inputs: { name: 'canary' }, ...more.record };
    const tenant = record.tenant ?? 'acme';
    const outbox = [{ id: `o-${runId}`, topic: 't', lane: `l-${runId}`, dueAt: START, body: {} }];
    const open = [event(0, 'run.started', { overlay: '{"inputs":{"name":"canary"}}' }), event(1)];
    await given(
      store,
      createUnit(runId, { holder: 'h1', outbox, ...more, record, events: more.events ?? open }),
      commandUnit(runId, 'answer', { tenant, command: ANSWER }),
      commandUnit(runId, 'child', { tenant, command: CHILD }),
      commandUnit(runId, 'channel', { tenant, command: CHANNEL, inboxLimit: 9 }),
      commandUnit(runId, 'pause', { tenant, command: { type: 'pause', policy: 'immediate' }, inboxLimit: 9 }),
      blobUnit(runId, 0, { tenant }),
      documentUnit('note', { tenant, collection: 'annotation', scope: runId }),
      documentUnit('report', { tenant, collection: 'artifact', scope: runId }),
    );
    const from = (more.expectedSeq ?? 0) + (more.events ?? open).length;
    await given(
      store,
      appendUnit(runId, from, {
        events: [event(from, 'run.completed')],
        head: completed,
        checkpoint: { seq: from + 1, foldVersion: 1, state: '{"secret":"canary"}' },
        consume: [{ commandId: 'answer', verdict: { applied: true, status: 'completed', at: START } }],
      }),
    );
    return runId;
  }

  async function end(runId: string, from: number): Promise<void> {
    await given(
      subject.store,
      appendUnit(runId, from, { events: [event(from, 'run.completed')], head: completed }),
    );
  }

  async function givenOpenRun(more: CreateOptions = {}): Promise<string> {
    const runId = newRunId();
    await subject.store.heartbeat('h1', 10_000);
    await given(subject.store, createUnit(runId, { holder: 'h1', events: [event(0)], ...more }));
    return runId;
  }

  async function givenImportedRun(): Promise<string> {
    const runId = newRunId();
    const record = { ...IMPORTED, inputs: { name: 'canary' } };
    await given(subject.store, createUnit(runId, { record, events: [event(0)], head: waiting }));
    return runId;
  }

  const forkOf = (sourceRunId: string, fromSeq = 1): CreateOptions => ({
    record: { fork: { sourceRunId, fromSeq, mode: 'branch' } },
    expectedSeq: fromSeq,
    events: events(fromSeq, 1),
  });

  describe('a purge', () => {
    it('takes away everything of a run that has ended', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();

      await given(store, purgeUnit(runId));

      expect(await store.readRun(runId, 'acme')).toBeUndefined();
      expect(await store.readRun(runId, undefined)).toBeUndefined();
      expect(await readAll(store, runId)).toEqual([]);
      expect(await store.readCheckpoint(runId)).toBeUndefined();
      expect(await store.readCommand(runId, 'answer')).toBeUndefined();
      expect(await store.readInbox(runId)).toEqual([]);
      expect(await store.readBlob('acme', runId, 'report', 0)).toBeUndefined();
      for (const collection of ['annotation', 'artifact'])
        expect((await store.listDocuments('acme', collection, runId, { limit: 9 })).rows).toEqual([]);
      expect((await store.listRuns('acme', {}, { limit: 9 })).rows).toEqual([]);
      expect((await store.listRuns('acme', { tag: 'nightly' }, { limit: 9 })).rows).toEqual([]);
      expect(await store.claimOutbox(9, 1_000)).toEqual([]);
      expect(await store.claim(runId, 'h1')).toEqual({ state: 'missing' });
    });

    it('leaves other runs and their things alone', async () => {
      const { store } = subject;
      const [gone, kept] = [await givenEndedRun(), await givenEndedRun()];
      const theirs = await givenEndedRun({ record: { tenant: 'other' } });
      await given(store, documentUnit('other', { collection: 'annotation', scope: 'elsewhere' }));
      const [log, row] = [await readAll(store, kept), await store.readRun(kept, 'acme')];

      await given(store, purgeUnit(gone));
      await givenEndedRun();

      expect(await readAll(store, kept)).toEqual(log);
      expect(await store.readRun(kept, 'acme')).toEqual(row);
      expect(await store.readRun(theirs, 'other')).toBeDefined();
      expect(await store.readBlob('acme', kept, 'report', 0)).toBeDefined();
      expect((await store.listDocuments('acme', 'artifact', kept, { limit: 9 })).rows).toHaveLength(1);
      expect((await store.listDocuments('acme', 'annotation', 'elsewhere', { limit: 9 })).rows).toHaveLength(
        1,
      );
      const tagged = await store.listRuns('acme', { tag: 'it’s' }, { limit: 9 });
      expect(tagged.rows.map(({ record }) => record.runId)).toContain(kept);
      expect(tagged.rows).toHaveLength(2);
      expect((await store.claimOutbox(9, 1_000)).map(({ runId }) => runId)).not.toContain(gone);
    });

    it('leaves a tombstone that only its tenant sees, until its time has come', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();
      expect(await store.readTombstone(runId, 'acme')).toBeUndefined();

      await given(store, purgeUnit(runId));

      const stone = { purgedAt: START + 50, until: START + DAY };
      expect(await store.readTombstone(runId, 'acme')).toEqual(stone);
      expect(await store.readTombstone(runId, 'other')).toBeUndefined();
      expect(await store.readTombstone(runId, 'nobody ever')).toBeUndefined();
      expect(await store.readTombstone('no run id', 'acme')).toBeUndefined();
      subject.now = START + DAY - 1;
      expect(await store.readTombstone(runId, 'acme')).toEqual(stone);
      subject.now = START + DAY;
      expect(await store.readTombstone(runId, 'acme')).toBeUndefined();
      expect(await store.prune()).toBe(1);
      expect(await store.prune()).toBe(0);
      expect(await store.readTombstone(runId, 'acme')).toBeUndefined();
    });

    it('is refused for a run that is missing, or another tenant’s', async () => {
      const runId = await givenEndedRun();

      for (const unit of [purgeUnit(newRunId()), purgeUnit(runId, { tenant: 'other' }), purgeUnit('x')])
        expect(await commitOne(subject.store, unit)).toEqual({ state: 'refused', reason: 'run_missing' });

      expect(await subject.store.readRun(runId, 'acme')).toBeDefined();
      expect(await subject.store.readTombstone(runId, 'other')).toBeUndefined();
    });

    it('is refused twice for the same run', async () => {
      const runId = await givenEndedRun();

      const results = await subject.store.commit([purgeUnit(runId), purgeUnit(runId)]);

      expect(results).toEqual([{ state: 'committed' }, { state: 'refused', reason: 'run_missing' }]);
    });

    it.each([
      { status: 'running', wakeAt: 0 },
      { status: 'paused', wakeAt: null },
      { status: 'waiting-approval', wakeAt: null },
    ] satisfies RunHead[])('is refused while the run is $status', async (head) => {
      const runId = await givenOpenRun({ head });

      expect(await commitOne(subject.store, purgeUnit(runId))).toEqual({
        state: 'refused',
        reason: 'run_open',
        status: head.status,
      });
      expect(await readAll(subject.store, runId)).toHaveLength(1);
    });

    it('takes away an imported run whose log has no end: it never goes on', async () => {
      const runId = await givenImportedRun();

      await given(subject.store, purgeUnit(runId));

      expect(await subject.store.readRun(runId, 'acme')).toBeUndefined();
      expect(await readAll(subject.store, runId)).toEqual([]);
      expect(await subject.store.readTombstone(runId, 'acme')).toBeDefined();
    });

    it('is refused for an imported run while a fork of it is under way', async () => {
      const source = await givenImportedRun();
      const fork = await givenOpenRun(forkOf(source));

      for (const unit of [purgeUnit(source), eraseUnit(source)])
        expect(await commitOne(subject.store, unit)).toEqual({
          state: 'refused',
          reason: 'run_pinned',
          byRunId: fork,
        });
    });

    it('may follow the import of the run in the same group', async () => {
      const runId = newRunId();

      const results = await subject.store.commit([
        createUnit(runId, { record: IMPORTED, events: [event(0)] }),
        purgeUnit(runId),
      ]);

      expect(results).toEqual([{ state: 'committed' }, { state: 'committed' }]);
      expect(await subject.store.readRun(runId, 'acme')).toBeUndefined();
    });

    it('is refused while a fork of the run is under way, and not afterwards', async () => {
      const source = await givenEndedRun();
      const fork = await givenOpenRun(forkOf(source));

      expect(await commitOne(subject.store, purgeUnit(source))).toEqual({
        state: 'refused',
        reason: 'run_pinned',
        byRunId: fork,
      });
      await end(fork, 2);
      await given(subject.store, purgeUnit(source));

      expect(await readAll(subject.store, fork)).toHaveLength(2);
      await given(subject.store, purgeUnit(fork));
    });

    it('is refused while a fork of a fork is under way, however long the chain', async () => {
      const source = await givenEndedRun();
      const first = await givenEndedRun(forkOf(source));
      const second = await givenEndedRun(forkOf(first, 2));
      const last = await givenOpenRun(forkOf(second, 3));

      for (const runId of [source, first, second])
        expect(await commitOne(subject.store, purgeUnit(runId))).toMatchObject({ byRunId: last });

      await end(last, 4);
      await given(subject.store, purgeUnit(source), purgeUnit(first), purgeUnit(second), purgeUnit(last));
    });

    it('is refused for a child while its parent is under way', async () => {
      const parent = await givenOpenRun();
      const link = { runId: parent, nodeId: 'n', nodeKey: 'n', ancestors: ['root'], collect: [] };
      const child = await givenEndedRun({ record: { parent: link } });

      expect(await commitOne(subject.store, purgeUnit(child))).toEqual({
        state: 'refused',
        reason: 'run_pinned',
        byRunId: parent,
      });
      await end(parent, 1);
      await given(subject.store, purgeUnit(parent), purgeUnit(child));
    });

    it('brings its audit records, and none when it is refused', async () => {
      const [ended, open] = [await givenEndedRun(), await givenOpenRun()];
      const audit = (target: string) => ({ audit: [auditEntry('run.remove', { target })] });

      await subject.store.commit([purgeUnit(ended, audit(ended)), purgeUnit(open, audit(open))]);

      expect((await subject.store.readAudit(0, 10)).map(({ target }) => target)).toEqual([ended]);
    });

    it('leaves the id free: a run that comes again under it is there, and can go again', async () => {
      const runId = await givenEndedRun();
      await given(subject.store, purgeUnit(runId));

      await given(subject.store, createUnit(runId, { events: [event(0, 'run.completed')], head: completed }));

      expect((await subject.store.readRun(runId, 'acme'))?.nextSeq).toBe(1);
      await given(subject.store, purgeUnit(runId, { at: START + 70 }));
      expect((await subject.store.readTombstone(runId, 'acme'))?.purgedAt).toBe(START + 70);
    });
  });

  describe('an erasure', () => {
    it('takes away what only the fold may see, and leaves the public log as it is', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();
      const before = await readAll(store, runId);
      expect(before[0]?.overlay).toBeDefined();

      await given(store, eraseUnit(runId));

      expect(await readAll(store, runId)).toEqual(before.map(({ overlay: _overlay, ...rest }) => rest));
      expect(await store.readCheckpoint(runId)).toBeUndefined();
      const row = await store.readRun(runId, 'acme');
      expect(row?.record).toEqual(
        recordOf(runId, { tags: ['nightly', 'it’s'], inputs: { name: '[REDACTED]' } }),
      );
      expect(row).toMatchObject({ erasedAt: START + 60, head: completed, nextSeq: 3 });
      expect(await store.readBlob('acme', runId, 'report', 0)).toBeDefined();
      expect((await store.listRuns('acme', { tag: 'nightly' }, { limit: 9 })).rows).toEqual([row]);
    });

    it('takes the values out of commands and keeps their verdicts', async () => {
      const { store } = subject;
      const runId = await givenEndedRun();

      await given(store, eraseUnit(runId));

      expect(await store.readCommand(runId, 'answer')).toMatchObject({
        command: { ...ANSWER, value: null },
        verdict: { applied: true },
      });
      expect((await store.readCommand(runId, 'channel'))?.command).toEqual({ ...CHANNEL, value: null });
      const { outputs: _outputs, variables: _variables, ...notice } = CHILD;
      expect((await store.readCommand(runId, 'child'))?.command).toEqual(notice);
      expect((await store.readCommand(runId, 'pause'))?.command).toEqual({
        type: 'pause',
        policy: 'immediate',
      });
    });

    it('takes from an imported run whose log has no end', async () => {
      const runId = await givenImportedRun();

      await given(subject.store, eraseUnit(runId));

      expect(await subject.store.readRun(runId, 'acme')).toMatchObject({
        erasedAt: START + 60,
        record: { ...IMPORTED, inputs: { name: '[REDACTED]' } },
        head: waiting,
      });
    });

    it('takes from a fork the values that it was given in place of masked ones', async () => {
      const fork = { sourceRunId: newRunId(), fromSeq: 1, mode: 'branch' } as const;
      const filled = { 0: { '/outputs/page': 'canary' } };
      const runId = await givenEndedRun({
        ...forkOf(fork.sourceRunId),
        record: { fork: { ...fork, filled } },
      });
      expect((await subject.store.readRun(runId, 'acme'))?.record.fork).toEqual({ ...fork, filled });

      await given(subject.store, eraseUnit(runId));

      const row = await subject.store.readRun(runId, 'acme');
      expect(row?.record.fork).toEqual(fork);
      expect(JSON.stringify(row)).not.toContain('canary');
    });

    it('a second time changes nothing', async () => {
      const runId = await givenEndedRun();
      await given(subject.store, eraseUnit(runId));
      const row = await subject.store.readRun(runId, 'acme');

      await given(subject.store, eraseUnit(runId, { at: START + 90 }));

      expect(await subject.store.readRun(runId, 'acme')).toEqual(row);
    });

    it('is no sign on runs that were not erased', async () => {
      const runId = await givenEndedRun();

      expect(await subject.store.readRun(runId, 'acme')).not.toHaveProperty('erasedAt');
    });

    it('is refused while somebody may need what it takes', async () => {
      const { store } = subject;
      const [open, source] = [await givenOpenRun(), await givenEndedRun()];
      const fork = await givenOpenRun(forkOf(source));
      const refused = { state: 'refused' } as const;

      expect(await store.commit([eraseUnit(newRunId()), eraseUnit(source, { tenant: 'other' })])).toEqual([
        { ...refused, reason: 'run_missing' },
        { ...refused, reason: 'run_missing' },
      ]);
      expect(await store.commit([eraseUnit(open), eraseUnit(source)])).toEqual([
        { ...refused, reason: 'run_open', status: 'running' },
        { ...refused, reason: 'run_pinned', byRunId: fork },
      ]);
      expect((await readAll(store, source))[0]?.overlay).toBeDefined();
    });
  });

  describe('an unknown outcome', () => {
    async function withFault(fault: 'beforeCommit' | 'afterCommit', act: () => Promise<unknown>) {
      subject.faults[fault] = () => {
        throw new Error('the connection was lost');
      };
      await act();
      subject.faults[fault] = undefined;
    }

    it('of a purge and an erasure can be asked for', async () => {
      const units = [purgeUnit(await givenEndedRun()), eraseUnit(await givenEndedRun())];

      await withFault('beforeCommit', () => subject.store.commit(units));
      for (const unit of units) expect(await subject.store.committed(unit), unit.kind).toBe(false);

      await withFault('afterCommit', () => subject.store.commit(units));
      for (const unit of units) expect(await subject.store.committed(unit), unit.kind).toBe(true);
    });
  });
}

const IMPORTED = {
  imported: { bundleDigest: 'e'.repeat(64), runId: 'their run', verified: true },
} satisfies CreateOptions['record'];

const ANSWER = {
  type: 'resolve',
  nodeId: 'gate',
  value: { secret: 'canary' },
  by: 'ada',
  byUser: true,
  viaLink: false,
} as const satisfies Command;

const CHANNEL = {
  type: 'channel',
  channel: 'totals',
  value: { secret: 'canary' },
  sourceRunId: '018bcfe5-6800-7000-8000-000000000001',
  sourceEngineId: 'weft',
  writer: { nodeId: 'send', typeId: 'core.channelWrite' },
} as const satisfies Command;

const CHILD = {
  type: 'child',
  nodeKey: 'work',
  childRunId: '018bcfe5-6800-7000-8000-000000000001',
  status: 'completed',
  outputs: { secret: 'canary' },
  variables: { secret: 'canary' },
  sensitive: ['secret'],
} as const satisfies Command;
