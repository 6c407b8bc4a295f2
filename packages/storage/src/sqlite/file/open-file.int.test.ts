import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { appendUnit, createUnit, events, given, newRunId, readAll } from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './driver.ts';
import { NotAStoreError, openSqliteStore, StoreInUseError, StoreTooNewError } from '../index.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import { openFile } from './open-file.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';

const { newPath } = testFolder();
const DRIVER = createRequire(import.meta.url).resolve('@photostructure/sqlite');

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('opening an SQLite file', () => {
  it('commits through a write-ahead log that is synced with every commit', () => {
    const db = openFile({ path: newPath(), busyTimeoutMs: 0, maxPageCount: undefined });

    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    expect(db.prepare('PRAGMA fullfsync').get()).toEqual({ fullfsync: 1 });
    db.close();
  });

  it('refuses where the settings cannot be had', () => {
    const attempt = () => openFile({ path: ':memory:', busyTimeoutMs: 0, maxPageCount: undefined });

    expect(attempt).toThrow(/journal_mode = memory where wal was set/);
  });

  it('finds everything again after the file was closed and opened', async () => {
    const path = newPath();
    const runId = newRunId();
    const first = openSqliteStore({ path });
    await given(first, createUnit(runId, { holder: 'h1', events: events(0, 3) }));
    await first.close();

    const second = openSqliteStore({ path });

    expect(await readAll(second, runId)).toEqual(events(0, 3));
    await second.close();
    await second.close();
  });

  it('leaves a closed file whole without its write-ahead log', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await given(store, createUnit(newRunId(), { events: events(0, 50) }));

    await store.close();

    expect(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0).toBe(0);
  });

  it('frees the claims of the owner before, without waiting for their deadline', async () => {
    const path = newPath();
    const runId = newRunId();
    const first = openSqliteStore({ path });
    await first.heartbeat('h1', 1_000_000);
    await given(first, createUnit(runId, { holder: 'h1' }));
    await first.close();

    const second = openSqliteStore({ path });
    await second.heartbeat('h2', 1_000_000);

    expect(await second.claimDue('h2', 10)).toMatchObject([{ runId, epoch: 2 }]);
    expect(await second.commit([appendUnit(runId, 0, { epoch: 1 })])).toEqual([
      { state: 'refused', reason: 'stale_epoch' },
    ]);
    await second.close();
  });

  it('says so when the file is not a database', () => {
    const path = newPath();
    writeFileSync(path, 'Dear diary, '.repeat(1_000));

    const error = thrownBy(() => openSqliteStore({ path }));

    expect(error).toBeInstanceOf(NotAStoreError);
    expect(error).toMatchObject({ message: expect.stringContaining(path) });
    expect(readFileSync(path, 'utf8')).toContain('Dear diary');
  });

  it('leaves the database of another program alone', () => {
    const path = newPath();
    const other = openDatabase(path, { busyTimeoutMs: 0 });
    other.exec('CREATE TABLE diary (entry TEXT)');
    other.close();

    expect(() => openSqliteStore({ path })).toThrow(NotAStoreError);
    expect(() => openSqliteStore({ path })).toThrow(/another program/);
  });

  it('names both versions when the file was written by a newer program', async () => {
    const path = newPath();
    await openSqliteStore({ path }).close();
    const newer = openDatabase(path, { busyTimeoutMs: 0 });
    newer.exec('PRAGMA user_version = 99');
    newer.close();

    const error = thrownBy(() => openSqliteStore({ path }));

    expect(error).toBeInstanceOf(StoreTooNewError);
    expect(error).toMatchObject({
      found: 99,
      supported: SCHEMA_VERSION,
      message: expect.stringMatching(new RegExp(`99.* ${SCHEMA_VERSION}\\. Upgrade`)),
    });
  });

  it('makes a file that only its user can read', async () => {
    const path = newPath();

    const store = openSqliteStore({ path });

    expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(`${path}-wal`).mode & 0o077).toBe(0);
    await store.close();
  });

  it('says what is needed when the folder is not there', () => {
    expect(() => openSqliteStore({ path: `${newPath()}/missing/store.db` })).toThrow(/The folder must exist/);
  });

  it('can be tried again after a failure', async () => {
    const path = newPath();
    writeFileSync(path, 'x'.repeat(5_000));
    expect(() => openSqliteStore({ path })).toThrow(NotAStoreError);

    writeFileSync(path, '');

    await openSqliteStore({ path }).close();
  });
});

describe('the owner of an SQLite file', () => {
  it('keeps a second opener out, inside one process too, and is named to it', async () => {
    const path = newPath();
    const first = openSqliteStore({ path });

    const error = thrownBy(() => openSqliteStore({ path }));

    expect(error).toBeInstanceOf(StoreInUseError);
    expect(error).toMatchObject({
      owner: { pid: process.pid },
      message: expect.stringContaining(`process ${process.pid}`),
    });
    await first.close();
    await openSqliteStore({ path }).close();
  });

  it('keeps another process out', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    const script = `
      const { DatabaseSync } = require(${JSON.stringify(DRIVER)});
      try { new DatabaseSync(${JSON.stringify(`${path}.lock`)}, { timeout: 0 }).exec('BEGIN IMMEDIATE'); console.log('in'); }
      catch (error) { console.log(error.errcode); }`;

    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);

    expect(stdout.trim()).toBe('5');
    await store.close();
  });

  it('leaves no stale lock when it is killed', async () => {
    const path = newPath();
    const script = `
      const { DatabaseSync } = require(${JSON.stringify(DRIVER)});
      globalThis.lock = new DatabaseSync(${JSON.stringify(`${path}.lock`)}, { timeout: 0 });
      globalThis.lock.exec('BEGIN IMMEDIATE');
      require('node:fs').writeFileSync(${JSON.stringify(`${path}.owner`)}, JSON.stringify({ pid: process.pid, startedAt: 'then' }));
      console.log('locked');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(() => openSqliteStore({ path })).toThrow(`process ${child.pid}, which opened it at then`);

    child.kill('SIGKILL');
    await once(child, 'exit');

    await openSqliteStore({ path }).close();
  });
});
