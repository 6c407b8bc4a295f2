import { describe, expect, it } from 'vitest';
import {
  appendUnit,
  commandUnit,
  completed,
  createUnit,
  documentUnit,
  event,
  events,
  forkOptions,
  idempotencyRecord,
  newRunId,
  running,
  waiting,
} from '../store-contract/fixtures.ts';
import {
  appendRejection,
  claimObstacle,
  commandRejection,
  creationRejection,
  documentRejection,
  dueAt,
  endsClaim,
  guardRejection,
  hasEventsOf,
  isLive,
  openReader,
  ownRun,
  removalRejection,
  revocationRejection,
  type RunLookup,
  settingRejection,
  suspicionRejection,
  takesClaim,
  unmetCondition,
  workflowRejection,
} from './store-rules.ts';

const held = { status: 'running', epoch: 3, nextSeq: 7, holder: 'h1' } as const;
const runId = newRunId();

describe('any unit', () => {
  const whileHeld = { runId, epoch: 3 };

  it('is refused for a record of its key before the claim that it needs', () => {
    const record = idempotencyRecord();

    expect(guardRejection(documentUnit('a', { whileHeld }), record, undefined)).toEqual({
      reason: 'idempotency_exists',
      record,
    });
    expect(guardRejection(documentUnit('a'), undefined, undefined)).toBeUndefined();
  });

  it.each([
    ['there is no such run', undefined],
    ['another epoch has it', { epoch: 4, holder: 'h2' }],
    ['it was given up', { epoch: 3, holder: null }],
    ['the run has ended', { epoch: 3 }],
  ])('that needs a claim is refused when %s', (_, claimed) => {
    expect(guardRejection(documentUnit('a', { whileHeld }), undefined, claimed)).toEqual({
      reason: 'stale_epoch',
    });
  });

  it.each(['h1', 0])('that needs a claim is taken while %s holds it', (holder) => {
    expect(guardRejection(documentUnit('a', { whileHeld }), undefined, { epoch: 3, holder })).toBeUndefined();
  });
});

describe('an append', () => {
  it('is taken at the sequence and the epoch that it names', () => {
    expect(appendRejection(held, appendUnit(runId, 7, { epoch: 3, events: events(7, 2) }))).toBeUndefined();
    expect(appendRejection(held, appendUnit(runId, 7, { epoch: 3, events: [] }))).toBeUndefined();
  });

  it.each([
    ['run_missing', undefined, {}],
    ['stale_epoch', { ...held, epoch: 4 }, {}],
    ['stale_epoch', { ...held, epoch: 4, status: 'completed' }, {}],
    ['run_terminal', { ...held, holder: undefined, status: 'completed' }, {}],
    ['stale_epoch', { ...held, holder: null }, { expectedSeq: 9 }],
    ['sequence_conflict', held, { expectedSeq: 6 }],
    ['sequence_conflict', held, { events: [event(7), event(9)] }],
  ] as const)('is refused for %s', (reason, run, more) => {
    expect(appendRejection(run, appendUnit(runId, 7, { epoch: 3, ...more }))).toMatchObject({ reason });
  });

  it('gives up the claim when it says so, or ends the run', () => {
    expect([running, waiting, completed].map((head) => endsClaim({ head }))).toEqual([false, false, true]);
    expect(endsClaim({ head: running, release: true })).toBe(true);
  });

  it('makes a run due at its own time, at once while a command waits, never after its end', () => {
    const head = { ...waiting, wakeAt: 5 };

    expect([dueAt(head, 0), dueAt(waiting, 0)]).toEqual([5, null]);
    expect([dueAt(head, 1), dueAt(waiting, 1)]).toEqual([0, 0]);
    expect(dueAt(completed, 1)).toBeNull();
  });
});

describe('a creation', () => {
  const nothing: RunLookup = { isTaken: () => false, find: () => undefined, openIn: () => undefined };

  function creation(more: Partial<NonNullable<ReturnType<typeof createUnit>['create']>> = {}) {
    const unit = createUnit(runId, { record: { scopeId: 's' }, events: events(0, 2) });
    if (unit.create === undefined) throw new Error('a creation creates');
    return { unit, create: { ...unit.create, ...more } };
  }

  it('without conditions asks only whether the id is taken', () => {
    const { unit, create } = creation();

    expect(creationRejection(nothing, unit, create)).toBeUndefined();
    expect(creationRejection({ ...nothing, isTaken: () => true }, unit, create)).toEqual({
      reason: 'run_exists',
    });
  });

  it('names the first reason: the id, the parent, the source, the scope', () => {
    const { unit, create } = creation({ whileOpen: 'p', whileKept: ['s'], exclusiveScope: true });
    const openParent: RunLookup = {
      ...nothing,
      find: (id) => (id === 'p' ? { status: 'running', isErased: false } : undefined),
      openIn: () => 'other',
    };
    const both: RunLookup = { ...openParent, find: () => ({ status: 'running', isErased: false }) };

    expect(creationRejection({ ...nothing, isTaken: () => true }, unit, create)).toEqual({
      reason: 'run_exists',
    });
    expect(unmetCondition(nothing, unit, create)).toEqual({ reason: 'parent_ended' });
    expect(unmetCondition(openParent, unit, create)).toEqual({ reason: 'source_gone' });
    expect(unmetCondition(both, unit, create)).toEqual({ reason: 'scope_active', activeRunId: 'other' });
    expect(unmetCondition({ ...both, openIn: () => undefined }, unit, create)).toBeUndefined();
  });

  it.each([
    ['parent_ended', { whileOpen: 'p' }, { status: 'failed', isErased: false }],
    ['source_gone', { whileKept: ['s'] }, { status: 'running', isErased: true }],
  ] as const)('is refused for %s', (reason, more, facts) => {
    const { unit, create } = creation(more);

    expect(unmetCondition({ ...nothing, find: () => facts }, unit, create)).toEqual({ reason });
  });

  it('begins at 0, and that of a fork where it leaves its source', () => {
    for (const [expectedSeq, options] of [
      [0, {}],
      [7, forkOptions(7, 1)],
    ] as const) {
      const unit = createUnit(runId, options);
      const late = createUnit(runId, { ...options, expectedSeq: expectedSeq + 1 });

      expect(unit.create && unmetCondition(nothing, unit, unit.create)).toBeUndefined();
      expect(late.create && unmetCondition(nothing, late, late.create)).toEqual({
        reason: 'sequence_conflict',
      });
    }
  });
});

describe('a command', () => {
  const unit = commandUnit(runId, 'c1', { inboxLimit: 3 });

  it.each([
    [undefined, { status: 'running', inbox: 2 }, false],
    ['inbox_full', { status: 'running', inbox: 3 }, false],
    ['run_terminal', { status: 'failed', inbox: 3 }, false],
    ['run_missing', undefined, false],
    [undefined, { status: 'failed', inbox: 3 }, true],
  ] as const)('is refused for %s', (reason, run, isAccepted) => {
    expect(commandRejection(run, unit, isAccepted)?.reason).toBe(reason);
  });

  it('finds no run of another tenant', () => {
    const run = { tenant: 'acme' };

    expect([ownRun(run, 'acme'), ownRun(run, 'other'), ownRun(run, undefined)]).toEqual([
      run,
      undefined,
      undefined,
    ]);
  });
});

describe('a claim', () => {
  it('is given unless the run has ended or is held', () => {
    expect(claimObstacle({ status: 'running' }, undefined)).toBeUndefined();
    expect(claimObstacle({ status: 'running' }, 'h1')).toEqual({ state: 'held', holder: 'h1' });
    expect(claimObstacle({ status: 'failed' }, 'h1')).toEqual({ state: 'terminal' });
  });

  it('is taken away by a quarantine', () => {
    const suspicion = { reason: 'x', since: 0, seq: 0 };

    expect([undefined, suspicion, { ...suspicion, quarantinedAt: 5 }].map(takesClaim)).toEqual([
      false,
      false,
      true,
    ]);
    expect(
      [undefined, held, { status: 'failed' } as const].map((run) => suspicionRejection(run)?.reason),
    ).toEqual(['run_missing', undefined, 'run_terminal']);
  });
});

describe('what is written once', () => {
  it('may come again as it was, and not otherwise', () => {
    expect([undefined, 'a', 'b'].map((known) => workflowRejection(known, { digest: 'a' }))).toEqual([
      undefined,
      undefined,
      { reason: 'workflow_conflict', digest: 'b' },
    ]);
    expect([undefined, 'a', 'b'].map((known) => settingRejection(known, { value: 'a' }))).toEqual([
      undefined,
      undefined,
      { reason: 'setting_conflict', value: 'b' },
    ]);
    expect(documentRejection('v1', {})).toBeUndefined();
    expect(documentRejection('v1', { onlyNew: true })).toEqual({ reason: 'document_exists' });
    expect(documentRejection(undefined, { onlyNew: true })).toBeUndefined();
    expect(documentRejection('v1', { replaces: 'v1' })).toBeUndefined();
    expect(documentRejection('v2', { replaces: 'v1' })).toEqual({ reason: 'document_changed' });
    expect(documentRejection(undefined, { replaces: 'v1' })).toEqual({ reason: 'document_changed' });
  });

  it('is gone at the moment in which it expires', () => {
    expect([undefined, null, 6, 5, 4].map((expiresAt) => isLive(expiresAt, 5))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it('is a key that only its tenant revokes', () => {
    expect(
      [undefined, 'acme', 'other'].map((tenant) => revocationRejection(tenant, { tenant: 'acme' })),
    ).toEqual([{ reason: 'key_missing' }, undefined, { reason: 'key_missing' }]);
  });
});

describe('a purge or an erasure', () => {
  const pins = { openParent: () => 'parent', openReader: () => 'reader' };
  const free = { openParent: () => undefined, openReader: () => undefined };
  const over = { status: 'completed', isImported: false } as const;
  const open = { status: 'paused', isImported: false } as const;

  it.each(['purge', 'erase'] as const)(
    '(%s) wants a run that is there and has ended, or was imported',
    (kind) => {
      expect(removalRejection(undefined, kind, pins)).toEqual({ reason: 'run_missing' });
      expect(removalRejection(open, kind, pins)).toEqual({ reason: 'run_open', status: 'paused' });
      expect(removalRejection(over, kind, free)).toBeUndefined();
      expect(removalRejection({ ...open, isImported: true }, kind, free)).toBeUndefined();
    },
  );

  it('is held up by an open fork, and a purge by an open parent before it', () => {
    expect(removalRejection(over, 'purge', pins)).toEqual({ reason: 'run_pinned', byRunId: 'parent' });
    expect(removalRejection(over, 'erase', pins)).toEqual({ reason: 'run_pinned', byRunId: 'reader' });
  });

  it('finds an open fork behind forks that have ended', () => {
    const forks: Record<string, { id: string; isOpen: boolean }[]> = {
      source: [
        { id: 'a', isOpen: false },
        { id: 'b', isOpen: false },
      ],
      b: [{ id: 'c', isOpen: true }],
    };

    expect(openReader('source', (id) => forks[id] ?? [])).toBe('c');
    expect(openReader('a', (id) => forks[id] ?? [])).toBeUndefined();
  });
});

describe('a unit whose outcome is unknown', () => {
  it('is known by its events, all of them', () => {
    const unit = appendUnit(runId, 3, { events: events(3, 2) });

    expect(hasEventsOf(unit, events(3, 2))).toBe(true);
    expect(hasEventsOf(unit, events(3, 1))).toBe(false);
    expect(hasEventsOf(unit, [event(3), event(4, 'run.failed')])).toBe(false);
    expect(hasEventsOf({ ...unit, events: [] }, [])).toBe(false);
  });
});
