import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  appendUnit,
  blobUnit,
  createUnit,
  documentUnit,
  event,
  given,
  newBatchId,
  newRunId,
  readAll,
  recordOf,
  START,
} from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { batchBytes, runIdBytes } from '../runs/codec.ts';
import type { Database } from './driver.ts';
import { openDatabase } from './driver.ts';
import { checkSqliteFile, openSqliteStore } from '../index.ts';
import { SCHEMA_VERSION, schemaVersion } from './migrations.ts';
import { migration0001 } from './migrations/0001-initial.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';

const { newPath } = testFolder();

function inFile<Result>(path: string, act: (db: Database) => Result): Result {
  const db = openDatabase(path, { busyTimeoutMs: 0 });
  try {
    return act(db);
  } finally {
    db.close();
  }
}

/** A file as the first version left it: one open run with two events and a command, one idempotency record. */
function givenFirstVersion(): { path: string; runId: string } {
  const path = newPath();
  const runId = newRunId();
  const { workflowVersion, definitionDigest, transport, engineVersion, limits } = recordOf(runId);
  const origin = JSON.stringify({ workflowVersion, definitionDigest, transport, engineVersion, limits });
  inFile(path, (db) => {
    db.exec(`PRAGMA journal_mode = wal; BEGIN; ${migration0001.sql}; PRAGMA user_version = 1; COMMIT`);
    const strings = ['acme', 'greet', origin, 'node.completed', 'POST /v1/runs'];
    for (const word of strings) db.prepare('INSERT INTO words (word) VALUES (?)').run(word);
    db.prepare(
      `INSERT INTO runs (id, tenant, workflow, origin, created_at, status, next_seq, epoch, due_at, wake_at, inbox,
         last_batch, more) VALUES (?, 1, 2, 3, ?, 1, 2, 1, 0, 0, 1, ?, '{"tags":["old"]}')`,
    ).run(runIdBytes(runId) ?? null, START, batchBytes(newBatchId()));
    db.exec(`INSERT INTO run_tags VALUES (1, 'old', ${START}, 1)`);
    const insertEvent = db.prepare('INSERT INTO events (rid, seq, type, at, payload) VALUES (1, ?, 4, ?, ?)');
    for (const seq of [0, 1]) insertEvent.run(seq, seq, `{"n":${seq}}`);
    db.exec(
      `INSERT INTO commands (rid, id, accepted_at, body) VALUES (1, 'c1', ${START}, '{"type":"cancel"}')`,
    );
    db.exec(`INSERT INTO idempotency (tenant, operation, key_hash, request_digest, expires_at, status, answer)
      VALUES (1, 5, x'${'aa'.repeat(32)}', x'${'bb'.repeat(32)}', ${START + 10}, 201, '{}')`);
  });
  return { path, runId };
}

function schemaOf(path: string): unknown[] {
  return inFile(path, (db) => [
    schemaVersion(db),
    ...db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all(),
  ]);
}

describe('a file of the first version', () => {
  it('is brought to the schema of a new file', async () => {
    const { path } = givenFirstVersion();
    const fresh = newPath();

    await openSqliteStore({ path }).close();
    await openSqliteStore({ path: fresh }).close();

    expect(schemaOf(path)).toEqual(schemaOf(fresh));
    expect(schemaOf(path)[0]).toBe(SCHEMA_VERSION);
    expect(SCHEMA_VERSION).toBeGreaterThan(1);
  });

  it('loses the secret that signed links, also from its bytes', async () => {
    const { path } = givenFirstVersion();
    const secret = 'canary-of-the-link-secret';
    inFile(path, (db) => db.exec(`INSERT INTO settings VALUES ('links.secret', '${secret}')`));
    const inAnyFile = (): boolean =>
      readdirSync(dirname(path))
        .filter((name) => name.startsWith(basename(path)))
        .some((name) => readFileSync(join(dirname(path), name)).includes(secret));
    expect(inAnyFile()).toBe(true);

    await openSqliteStore({ path }).close();

    expect(inAnyFile()).toBe(false);
  });

  it('keeps what it holds, and continues from there', async () => {
    const { path, runId } = givenFirstVersion();

    const store = openSqliteStore({ path, clock: () => START });

    expect(await readAll(store, runId)).toEqual([event(0), event(1)]);
    expect(await store.readRun(runId, 'acme')).toMatchObject({
      record: recordOf(runId, { tags: ['old'] }),
      nextSeq: 2,
      pendingCommands: ['cancel'],
    });
    expect(await store.readIdempotency('acme', 'POST /v1/runs', 'aa'.repeat(32))).toMatchObject({
      response: { status: 201, body: '{}' },
    });
    await store.heartbeat('h1', 1_000);
    expect(await store.claimDue('h1', 5)).toMatchObject([{ runId, epoch: 2 }]);
    const child = newRunId();
    const notify = [{ runId, commandId: 'n1', command: { type: 'resume' } }] as const;
    await given(
      store,
      appendUnit(runId, 2, { epoch: 2 }),
      createUnit(child, { notify }),
      documentUnit('a', { scope: runId }),
      blobUnit(runId, 0),
    );
    expect((await store.readInbox(runId)).map(({ commandId }) => commandId)).toEqual(['c1', 'n1']);
    expect((await store.listDocuments('acme', 'notes', runId, { limit: 5 })).rows).toHaveLength(1);
    expect(await store.readBlob('acme', runId, 'report', 0)).toBeDefined();
    await store.close();
    expect(checkSqliteFile(path)).toEqual([]);
  });

  it('is opened a second time without a change', async () => {
    const { path } = givenFirstVersion();
    await openSqliteStore({ path }).close();
    const before = schemaOf(path);

    await openSqliteStore({ path }).close();

    expect(schemaOf(path)).toEqual(before);
  });

  it('is found whole by the deep check before it is migrated', () => {
    const { path } = givenFirstVersion();

    expect(checkSqliteFile(path)).toEqual([]);
    expect(schemaOf(path)[0]).toBe(1);
  });
});
