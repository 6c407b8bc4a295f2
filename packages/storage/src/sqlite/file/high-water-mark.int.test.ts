import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { AuditEntry, Store } from '@weft/engine';
import { createUnit, events, given, newRunId } from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { openSqliteStore, StoreBehindError, type StoreLoss } from '../index.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';

const { newPath } = testFolder();

const FILES = ['', '-wal', '.mark'];

async function commit(store: Store, count: number): Promise<string[]> {
  const runs = Array.from({ length: count }, () => newRunId());
  for (const runId of runs) await given(store, createUnit(runId, { events: events(0, 4) }));
  return runs;
}

/** The files as a killed process leaves them, with 20 commits in the write-ahead log. */
async function killedStore(): Promise<string> {
  const [path, copy] = [newPath(), newPath()];
  const store = openSqliteStore({ path, clock: () => Date.UTC(2030, 0, 1) });
  await commit(store, 20);
  for (const end of FILES) copyFileSync(`${path}${end}`, `${copy}${end}`);
  await store.close();
  return copy;
}

function lossOn(path: string): StoreLoss {
  try {
    openSqliteStore({ path });
  } catch (error) {
    if (error instanceof StoreBehindError) return error.loss;
    throw error;
  }
  throw new Error('the store was opened');
}

describe('the high-water mark of an SQLite store', () => {
  it('lets a store be opened that a killed process has left, as often as one likes (S-13)', async () => {
    const path = await killedStore();

    for (let round = 0; round < 3; round += 1) {
      const store = openSqliteStore({ path });
      await commit(store, 1);
      await store.close();
    }
  });

  it.each([
    ['missing', (wal: string) => rmSync(wal), 20],
    ['empty', (wal: string) => truncateSync(wal, 0), 20],
    ['cut off', (wal: string) => truncateSync(wal, Math.floor(statSync(wal).size / 2)), undefined],
    ['damaged in the middle', (wal: string) => flip(wal, Math.floor(statSync(wal).size / 2)), undefined],
  ])(
    'refuses a database whose write-ahead log is %s, and says what is missing (S-12)',
    async (_how, harm, missing) => {
      const path = await killedStore();
      harm(`${path}-wal`);

      const loss = lossOn(path);

      expect(loss).toMatchObject({ reason: 'commits_missing', acknowledgedAt: Date.UTC(2030, 0, 1) });
      if (loss.reason !== 'commits_missing') throw new Error(loss.reason);
      expect(loss.missingCommits).toBeGreaterThan(0);
      if (missing !== undefined) expect(loss.missingCommits).toBe(missing);
      expect(() => openSqliteStore({ path })).toThrow(
        `lacks the last ${loss.missingCommits} commits that were acknowledged`,
      );
    },
  );

  it('changes nothing when it refuses: with the write-ahead log put back everything is there', async () => {
    const path = await killedStore();
    const wal = readFileSync(`${path}-wal`);
    truncateSync(`${path}-wal`, Math.floor(wal.length / 2));
    const before = FILES.map((end) => readFileSync(`${path}${end}`));
    expect(lossOn(path).reason).toBe('commits_missing');
    expect(FILES.map((end) => readFileSync(`${path}${end}`))).toEqual(before);

    // Under another name, because this process may still have the other one's index of the log in memory.
    const repaired = newPath();
    for (const end of FILES) copyFileSync(`${path}${end}`, `${repaired}${end}`);
    writeFileSync(`${repaired}-wal`, wal);

    const store = openSqliteStore({ path: repaired });
    expect((await store.listRuns('acme', {}, { limit: 100 })).rows).toHaveLength(20);
    await store.close();
  });

  it.each([
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => truncateSync(path, 0)],
  ])('does not take a database that is %s for a new one', async (_how, harm) => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await commit(store, 3);
    await store.close();
    harm(path);

    expect(lossOn(path).reason).toBe('database_missing');
    expect(existsSync(path) ? statSync(path).size : 0).toBe(0);
  });

  it('refuses another history of the same length', async () => {
    const path = newPath();
    const first = openSqliteStore({ path });
    await commit(first, 2);
    await first.close();
    const backup = readFileSync(path);
    const second = openSqliteStore({ path });
    await commit(second, 1);
    await second.close();
    const other = newPath();
    writeFileSync(other, backup);
    const elsewhere = openSqliteStore({ path: other });
    await commit(elsewhere, 1);
    await elsewhere.close();

    copyFileSync(other, path);

    expect(lossOn(path).reason).toBe('other_history');
  });

  it('needs one readable half, and is refused when both are unreadable (S-14)', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await commit(store, 3);
    await store.close();

    flip(`${path}.mark`, 20);
    await openSqliteStore({ path }).close();
    flip(`${path}.mark`, 4_096 + 20);

    expect(lossOn(path)).toEqual({ reason: 'mark_unreadable' });
  });

  it('continues from what is there when the loss is accepted, and keeps who accepted it', async () => {
    const path = await killedStore();
    rmSync(`${path}-wal`);
    const accepted: StoreLoss[] = [];

    const store = openSqliteStore({ path, acceptLoss: acceptance((loss) => accepted.push(loss)) });
    const runs = await commit(store, 1);
    await store.close();

    expect(accepted).toMatchObject([{ reason: 'commits_missing', missingCommits: 20 }]);
    const later = openSqliteStore({ path });
    expect(await later.readAudit(0, 10)).toMatchObject([{ action: 'store.accept_loss', actor: 'operator' }]);
    expect((await later.listRuns('acme', {}, { limit: 100 })).rows.map(({ record }) => record.runId)).toEqual(
      runs,
    );
    await later.close();
  });

  it.each([
    ['one commit is missing', (path: string) => cutLastCommit(path)],
    ['many are missing', (path: string) => rmSync(`${path}-wal`)],
  ])('is not given up when %s and it cannot be recorded that this is accepted', async (_what, harm) => {
    const path = await killedStore();
    harm(path);
    const before = lossOn(path);

    const faults = {
      beforeCommit: () => {
        throw new Error('cut off');
      },
    };
    expect(() => openSqliteStore({ path, acceptLoss: acceptance(), faults })).toThrow('cut off');

    expect(lossOn(path)).toEqual(before);
  });

  it('is not needed to know that a database was here, where the folder tells', () => {
    const path = newPath();

    expect(() => openSqliteStore({ path, isExpected: true })).toThrow(StoreBehindError);
    expect(existsSync(path)).toBe(false);
    expect(() => openSqliteStore({ path, isExpected: true })).toThrow('is missing or empty');
    writeFileSync(path, '');
    expect(() => openSqliteStore({ path, isExpected: true })).toThrow('is missing or empty');
  });

  it('is made again where only the database was copied', async () => {
    const [path, copy] = [newPath(), newPath()];
    const store = openSqliteStore({ path });
    await commit(store, 3);
    await store.close();
    copyFileSync(path, copy);

    const copied = openSqliteStore({ path: copy });
    await commit(copied, 1);
    await copied.close();

    await openSqliteStore({ path: copy }).close();
  });
});

function acceptance(onLoss: (loss: StoreLoss) => void = () => undefined) {
  return (loss: StoreLoss): AuditEntry => {
    onLoss(loss);
    return { at: 1, tenant: 'acme', actor: 'operator', action: 'store.accept_loss', target: 'weft.db' };
  };
}

/** Without its last frame the last commit does not count. */
function cutLastCommit(path: string): void {
  truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - FRAME_BYTES);
}

const FRAME_BYTES = 24 + 4_096;

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 0x40;
  writeFileSync(file, bytes);
}
