import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunUnit, Store } from '@weft/engine';
import {
  appendUnit,
  commandUnit,
  createUnit,
  event,
  events,
  given,
  newRunId,
  readAll,
} from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './file/driver.ts';
import { checkSqliteFile, openSqliteStore } from './index.ts';
import { testFolder } from './testing/sqlite-test-folder.ts';

const { folder, newPath } = testFolder();

const WAL_HEADER = 32;
const FRAME = 24 + 4_096;
const ended = { status: 'completed', wakeAt: null } as const;

interface Acknowledged {
  readonly walBytes: number;
  readonly runId: string;
  readonly nextSeq: number;
}

/** Commits runs of every shape and notes, after each answer, how long the write-ahead log was. */
async function writeHistory(store: Store, path: string): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  const runs = Array.from({ length: 6 }, () => newRunId());
  for (let round = 0; round < 3; round += 1) {
    for (const runId of runs) {
      const from = round * 4;
      const isLast = round === 2;
      const batch = isLast ? [...events(from, 3), event(from + 3, 'run.completed')] : events(from, 4);
      const head = isLast ? ended : ({ status: 'running', wakeAt: 0 } as const);
      const unit: RunUnit =
        round === 0
          ? createUnit(runId, { holder: 'h1', events: batch, head, record: { tags: ['t'], scopeId: runId } })
          : appendUnit(runId, from, {
              events: batch,
              head,
              checkpoint: { seq: from, foldVersion: 1, state: '{}' },
            });
      await given(store, unit, ...(isLast ? [] : [commandUnit(runId, `c${round}`)]));
      acknowledged.push({ walBytes: statSync(`${path}-wal`).size, runId, nextSeq: from + 4 });
    }
  }
  return acknowledged;
}

describe('an SQLite file after a crash', () => {
  it('recovers a consistent state from a write-ahead log cut at every frame, with everything acknowledged before the cut', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    const acknowledged = await writeHistory(store, path);
    const database = join(folder, 'cut-source.db');
    copyFileSync(path, database);
    const wal = readFileSync(`${path}-wal`);
    await store.close();
    const frames = (wal.length - WAL_HEADER) / FRAME;
    expect(Number.isInteger(frames)).toBe(true);
    mkdirSync(join(folder, 'cut'));

    for (let frame = 0; frame <= frames; frame += 1) {
      const isTorn = frame % 5 === 4;
      const length = WAL_HEADER + frame * FRAME + (isTorn ? 1_000 : 0);
      const copy = join(folder, 'cut', `${frame}.db`);
      copyFileSync(database, copy);
      writeFileSync(`${copy}-wal`, wal.subarray(0, length));
      const recovered = openSqliteStore({ path: copy });

      for (const { runId, nextSeq, walBytes } of acknowledged) {
        const row = await recovered.readRun(runId, undefined);
        const log = await readAll(recovered, runId);
        expect(log.map(({ seq }) => seq)).toEqual([...log.keys()]);
        expect(row?.nextSeq ?? 0).toBe(log.length);
        if (walBytes <= length) expect(log.length).toBeGreaterThanOrEqual(nextSeq);
      }
      await recovered.close();
      expect(checkSqliteFile(copy)).toEqual([]);
    }
  });
});

describe('an SQLite file without room', () => {
  const large = (runId: string) =>
    createUnit(runId, { events: [event(0, 'log', { payload: `"${'x'.repeat(20_000)}"` })] });

  it('refuses the whole group, keeps what it had, serves reads, and continues once there is room', async () => {
    const path = newPath();
    const kept = newRunId();
    const lost = [newRunId(), newRunId()];
    await openSqliteStore({ path }).close();
    const pages = Math.ceil(statSync(path).size / 4_096);
    const cramped = openSqliteStore({ path, maxPageCount: pages + 10 });
    await given(cramped, createUnit(kept, { holder: 'h1', events: events(0, 1) }));

    const results = await cramped.commit([
      appendUnit(kept, 1),
      ...lost.map(large),
      ...lost.map(() => large(newRunId())),
    ]);

    expect(results).toEqual(Array.from({ length: 5 }, () => ({ state: 'refused', reason: 'store_full' })));
    expect(await readAll(cramped, kept)).toHaveLength(1);
    expect(await cramped.readRun(lost[0] ?? '', undefined)).toBeUndefined();
    expect(await cramped.commit([appendUnit(kept, 1)])).toEqual([{ state: 'committed' }]);
    await cramped.close();
    expect(checkSqliteFile(path)).toEqual([]);

    const roomy = openSqliteStore({ path });
    await given(roomy, ...lost.map(large));
    expect(await readAll(roomy, kept)).toHaveLength(2);
    await roomy.close();
    expect(checkSqliteFile(path)).toEqual([]);
  });

  it('forgets the strings of a group that was rolled back', async () => {
    const path = newPath();
    await openSqliteStore({ path }).close();
    const pages = Math.ceil(statSync(path).size / 4_096);
    const store = openSqliteStore({ path, maxPageCount: pages + 10 });
    const runId = newRunId();
    const named = (id: string) =>
      createUnit(id, { record: { tenant: 'new-tenant' }, events: [event(0, 'vendor.new.type')] });

    const results = await store.commit([named(runId), ...Array.from({ length: 4 }, () => large(newRunId()))]);
    expect(results[0]).toEqual({ state: 'refused', reason: 'store_full' });
    await given(store, named(runId));

    expect((await store.readRun(runId, 'new-tenant'))?.record.tenant).toBe('new-tenant');
    expect(await readAll(store, runId)).toEqual([event(0, 'vendor.new.type')]);
    await store.close();
  });
});

describe('a unit that SQLite cannot take', () => {
  it('fails alone, and the others of its group are committed', async () => {
    const store = openSqliteStore({ path: newPath() });
    const [first, last] = [newRunId(), newRunId()];

    const results = await store.commit([createUnit(first), createUnit('run-1'), createUnit(last)]);

    expect(results).toMatchObject([
      { state: 'committed' },
      { state: 'failed', cause: { message: expect.stringContaining('must be a UUID') } },
      { state: 'committed' },
    ]);
    for (const runId of [first, last]) expect(await store.readRun(runId, undefined)).toBeDefined();
    await store.close();
  });

  it('fails again and again, and fails no other unit', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    const runs = Array.from({ length: 3 }, () => newRunId());
    await given(store, ...runs.map((runId) => createUnit(runId, { holder: 'h1' })));
    // As a defect would leave it: an event beyond what the run's row says.
    const other = openDatabase(path, { busyTimeoutMs: 0 });
    other.exec(`INSERT INTO events (rid, seq, type, at, payload) VALUES (2, 0, 'orphan', 0, '{}')`);
    other.close();

    for (let round = 0; round < 4; round += 1) {
      const results = await store.commit(
        runs.map((runId, index) => appendUnit(runId, index === 1 ? 0 : round)),
      );

      expect(results.map(({ state }) => state)).toEqual(['committed', 'failed', 'committed']);
    }
    expect(await store.commit([appendUnit(runs[1] ?? '', 0)])).toMatchObject([{ state: 'failed' }]);
    await store.close();
  });

  it('is of unknown fate when the file takes nothing at all', async () => {
    const path = newPath();
    const store = openSqliteStore({ path, busyTimeoutMs: 0 });
    const runId = newRunId();
    await given(store, createUnit(runId, { holder: 'h1' }));
    const other = openDatabase(path, { busyTimeoutMs: 0 });
    other.exec('BEGIN IMMEDIATE');

    const results = await store.commit([appendUnit(runId, 0), createUnit(newRunId())]);

    expect(results).toMatchObject([{ state: 'unknown' }, { state: 'unknown' }]);
    other.exec('ROLLBACK');
    other.close();
    expect(await store.commit([appendUnit(runId, 0)])).toEqual([{ state: 'committed' }]);
    await store.close();
  });
});
