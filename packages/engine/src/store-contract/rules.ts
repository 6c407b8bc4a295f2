import { describe, expect, it } from 'vitest';
import type { Refusal, RunUnit, WriteResult, WriteUnit } from '../ports/store.ts';
import { appendRejection, creationRejection, type RunFacts, type RunLookup } from '../ports/store-rules.ts';
import {
  appendUnit,
  auditEntry,
  commitOne,
  completed,
  createUnit,
  type CreateOptions,
  event,
  events,
  given,
  givenHeldRun,
  newBatchId,
  newRunId,
  waiting,
} from './fixtures.ts';
import { eraseUnit } from './retention/kept-runs.ts';
import type { Subject } from './subject.ts';

type AppendFacts = Pick<RunFacts, 'status' | 'epoch' | 'nextSeq' | 'holder'>;

const LENGTH = 2;

/** Every combination of one member of each list. */
function combined<Lists extends Record<string, readonly unknown[]>>(
  lists: Lists,
): { [Name in keyof Lists]: Lists[Name][number] }[] {
  return Object.entries(lists).reduce<Record<string, unknown>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  ) as { [Name in keyof Lists]: Lists[Name][number] }[];
}

function resultOf(rejection: Refusal | undefined): WriteResult {
  return rejection ? { state: 'refused', ...rejection } : { state: 'committed' };
}

/**
 * S1 to S3: a store answers as `store-rules.ts` does, for each state of a run and each way in which a unit can miss it, whether it asks
 * the rules or lets its database decide.
 */
export function rulesContract(subject: Subject): void {
  /** What is left of a run with two events in each state, as the rules see it. */
  const STATES: readonly [string, AppendFacts | undefined, (runId: string) => Promise<void>][] = [
    ['missing', undefined, async () => {}],
    [
      'held',
      { status: 'running', epoch: 1, nextSeq: LENGTH, holder: 'h1' },
      async (runId) => given(subject.store, heldUnit(runId)),
    ],
    [
      'held past its deadline',
      { status: 'running', epoch: 1, nextSeq: LENGTH, holder: 'h1' },
      async (runId) => {
        await given(subject.store, heldUnit(runId));
        subject.now += 20_000;
      },
    ],
    [
      'taken over',
      { status: 'running', epoch: 2, nextSeq: LENGTH, holder: 'h2' },
      async (runId) => {
        await given(subject.store, heldUnit(runId));
        await subject.store.releaseAll('h1');
        await subject.store.claim(runId, 'h2');
      },
    ],
    [
      'released',
      { status: 'waiting-external', epoch: 1, nextSeq: LENGTH },
      async (runId) => given(subject.store, heldUnit(runId, { head: waiting, release: true })),
    ],
    [
      'never held',
      { status: 'running', epoch: 0, nextSeq: LENGTH },
      async (runId) => given(subject.store, createUnit(runId, { events: events(0, LENGTH) })),
    ],
    [
      'quarantined',
      { status: 'running', epoch: 1, nextSeq: LENGTH },
      async (runId) => {
        const suspicion = { reason: 'x', since: 0, seq: 0, quarantinedAt: subject.now };
        await given(subject.store, heldUnit(runId), {
          kind: 'suspicion',
          batchId: newBatchId(),
          runId,
          suspicion,
        });
      },
    ],
    [
      'over',
      { status: 'completed', epoch: 1, nextSeq: LENGTH },
      async (runId) => given(subject.store, heldUnit(runId, { head: completed })),
    ],
  ];

  function heldUnit(runId: string, more: CreateOptions = {}): RunUnit {
    return createUnit(runId, { holder: 'h1', events: events(0, LENGTH), ...more });
  }

  /** A unit that does nothing but append can be written by a condition alone; one that brings more cannot. */
  const WAYS: readonly [string, Partial<RunUnit>][] = [
    ['nothing else', {}],
    ['an audit record', { audit: [auditEntry('run.appended')] }],
  ];

  const ATTEMPTS = combined({
    epoch: [0, 1, 2],
    expectedSeq: [LENGTH - 1, LENGTH, LENGTH + 1],
    gap: [0, 1],
  });

  describe.each(WAYS)('an append with %s', (_, more) => {
    it.each(STATES)('to a run that is %s is answered as the rule says', async (_state, facts, make) => {
      const { store } = subject;
      await store.heartbeat('h1', 10_000);
      await store.heartbeat('h2', 10_000);
      for (const { epoch, expectedSeq, gap } of ATTEMPTS) {
        const runId = newRunId();
        await make(runId);
        const appended = [event(expectedSeq), event(expectedSeq + 1 + gap)];
        const unit = appendUnit(runId, expectedSeq, { epoch, events: appended, ...more });

        // Each by itself: one that a group is refused for would have the others looked at, too.
        const result = await commitOne(store, unit);

        const expected = resultOf(appendRejection(facts, unit));
        expect({ epoch, expectedSeq, gap, result }).toEqual({ epoch, expectedSeq, gap, result: expected });
        const grown = result.state === 'committed' ? appended.length : 0;
        expect((await store.readRun(runId, undefined))?.nextSeq).toBe(facts && facts.nextSeq + grown);
      }
    });
  });

  describe('a creation', () => {
    /** Runs that creations ask about, and what is true of them. */
    async function givenOthers(): Promise<{ lookup: RunLookup; ids: Record<string, string> }> {
      const { store } = subject;
      const ids = {
        missing: newRunId(),
        open: await givenHeldRun(store, { record: { scopeId: 'busy' } }),
        over: await givenHeldRun(store, { record: { scopeId: 'done' } }),
        erased: await givenHeldRun(store, { record: { scopeId: 'done' } }),
      };
      await given(
        store,
        appendUnit(ids.over, 0, { head: completed }),
        appendUnit(ids.erased, 0, { head: completed }),
        eraseUnit(ids.erased),
      );
      const facts = new Map<string, Pick<RunFacts, 'status' | 'isErased'>>([
        [ids.open, { status: 'running', isErased: false }],
        [ids.over, { status: 'completed', isErased: false }],
        [ids.erased, { status: 'completed', isErased: true }],
      ]);
      const lookup: RunLookup = {
        isTaken: (runId) => facts.has(runId),
        find: (runId) => facts.get(runId),
        openIn: (tenant, scopeId) => (tenant === 'acme' && scopeId === 'busy' ? ids.open : undefined),
      };
      return { lookup, ids };
    }

    const CASES = combined({
      id: ['new', 'over'],
      parent: [undefined, 'missing', 'open', 'over'],
      source: [undefined, 'missing', 'over', 'erased'],
      tenant: ['acme', 'other'],
      scope: [undefined, 'idle', 'done', 'busy'],
      firstSeq: [0, 1],
    });

    function unitOf(ids: Record<string, string>, wanted: (typeof CASES)[number]): RunUnit {
      const { id, parent, source, tenant, scope: scopeId, firstSeq } = wanted;
      const { create, ...unit } = createUnit(ids[id] ?? newRunId(), {
        record: { tenant, ...(scopeId !== undefined && { scopeId }) },
        exclusiveScope: scopeId !== undefined,
        events: [event(firstSeq)],
        // Ended at once, so that none is in another's way.
        head: completed,
      });
      if (create === undefined) throw new Error('a creation creates');
      return {
        ...unit,
        create: {
          ...create,
          ...(parent !== undefined && { whileOpen: ids[parent] ?? '' }),
          ...(source !== undefined && { whileKept: [ids[source] ?? ''] }),
        },
      };
    }

    it.each([
      ['one by one', (units: readonly WriteUnit[]) => units.map((unit) => [unit])],
      ['as one group', (units: readonly WriteUnit[]) => [units]],
    ] as const)('is answered as the rule says, %s', async (_, groupsOf) => {
      const { lookup, ids } = await givenOthers();
      const units = CASES.map((wanted) => unitOf(ids, wanted));

      const results: WriteResult[] = [];
      for (const group of groupsOf(units)) results.push(...(await subject.store.commit(group)));

      expect(results).toEqual(
        units.map((unit) => resultOf(unit.create && creationRejection(lookup, unit, unit.create))),
      );
    });
  });
}
