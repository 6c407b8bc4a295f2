import type { RunHead, RunRow, Store, StoredEvent, CommandResult } from '@weft/engine';
import {
  appendUnit,
  commandUnit,
  completed,
  createUnit,
  event,
  events,
  given,
  givenHeldRun,
  newRunId,
  running,
  START,
  waiting,
} from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import type { SqliteFaults } from '../commits/commit.ts';
import { openDatabase } from '../file/driver.ts';
import { newHolders } from '../claims/holders.ts';
import { openSqliteStore } from '../index.ts';
import { createKnownRuns } from './known-runs.ts';
import { prepareRunReader } from './read-run.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';
import { openStringTable } from './string-table.ts';

const { newPath } = testFolder();
const REFUSED_RESULT: CommandResult = { applied: false, status: 'running' };
const ALL = [0, 1_000, Number.MAX_SAFE_INTEGER] as const;

interface Seen {
  readonly row: Omit<RunRow, 'holder'> | undefined;
  readonly log: readonly StoredEvent[];
}

function withoutHolder(row: RunRow | undefined): Seen['row'] {
  if (row === undefined) return undefined;
  const { holder: _holder, ...rest } = row;
  return rest;
}

async function seenByStore(store: Store, runId: string): Promise<Seen> {
  const row = await store.readRun(runId, undefined);
  return { row: withoutHolder(row), log: await store.readEvents(runId, ...ALL) };
}

/** What a reader finds that knows nothing but the file. */
function seenInFile(path: string, runId: string): Seen {
  const db = openDatabase(path, { busyTimeoutMs: 1_000, readOnly: true });
  try {
    const reader = prepareRunReader({
      db,
      strings: openStringTable(db),
      holders: newHolders(),
      clock: () => START,
      currentWorkflows: new Map(),
      knownRuns: createKnownRuns(),
      damaged: () => undefined,
    });
    return { row: withoutHolder(reader.readRun(runId, undefined)), log: reader.readEvents(runId, ...ALL) };
  } finally {
    db.close();
  }
}

/** The same numbers in every test run. */
function dice(): (sides: number) => number {
  let state = 7;
  return (sides) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % sides;
  };
}

describe('what a store knows of a held run', () => {
  it('is what the file holds, whatever happens to the run (S-15, S-16, S-17)', async () => {
    const path = newPath();
    const faults: SqliteFaults = {};
    const store = openSqliteStore({ path, clock: () => START, faults });
    await store.heartbeat('h1', 1e9);
    const throwDice = dice();
    const heads: RunHead[] = [
      running,
      running,
      running,
      { ...running, startedAt: START + 3 },
      { ...running, currentNodeId: 'a' },
      waiting,
      completed,
    ];
    let runId = await givenHeldRun(store);

    async function append(): Promise<void> {
      const row = await store.readRun(runId, undefined);
      if (row === undefined) return;
      const more: Partial<StoredEvent>[] = [
        {},
        { overlay: '{"secret":1}' },
        { nodeId: 'n' },
        { causeSeq: 0 },
      ];
      const added = events(row.nextSeq, throwDice(20)).map((plain) => ({ ...plain, ...more[throwDice(4)] }));
      const head = heads[throwDice(heads.length)] ?? running;
      const consume = (await store.readInbox(runId))
        .slice(0, throwDice(2))
        .map(({ commandId }) => ({ commandId, commandResult: REFUSED_RESULT }));
      const notify = [{ runId, commandId: `own-${row.nextSeq}`, command: commandUnit(runId, '').command }];
      const seqError = throwDice(8) === 0 ? 1 : 0;
      await store.commit([
        appendUnit(runId, row.nextSeq + seqError, {
          events: added,
          head,
          epoch: row.epoch,
          ...(consume.length > 0 && { consume }),
          ...(throwDice(6) === 0 && { release: true }),
          ...(throwDice(8) === 0 && { notify }),
        }),
      ]);
    }

    async function fail(): Promise<void> {
      const when = throwDice(2) === 0 ? 'beforeCommit' : 'afterCommit';
      faults[when] = () => {
        throw new Error('the wire is cut');
      };
      await append();
      faults[when] = undefined;
    }

    const happenings = [
      append,
      append,
      append,
      append,
      fail,
      () => store.commit([commandUnit(runId, `command-${throwDice(5)}`)]),
      () => store.claim(runId, 'h1'),
      () => store.claimDue('h1', 10),
      () => store.releaseAll('h1').then(() => store.heartbeat('h1', 1e9)),
    ];
    const statuses = new Set<string>();
    for (let step = 0; step < 600; step += 1) {
      await happenings[throwDice(happenings.length)]?.();

      const seen = await seenByStore(store, runId);
      expect(seen).toEqual(seenInFile(path, runId));
      statuses.add(seen.row?.head.status ?? 'missing');
      if (seen.row?.head.status === 'completed') runId = await givenHeldRun(store);
    }

    expect([...statuses].sort()).toEqual(['completed', 'running', 'waiting-external']);
    await store.close();
  });

  it('is given to the run’s own tenant only', async () => {
    const store = openSqliteStore({ path: newPath(), clock: () => START });
    const runId = await givenHeldRun(store);

    expect(await store.readRun(runId, 'acme')).toBeDefined();
    expect(await store.readRun(runId, 'other')).toBeUndefined();
    await store.close();
  });

  it('is cut into the same pages as the file', async () => {
    const path = newPath();
    const store = openSqliteStore({ path, clock: () => START });
    const fork = { sourceRunId: newRunId(), fromSeq: 5, mode: 'branch' } as const;
    const runId = newRunId();
    await store.heartbeat('h1', 1e9);
    await given(
      store,
      createUnit(runId, { holder: 'h1', record: { fork }, expectedSeq: 5, events: events(5, 40) }),
    );
    const pages: [number, number, number][] = [
      [0, 10, 1_000],
      [5, 0, 1_000],
      [7, 3, 1],
      [44, 10, 1_000],
      [45, 10, 1_000],
      [6, 100, 60],
    ];
    const fromMemory = await Promise.all(pages.map((page) => store.readEvents(runId, ...page)));
    // A command makes the store forget the run.
    await given(store, commandUnit(runId, 'c1'));

    const fromFile = await Promise.all(pages.map((page) => store.readEvents(runId, ...page)));

    expect(fromMemory).toEqual(fromFile);
    await store.close();
  });

  it('has no bound on what a run may write', async () => {
    const path = newPath();
    const store = openSqliteStore({ path, clock: () => START });
    const runId = await givenHeldRun(store);
    const big = (seq: number): StoredEvent => event(seq, 'big', { payload: `"${'x'.repeat(30_000)}"` });
    for (let seq = 0; seq < 5; seq += 1)
      await given(store, appendUnit(runId, seq, { events: [big(seq)], head: running }));

    const seen = await seenByStore(store, runId);

    expect(seen.log).toHaveLength(5);
    expect(seen).toEqual(seenInFile(path, runId));
    await store.close();
  });
});
