import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DamagedRunError, type Store } from '@weft/engine';
import {
  appendUnit,
  commandUnit,
  createUnit,
  events,
  given,
  newBatchId,
  newRunId,
  readAll,
} from '@weft/engine/store-contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './driver.ts';
import { checkSqliteFile, openSqliteStore } from '../index.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';

const { newPath } = testFolder();

interface Written {
  readonly path: string;
  readonly runs: readonly string[];
}

/** Three runs of four events with overlays, a checkpoint each, closed. */
async function writtenFile(sql?: string): Promise<Written> {
  const path = newPath();
  const runs = [newRunId(), newRunId(), newRunId()];
  const store = openSqliteStore({ path });
  for (const [index, runId] of runs.entries()) {
    const record = { inputs: { amount: index }, tags: [`tag-${index}`], principal: 'ada' };
    await given(store, createUnit(runId, { holder: 'h1', events: privateEvents(0, 2), record }));
    const checkpoint = { seq: 4, foldVersion: 1, state: '{"nodes":{}}' };
    await given(store, appendUnit(runId, 2, { events: privateEvents(2, 2), checkpoint, release: true }));
  }
  await store.close();
  if (sql !== undefined) change(path, sql);
  return { path, runs };
}

function change(path: string, sql: string): void {
  const db = openDatabase(path, { busyTimeoutMs: 0 });
  db.exec(sql);
  db.close();
}

/** The same, with a command that waits for each run, the second of them quarantined. */
async function commandedFile(sql?: string): Promise<Written> {
  const { path, runs } = await writtenFile();
  await withStore(path, async (store) => {
    const suspicion = { reason: 'a test', since: 1, seq: 4, quarantinedAt: 2 };
    await given(store, {
      kind: 'suspicion',
      batchId: newBatchId(),
      runId: runs[1] ?? '',
      suspicion,
    });
    for (const runId of runs) await given(store, commandUnit(runId, `cancel-${runId}`));
  });
  if (sql !== undefined) change(path, sql);
  return { path, runs };
}

function privateEvents(from: number, count: number) {
  return events(from, count).map((event) => ({
    ...event,
    nodeId: 'work',
    overlay: `{"secret":${event.seq}}`,
  }));
}

async function withStore<Result>(path: string, use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = openSqliteStore({ path });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

describe('an event that is not what was written', () => {
  it.each([
    ['payload', `payload = replace(payload, 'n', 'm')`],
    ['type', 'type = type + 1'],
    ['time', 'at = at + 1'],
    ['node', 'node = node - 1'],
    ['overlay', `overlay = '{"secret":9}'`],
    ['missing overlay', 'overlay = NULL'],
  ])('is found by its %s, named, and other runs stay readable', async (_what, change) => {
    const { path, runs } = await writtenFile(`UPDATE events SET ${change} WHERE rid = 2 AND seq = 1`);
    const [first = '', bad = '', last = ''] = runs;

    await withStore(path, async (store) => {
      const reading = readAll(store, bad);

      await expect(reading).rejects.toBeInstanceOf(DamagedRunError);
      await expect(reading).rejects.toMatchObject({
        code: 'run_damaged',
        details: { runId: bad, sequence: 1 },
      });
      for (const runId of [first, last]) expect(await readAll(store, runId)).toEqual(privateEvents(0, 4));
    });
    expect(checkSqliteFile(path)).toEqual([
      { check: 'damage', runId: bad, message: 'Event 1 is not what was written.' },
    ]);
  });

  it('is found where two have changed places', async () => {
    const { path, runs } = await writtenFile(`
      UPDATE events SET seq = -1 WHERE rid = 2 AND seq = 1;
      UPDATE events SET seq = 1 WHERE rid = 2 AND seq = 2;
      UPDATE events SET seq = 2 WHERE rid = 2 AND seq = -1`);

    await withStore(path, async (store) => {
      await expect(readAll(store, runs[1] ?? '')).rejects.toMatchObject({ details: { sequence: 1 } });
    });
  });

  it('is found where the record is missing', async () => {
    const { path, runs } = await writtenFile('DELETE FROM events WHERE rid = 2 AND seq = 1');

    await withStore(path, async (store) => {
      await expect(readAll(store, runs[1] ?? '')).rejects.toMatchObject({ details: { sequence: 1 } });
    });
  });

  it('is found when the dictionary that it is spelled with was changed', async () => {
    const { path, runs } = await writtenFile(`UPDATE words SET word = 'walk' WHERE word = 'work'`);

    await withStore(path, async (store) => {
      for (const runId of runs)
        await expect(readAll(store, runId)).rejects.toMatchObject({ details: { sequence: 0 } });
    });
  });
});

describe('a creation record that is not what was written', () => {
  it.each([
    ['inputs', `more = replace(more, '"amount":1', '"amount":7')`],
    ['text that is no JSON any more', 'more = substr(more, 2)'],
    ['principal', 'principal = 1'],
    ['time', 'created_at = created_at + 1'],
  ])('is found by its %s, shown as damaged in lists, and can be removed', async (_what, change) => {
    const { path, runs } = await writtenFile(`UPDATE runs SET ${change}, status = 8 WHERE rid = 2`);
    const bad = runs[1] ?? '';

    await withStore(path, async (store) => {
      expect(await store.readRun(bad, undefined)).toMatchObject({
        isDamaged: true,
        record: { runId: bad, inputs: {} },
      });
      const { rows } = await store.listRuns('acme', {}, { limit: 10 });
      expect(rows.filter(({ isDamaged }) => isDamaged).map(({ record }) => record.runId)).toEqual([bad]);
      expect(rows).toHaveLength(3);

      const unit = { kind: 'purge', tenant: 'acme', runId: bad, at: 1, tombstoneUntil: 2 } as const;
      expect(await store.commit([{ ...unit, batchId: 'b'.repeat(22) }])).toEqual([{ state: 'committed' }]);
      expect((await store.listRuns('acme', {}, { limit: 10 })).rows).toHaveLength(2);
    });
    expect(checkSqliteFile(path)).toEqual([]);
  });
});

describe('the rest of a run that is not what was written', () => {
  it.each([
    ['waiting command', 'UPDATE commands SET body = substr(body, 2) WHERE rid = 2'],
    ['quarantine', 'UPDATE runs SET suspicion = substr(suspicion, 2) WHERE rid = 2'],
    ['status', 'UPDATE runs SET status = 99 WHERE rid = 2'],
  ])('is found by its %s, and others can still be listed and claimed', async (_what, sql) => {
    const { path, runs } = await commandedFile(sql);
    const [first = '', bad = '', last = ''] = runs;
    const reported: string[] = [];

    const store = openSqliteStore({ path, onDamage: (reason) => reported.push(reason) });
    const { rows } = await store.listRuns('acme', {}, { limit: 10 });
    await store.heartbeat('h2', 1_000);
    const claimed = await store.claimDue('h2', 10);

    expect(await store.readRun(bad, undefined)).toMatchObject({ isDamaged: true, record: { runId: bad } });
    expect(rows.filter(({ isDamaged }) => isDamaged).map(({ record }) => record.runId)).toEqual([bad]);
    expect(rows).toHaveLength(3);
    const others = claimed.map(({ runId }) => runId).filter((runId) => runId !== bad);
    expect(others.sort()).toEqual([first, last].sort());
    await expect(store.nextDueAt()).resolves.toBeUndefined();
    await expect(store.ping()).resolves.toBeUndefined();
    expect(reported).toEqual([]);
    await store.close();
  });

  it('is an error that names the run when its inbox is read', async () => {
    const { path, runs } = await commandedFile('UPDATE commands SET body = substr(body, 2) WHERE rid = 1');

    await withStore(path, async (store) => {
      await expect(store.readInbox(runs[0] ?? '')).rejects.toMatchObject({
        code: 'run_damaged',
        details: { runId: runs[0] },
      });
    });
  });
});

describe('the deep check', () => {
  it.each([
    ['creation record is no JSON any more', 'UPDATE runs SET more = substr(more, 2) WHERE rid = 2', 'damage'],
    ['status is unknown', 'UPDATE runs SET status = 99 WHERE rid = 2', 'ending'],
    [
      'quarantine is no JSON any more',
      'UPDATE runs SET suspicion = substr(suspicion, 2) WHERE rid = 2',
      'damage',
    ],
    ['inbox is no JSON any more', 'UPDATE commands SET body = substr(body, 2) WHERE rid = 2', 'damage'],
  ])('names the run whose %s, and continues', async (_what, sql, check) => {
    const { path, runs } = await commandedFile(
      `${sql}; UPDATE events SET at = at + 1 WHERE rid = 3 AND seq = 1`,
    );

    const findings = checkSqliteFile(path);

    expect(findings).toHaveLength(2);
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check, runId: runs[1] }),
        { check: 'damage', runId: runs[2], message: 'Event 1 is not what was written.' },
      ]),
    );
  });
});

describe('a checkpoint that is not what was written', () => {
  it('is not there: the log has it all', async () => {
    const { path, runs } = await writtenFile(`UPDATE checkpoints SET state = '{"nodes":[]}' WHERE rid = 2`);

    await withStore(path, async (store) => {
      expect(await store.readCheckpoint(runs[1] ?? '')).toBeUndefined();
      expect(await store.readCheckpoint(runs[0] ?? '')).toBeDefined();
    });
    expect(checkSqliteFile(path)).toMatchObject([{ check: 'damage', runId: runs[1] }]);
  });
});

describe('rows of an older program', () => {
  it('have no checksum and are read as they are', async () => {
    const { path, runs } = await writtenFile(
      'UPDATE events SET sum = NULL, overlay_sum = NULL; UPDATE runs SET sum = NULL; UPDATE checkpoints SET sum = NULL',
    );

    await withStore(path, async (store) => {
      for (const runId of runs) expect(await readAll(store, runId)).toEqual(privateEvents(0, 4));
    });
    expect(checkSqliteFile(path)).toEqual([]);
  });
});

describe('a file that SQLite finds malformed', () => {
  it('is reported once, ends readiness, and is an outage of what needs the damaged part only', async () => {
    const { path, runs } = await writtenFile();
    const db = openDatabase(path, { busyTimeoutMs: 0 });
    const { rootpage } = db
      .prepare<{ rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = 'events'")
      .get() ?? { rootpage: 0 };
    db.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, (rootpage - 1) * 4_096, (rootpage - 1) * 4_096 + 200);
    writeFileSync(path, bytes);
    const reported: string[] = [];

    const store = openSqliteStore({ path, onDamage: (reason) => reported.push(reason) });
    await expect(store.ping()).resolves.toBeUndefined();
    for (const runId of runs)
      await expect(readAll(store, runId)).rejects.toMatchObject({
        code: 'service_unavailable',
        details: { cause: 'store_damaged' },
      });

    expect(reported).toEqual(['database disk image is malformed']);
    await expect(store.ping()).rejects.toMatchObject({ details: { cause: 'store_damaged' } });
    expect((await store.listRuns('acme', {}, { limit: 10 })).rows).toHaveLength(3);
    await store.close();
  });
});

describe('a run whose id is damaged', () => {
  it('is reported, and left out where others stand next to it', async () => {
    const { path, runs } = await commandedFile(`UPDATE runs SET id = 'none' WHERE rid = 1`);
    const reported: string[] = [];
    const found = 'The id of a run is damaged.';
    expect(checkSqliteFile(path)).toEqual([
      { check: 'damage', message: 'The id of the run in row 1 of the table runs is damaged.' },
    ]);

    const store = openSqliteStore({ path, onDamage: (reason) => reported.push(reason) });
    const listed = await store.listRuns('acme', {}, { limit: 10 });
    expect(listed.rows.map(({ record }) => record.runId).sort()).toEqual(runs.slice(1).sort());
    expect(reported).toEqual([found]);
    await expect(store.ping()).rejects.toMatchObject({ details: { cause: 'store_damaged' } });
    await store.heartbeat('h2', 60_000);
    const claimed = await store.claimDue('h2', 10);
    expect(claimed.map(({ runId }) => runId).sort()).toEqual(runs.slice(1).sort());
    expect((await store.heldBy('h2')).length).toBe(2);
    await store.close();
  });
});

describe('a name of a column whose case has changed', () => {
  it('is found: rows would seem to lack what is in them', async () => {
    const { path } = await writtenFile();
    const bytes = readFileSync(path);
    const at = bytes.indexOf('payload TEXT NOT NULL');
    bytes.write('Payload', at);
    writeFileSync(path, bytes);
    const reported: string[] = [];
    const found = 'The schema is damaged: table events has a column Payload.';

    expect(checkSqliteFile(path)).toEqual([{ check: 'integrity', message: found }]);
    expect(() => openSqliteStore({ path, onDamage: (reason) => reported.push(reason) })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ cause: 'store_damaged' }) }),
    );
    expect(reported).toEqual([found]);
  });
});

describe('a byte that changed somewhere in the file', () => {
  it('is never served as something else: every run is as it was, or an error, or known to be gone', async () => {
    const { path, runs } = await commandedFile();
    const whole = readFileSync(path);
    // Behind the file's header, and where something stands: most of a small file is empty.
    const places = [...whole.keys()].filter((at) => at >= 100 && whole[at] !== 0);
    const seen = { same: 0, error: 0, missing: 0, unopened: 0 };

    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.integer({ min: 0, max: 7 }), async (at, bit) => {
        const copy = newPath();
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        writeFileSync(copy, bytes);
        copyFileSync(`${path}.mark`, `${copy}.mark`);
        // Whatever has happened to the file, this can be asked.
        const before = checkSqliteFile(copy);
        try {
          await withStore(copy, async (store) => {
            await expectListed(store);
            for (const [index, runId] of runs.entries()) {
              const found = await outcomeOf(store, runId, index);
              seen[found] += 1;
              if (found === 'missing') expect(before).not.toEqual([]);
            }
          });
        } catch (error) {
          if (error instanceof Error && error.name === 'AssertionError') throw error;
          seen.unopened += 1;
        }
        for (const end of ['', '.mark', '.lock', '.owner', '-wal', '-shm'])
          rmSync(`${copy}${end}`, { force: true });
      }),
      { numRuns: 400, seed: 12 },
    );

    expect(seen.same).toBeGreaterThan(100);
    expect(seen.error).toBeGreaterThan(50);
  }, 120_000);

  /** Damage to one run, or what only SQLite can find: a list is never broken by one of its rows. */
  async function expectListed(store: Store): Promise<void> {
    try {
      await store.listRuns('acme', {}, { limit: 10 });
      await store.heartbeat('h2', 1_000);
      await store.claimDue('h2', 10);
    } catch (error) {
      expect(error).toMatchObject({ details: { cause: 'store_damaged' } });
    }
  }

  async function outcomeOf(
    store: Store,
    runId: string,
    index: number,
  ): Promise<'same' | 'error' | 'missing'> {
    try {
      const row = await store.readRun(runId, undefined);
      const log = await readAll(store, runId);
      if (row?.isDamaged === true) return 'error';
      if (row === undefined || log.length < 4) return 'missing';
      expect(row.record).toMatchObject({ tenant: 'acme', inputs: { amount: index }, principal: 'ada' });
      expect(log).toEqual(privateEvents(0, 4));
      return 'same';
    } catch (error) {
      if (error instanceof Error && error.name === 'AssertionError') throw error;
      return 'error';
    }
  }
});
