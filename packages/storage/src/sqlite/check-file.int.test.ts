import { readFileSync, writeFileSync } from 'node:fs';
import { commandUnit, createUnit, event, events, given, newRunId } from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './driver.ts';
import { checkSqliteFile, openSqliteStore } from './index.ts';
import { testFolder } from './sqlite-test-folder.ts';

const { newPath } = testFolder();

async function givenFile(sql?: string): Promise<{ path: string; open: string; ended: string }> {
  const path = newPath();
  const [open, ended] = [newRunId(), newRunId()];
  const store = openSqliteStore({ path });
  await given(
    store,
    createUnit(open, { events: events(0, 3) }),
    commandUnit(open, 'c1'),
    createUnit(ended, {
      events: [event(0), event(1, 'run.failed')],
      head: { status: 'failed', wakeAt: null },
    }),
  );
  await store.close();
  if (sql !== undefined) {
    const db = openDatabase(path, { busyTimeoutMs: 0 });
    db.exec(sql);
    db.close();
  }
  return { path, open, ended };
}

describe('the deep check of an SQLite file', () => {
  it('finds nothing wrong with a file of ours, also while its owner has it open', async () => {
    const { path } = await givenFile();
    expect(checkSqliteFile(path)).toEqual([]);

    const store = openSqliteStore({ path });
    expect(checkSqliteFile(path)).toEqual([]);
    await store.close();
  });

  it.each([
    ['a missing event', 'DELETE FROM events WHERE rid = 1 AND seq = 1', 'sequence'],
    ['a head behind its log', 'UPDATE runs SET next_seq = 2 WHERE rid = 1', 'sequence'],
    ['a head that ended without its log', 'UPDATE runs SET status = 6 WHERE rid = 1', 'ending'],
    ['a miscounted inbox', 'UPDATE runs SET inbox = 0 WHERE rid = 1', 'inbox'],
  ])('finds %s and names the run', async (_, sql, check) => {
    const { path, open } = await givenFile(sql);

    expect(checkSqliteFile(path)).toMatchObject([{ check, runId: open }]);
  });

  it('finds a log that ended without its head', async () => {
    const { path, ended } = await givenFile('UPDATE runs SET status = 1 WHERE rid = 2');

    expect(checkSqliteFile(path)).toMatchObject([{ check: 'ending', runId: ended }]);
  });

  it('finds events of a run that does not exist', async () => {
    const { path } = await givenFile('DELETE FROM runs WHERE rid = 2');

    expect(checkSqliteFile(path)).toMatchObject([{ check: 'orphan' }]);
  });

  it('finds a damaged page', async () => {
    const { path } = await givenFile();
    const bytes = readFileSync(path);
    bytes.fill(0xff, bytes.length - 4_096 * 3, bytes.length - 4_096);
    writeFileSync(path, bytes);

    expect(checkSqliteFile(path).length).toBeGreaterThan(0);
  });

  it('finds that a file is none of ours', () => {
    const path = newPath();
    writeFileSync(path, 'nothing of the kind '.repeat(500));

    expect(checkSqliteFile(path)).toMatchObject([{ check: 'file' }]);
    expect(checkSqliteFile(newPath())).toMatchObject([{ check: 'file' }]);
  });
});
