import { readFileSync, writeFileSync } from 'node:fs';
import type { Database } from './driver.ts';
import { openDatabase, SQLITE_BUSY, sqliteCode } from './driver.ts';
import { type Owner, StoreInUseError } from './errors.ts';

/**
 * One process owns a store file. The lock is an open write transaction on an empty database next to it: the operating
 * system ends it with the process, so a killed owner leaves nothing stale. Who the owner is stands in a second file, because
 * reading or closing the locked one by other means would drop the lock (POSIX locks belong to the process, not the handle).
 */
export function takeOwnership(path: string): () => void {
  const lock = openLock(path);
  try {
    lock.exec('BEGIN IMMEDIATE');
  } catch (error) {
    lock.close();
    throw sqliteCode(error) === SQLITE_BUSY ? new StoreInUseError(path, readOwner(path)) : error;
  }
  const owner: Owner = { pid: process.pid, startedAt: new Date().toISOString() };
  writeFileSync(`${path}.owner`, JSON.stringify(owner), { mode: 0o600 });
  return () => lock.close();
}

function openLock(path: string): Database {
  try {
    return openDatabase(`${path}.lock`, { busyTimeoutMs: 0 });
  } catch (cause) {
    throw new Error(
      `${path}.lock cannot be opened. The folder must exist, and this user must be able to write there.`,
      { cause },
    );
  }
}

/** The note is a courtesy: when it is missing or half written, the error just names no owner. */
function readOwner(path: string): Owner | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(`${path}.owner`, 'utf8'));
    return isOwner(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

function isOwner(note: unknown): note is Owner {
  return (
    typeof note === 'object' &&
    note !== null &&
    'pid' in note &&
    typeof note.pid === 'number' &&
    'startedAt' in note &&
    typeof note.startedAt === 'string'
  );
}
