import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../ports/store.ts';
import {
  appendUnit,
  auditEntry,
  commandUnit,
  commitOne,
  completed,
  createUnit,
  event,
  events,
  given,
  givenHeldRun,
  idempotencyRecord,
  newRunId,
  readAll,
  recordOf,
  running,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** S-1 and S-2: groups, units, sequences. */
export function appendingContract(subject: Subject): void {
  describe('appending', () => {
    it('keeps a creation record and every field of an event exactly as given', async () => {
      const runId = newRunId();
      const record = recordOf(runId, {
        principal: 'ada',
        workspace: 'payments',
        scopeId: 'order-7',
        inputs: { name: 'Zoë 🧵', deep: [{ a: null }] },
        configurable: { 'weft.workflowVersion': '1.0.0' },
        tags: ['b', 'a'],
        metadata: { ['__proto__']: 'ordinary', team: 'x' },
        callbackUrl: 'https://example.test/cb',
        engineVersion: 3,
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        limits: {
          nodeExecutions: 7,
          runDurationMs: 5,
          workflowTimeoutMs: 6,
          concurrency: 1,
          maxPayloadBytes: 10,
          maxStateBytes: 20,
          loopIterations: 3,
          clarificationRounds: 2,
        },
      });
      const written: StoredEvent[] = [
        event(0, 'run.started', { payload: '{ "kept" : "as is, with its blanks and 🧵" }' }),
        event(1, 'node.started', { nodeId: 'a', causeSeq: 0, overlay: '{"secret":"s"}' }),
        event(2, 'vendor.acme.something', { nodeId: 'work[2][0]', payload: '{}' }),
      ];

      await given(subject.store, createUnit(runId, { record, holder: 'h1', events: written }));

      const row = await subject.store.readRun(runId, 'acme');
      expect(row?.record).toEqual(record);
      expect(row).toMatchObject({ head: running, nextSeq: 3, epoch: 1, pendingCommands: [] });
      expect(await readAll(subject.store, runId)).toEqual(written);
    });

    it('keeps the limits of each run, where runs of one workflow differ in a single one', async () => {
      const { limits } = recordOf(newRunId());
      const others = Object.entries(limits).map(([name, limit]) => ({ ...limits, [name]: limit + 1 }));
      const runs = [limits, ...others].map((each) => ({ runId: newRunId(), limits: each }));

      await given(subject.store, ...runs.map((run) => createUnit(run.runId, { record: run })));

      for (const run of runs) {
        expect((await subject.store.readRun(run.runId, 'acme'))?.record.limits).toEqual(run.limits);
      }
    });

    it('numbers a run from 0 without gap, over many units', async () => {
      const runId = await givenHeldRun(subject.store, { count: 2 });

      await given(subject.store, appendUnit(runId, 2, { events: events(2, 3) }));
      await given(subject.store, appendUnit(runId, 5));

      expect((await readAll(subject.store, runId)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
      expect((await subject.store.readRun(runId, undefined))?.nextSeq).toBe(6);
    });

    it('knows a run without events', async () => {
      const runId = newRunId();

      await given(subject.store, createUnit(runId, { head: { status: 'pending', wakeAt: 0 } }));

      expect(await subject.store.readRun(runId, undefined)).toMatchObject({
        nextSeq: 0,
        epoch: 0,
        head: { status: 'pending' },
      });
      expect(await readAll(subject.store, runId)).toEqual([]);
    });

    it('replaces the head with every append, down to the fields that are gone', async () => {
      const runId = await givenHeldRun(subject.store);
      const busy = { ...running, startedAt: 5, currentNodeId: 'a' };

      await given(subject.store, appendUnit(runId, 0, { head: busy }));
      expect((await subject.store.readRun(runId, undefined))?.head).toEqual(busy);

      const ended = {
        status: 'failed',
        wakeAt: null,
        startedAt: 5,
        endedAt: 9,
        errorCode: 'node_timeout',
      } as const;
      await given(subject.store, appendUnit(runId, 1, { head: ended }));
      expect((await subject.store.readRun(runId, undefined))?.head).toEqual(ended);
    });

    it.each([0, 1, 3])(
      'refuses a unit that expects sequence %i of a run with two events',
      async (expectedSeq) => {
        const runId = await givenHeldRun(subject.store, { count: 2 });

        const result = await commitOne(subject.store, appendUnit(runId, expectedSeq, { head: completed }));

        expect(result).toEqual({ state: 'refused', reason: 'sequence_conflict' });
        expect(await readAll(subject.store, runId)).toHaveLength(2);
        expect((await subject.store.readRun(runId, undefined))?.head).toEqual(running);
      },
    );

    it('refuses events whose own numbers do not follow the expected one', async () => {
      const runId = await givenHeldRun(subject.store, { count: 1 });

      const gap = await commitOne(subject.store, appendUnit(runId, 1, { events: [event(1), event(3)] }));
      const lateStart = await commitOne(subject.store, createUnit(newRunId(), { events: [event(1)] }));

      expect(gap).toEqual({ state: 'refused', reason: 'sequence_conflict' });
      expect(lateStart).toEqual({ state: 'refused', reason: 'sequence_conflict' });
    });

    it('lets exactly one of ten racing writers win', async () => {
      const runId = await givenHeldRun(subject.store, { count: 1 });

      const results = await Promise.all(
        Array.from({ length: 10 }, (_, writer) =>
          commitOne(
            subject.store,
            appendUnit(runId, 1, { events: [event(1, 'log', { payload: `${writer}` })] }),
          ),
        ),
      );

      expect(results.filter(({ state }) => state === 'committed')).toHaveLength(1);
      expect(
        results.filter((result) => 'reason' in result && result.reason === 'sequence_conflict'),
      ).toHaveLength(9);
      expect(await readAll(subject.store, runId)).toHaveLength(2);
    });

    it('creates a run once', async () => {
      const runId = await givenHeldRun(subject.store, { count: 1 });

      const again = await commitOne(
        subject.store,
        createUnit(runId, { record: { tenant: 'other' }, events: [event(0)] }),
      );

      expect(again).toEqual({ state: 'refused', reason: 'run_exists' });
      expect(await subject.store.readRun(runId, 'other')).toBeUndefined();
    });

    it('refuses to append to a run that does not exist', async () => {
      expect(await commitOne(subject.store, appendUnit(newRunId(), 0))).toEqual({
        state: 'refused',
        reason: 'run_missing',
      });
    });

    it('writes nothing after the end of a run', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(
        subject.store,
        appendUnit(runId, 0, { events: [event(0, 'run.completed')], head: completed }),
      );

      const result = await commitOne(subject.store, appendUnit(runId, 1));

      expect(result).toEqual({ state: 'refused', reason: 'run_terminal', status: 'completed' });
      expect(await readAll(subject.store, runId)).toHaveLength(1);
    });
  });

  describe('a group', () => {
    it('commits in order, so that a later unit builds on an earlier one', async () => {
      const runId = newRunId();

      const results = await subject.store.commit([
        createUnit(runId, { holder: 'h1', events: events(0, 2) }),
        appendUnit(runId, 2),
        appendUnit(runId, 3),
      ]);

      expect(results).toEqual([{ state: 'committed' }, { state: 'committed' }, { state: 'committed' }]);
      expect(await readAll(subject.store, runId)).toHaveLength(4);
    });

    it('commits its other members when one is refused', async () => {
      const first = await givenHeldRun(subject.store);
      const last = await givenHeldRun(subject.store);

      const results = await subject.store.commit([
        appendUnit(first, 0),
        appendUnit(newRunId(), 0),
        createUnit(first),
        appendUnit(last, 0),
      ]);

      expect(results).toEqual([
        { state: 'committed' },
        { state: 'refused', reason: 'run_missing' },
        { state: 'refused', reason: 'run_exists' },
        { state: 'committed' },
      ]);
      expect(await readAll(subject.store, first)).toHaveLength(1);
      expect(await readAll(subject.store, last)).toHaveLength(1);
    });

    it('takes an empty list as nothing to do', async () => {
      expect(await subject.store.commit([])).toEqual([]);
    });

    it('leaves nothing of a refused unit behind', async () => {
      const runId = await givenHeldRun(subject.store, { count: 1 });
      await given(subject.store, commandUnit(runId, 'c1'));
      const idempotency = idempotencyRecord();

      const result = await commitOne(
        subject.store,
        appendUnit(runId, 0, {
          head: completed,
          idempotency,
          audit: [auditEntry('run.cancel')],
          consume: [{ commandId: 'c1', commandResult: { applied: true, status: 'cancelled', at: 1 } }],
          checkpoint: { seq: 1, foldVersion: 1, state: '{}' },
          outbox: [{ id: 'o1', topic: 'callback', dueAt: 0, body: {} }],
          release: true,
        }),
      );

      expect(result.state).toBe('refused');
      expect(await subject.store.readRun(runId, undefined)).toMatchObject({
        head: running,
        nextSeq: 1,
        holder: 'h1',
        pendingCommands: ['cancel'],
      });
      expect(
        await subject.store.readIdempotency('acme', idempotency.operation, idempotency.keyHash),
      ).toBeUndefined();
      expect(await subject.store.readAudit(0, 10)).toEqual([]);
      expect(await subject.store.readCheckpoint(runId)).toBeUndefined();
      expect(await subject.store.claimOutbox(10, 1_000)).toEqual([]);
    });
  });

  describe('a checkpoint', () => {
    it('is replaced by the next one and goes with its unit', async () => {
      const runId = await givenHeldRun(subject.store);
      expect(await subject.store.readCheckpoint(runId)).toBeUndefined();

      await given(
        subject.store,
        appendUnit(runId, 0, { checkpoint: { seq: 1, foldVersion: 1, state: '{"a":1}' } }),
      );
      await given(subject.store, appendUnit(runId, 1));
      expect(await subject.store.readCheckpoint(runId)).toEqual({ seq: 1, foldVersion: 1, state: '{"a":1}' });

      await given(
        subject.store,
        appendUnit(runId, 2, { checkpoint: { seq: 3, foldVersion: 2, state: '{"b":"ü"}' } }),
      );
      expect(await subject.store.readCheckpoint(runId)).toEqual({
        seq: 3,
        foldVersion: 2,
        state: '{"b":"ü"}',
      });
    });
  });

  describe('an exclusive scope', () => {
    const inScope = { scopeId: 'order-7' };

    it('admits one active run per tenant and scope, and names it', async () => {
      const first = newRunId();
      await given(subject.store, createUnit(first, { holder: 'h1', record: inScope, exclusiveScope: true }));

      const second = await commitOne(
        subject.store,
        createUnit(newRunId(), { record: inScope, exclusiveScope: true }),
      );

      expect(second).toEqual({ state: 'refused', reason: 'scope_active', activeRunId: first });
    });

    it('counts active runs that did not ask for it, and never hinders those', async () => {
      const first = newRunId();
      await given(subject.store, createUnit(first, { record: inScope }));

      const exclusive = await commitOne(
        subject.store,
        createUnit(newRunId(), { record: inScope, exclusiveScope: true }),
      );
      const shared = await commitOne(subject.store, createUnit(newRunId(), { record: inScope }));

      expect(exclusive).toMatchObject({ reason: 'scope_active', activeRunId: first });
      expect(shared).toEqual({ state: 'committed' });
    });

    it('is free for other scopes, other tenants, and after the end', async () => {
      const first = newRunId();
      await given(subject.store, createUnit(first, { holder: 'h1', record: inScope, exclusiveScope: true }));

      await given(
        subject.store,
        createUnit(newRunId(), { record: { scopeId: 'order-8' }, exclusiveScope: true }),
        createUnit(newRunId(), { record: { ...inScope, tenant: 'other' }, exclusiveScope: true }),
        appendUnit(first, 0, { events: [event(0, 'run.completed')], head: completed }),
        createUnit(newRunId(), { record: inScope, exclusiveScope: true }),
      );

      expect(await readAll(subject.store, first)).toHaveLength(1);
    });

    it('lets one of ten racing creations win, also inside one group', async () => {
      const units = Array.from({ length: 10 }, () =>
        createUnit(newRunId(), { record: inScope, exclusiveScope: true }),
      );

      const grouped = await subject.store.commit(units.slice(0, 5));
      const single = await Promise.all(units.slice(5).map((unit) => commitOne(subject.store, unit)));

      expect([...grouped, ...single].filter(({ state }) => state === 'committed')).toHaveLength(1);
    });
  });
}
