import { readFileSync, writeFileSync } from 'node:fs';
import type { RunHead, StoredEvent } from '@weft/engine';
import {
  type CreateOptions,
  commandUnit,
  createUnit,
  event,
  events,
  forkOptions,
  given,
  newRunId,
  readAll,
} from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './driver.ts';
import { checkSqliteFile, openSqliteStore } from '../index.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';

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
  it('finds that acknowledged commits are missing', async () => {
    const { path } = await givenFile('UPDATE progress SET number = number - 1');

    expect(checkSqliteFile(path)).toMatchObject([
      { check: 'behind', message: expect.stringContaining('lacks the last commit') },
    ]);
  });

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

  it.each([
    ['in a row that is looked up', 'UPDATE events SET at = 4616189618054758400 WHERE rid = 1 AND seq = 1'],
    ['in a list', 'UPDATE runs SET next_seq = 4616189618054758400 WHERE rid = 1'],
  ])('finds a number that no host has written, %s', async (_, sql) => {
    const { path, open } = await givenFile(sql);

    expect(checkSqliteFile(path)).toMatchObject([{ check: 'file' }]);

    const store = openSqliteStore({ path });
    const read = store.readRun(open, undefined).then(() => readAll(store, open));
    await expect(read).rejects.toMatchObject({ details: { cause: 'store_damaged' } });
    await store.close();
  });

  it('finds a log that ended without its head', async () => {
    const { path, ended } = await givenFile('UPDATE runs SET status = 1 WHERE rid = 2');

    expect(checkSqliteFile(path)).toMatchObject([{ check: 'ending', runId: ended }]);
  });

  it('finds events of a run that does not exist', async () => {
    const { path } = await givenFile('DELETE FROM runs WHERE rid = 2');

    expect(checkSqliteFile(path)).toMatchObject([{ check: 'orphan' }]);
  });

  describe('of logs that are whole without beginning at 0, or ending here', () => {
    const failed: RunHead = { status: 'failed', wakeAt: null };
    const imported = { bundleDigest: 'e'.repeat(64), runId: 'r', verified: true };
    const ended: StoredEvent[] = [event(7), event(8, 'run.failed')];

    async function givenRun(options: CreateOptions, sql?: string): Promise<{ path: string; runId: string }> {
      const path = newPath();
      const runId = newRunId();
      const store = openSqliteStore({ path });
      await given(store, createUnit(runId, options));
      await store.close();
      if (sql !== undefined) {
        const db = openDatabase(path, { busyTimeoutMs: 0 });
        db.exec(sql);
        db.close();
      }
      return { path, runId };
    }

    it.each<[string, CreateOptions]>([
      ['a fork with events', forkOptions(7, 3)],
      ['a fork without events', forkOptions(7)],
      ['a fork that ended', { ...forkOptions(7), events: ended, head: failed }],
      ['a fork that took over its source’s end', { ...forkOptions(7), head: failed }],
      ['an import', { record: { imported }, events: [event(0, 'run.failed')], head: failed }],
      [
        'the beginning of an import',
        { record: { imported: { ...imported, totalEvents: 900 } }, events: events(0, 3), head: failed },
      ],
    ])('finds nothing wrong with %s', async (_, options) => {
      const { path } = await givenRun(options);

      expect(checkSqliteFile(path)).toEqual([]);
    });

    it.each([
      ['lost its first event', 'DELETE FROM events WHERE seq = 7', 'sequence'],
      ['lost its last event', 'DELETE FROM events WHERE seq = 9', 'sequence'],
      ['has an event from before its beginning', 'UPDATE events SET seq = 6 WHERE seq = 8', 'sequence'],
      ['ended without its log', 'UPDATE runs SET status = 6', 'ending'],
    ])('finds a fork that %s', async (_, sql, check) => {
      const { path, runId } = await givenRun(forkOptions(7, 3), sql);

      expect(checkSqliteFile(path)[0]).toMatchObject({ check, runId });
    });

    it('finds an import that is all here and ended without its log', async () => {
      const record = { imported: { ...imported, totalEvents: 3 } };
      const { path, runId } = await givenRun({ record, events: events(0, 3), head: failed });

      expect(checkSqliteFile(path)).toMatchObject([{ check: 'ending', runId }]);
    });
  });

  it('finds a damaged page', async () => {
    const { path } = await givenFile();
    const bytes = readFileSync(path);
    bytes.fill(0xff, bytes.length - 4_096 * 3, bytes.length - 4_096);
    writeFileSync(path, bytes);

    expect(checkSqliteFile(path).length).toBeGreaterThan(0);
  });

  it('reports a file of another program', () => {
    const path = newPath();
    writeFileSync(path, 'nothing of the kind '.repeat(500));

    expect(checkSqliteFile(path)).toMatchObject([{ check: 'file' }]);
    expect(checkSqliteFile(newPath())).toMatchObject([{ check: 'file' }]);
  });
});
