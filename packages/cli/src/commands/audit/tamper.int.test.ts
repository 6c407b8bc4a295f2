import { generateKeyPairSync } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditVerification, createExportVerifier, createHost, type Host, type Log } from '@weft/engine';
import { openSqliteStore } from '@weft/storage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/** Someone with write access to the database file, against the chain that lies in the same file. */

interface Database {
  exec(sql: string): void;
  close(): void;
}

// The binding belongs to the storage package; here it plays the intruder.
const storage = createRequire(new URL('../../../../storage/package.json', import.meta.url));
const { DatabaseSync } = storage('@photostructure/sqlite') as {
  DatabaseSync: new (path: string) => Database;
};

const { privateKey } = generateKeyPairSync('ed25519');
const ENTRIES = 40;
const NEWEST = Number.MAX_SAFE_INTEGER;

let root: string;
let intact: string;
let path: string;
let copies = 0;

async function withHost<Value>(file: string, use: (host: Host) => Promise<Value>): Promise<Value> {
  const store = openSqliteStore({ path: file });
  try {
    return await use(createHost({ store, version: '0.0.0-test', auditKey: privateKey }));
  } finally {
    await store.close();
  }
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'weft-tamper-'));
  intact = join(root, 'intact.db');
  await withHost(intact, async (host) => {
    await host.start();
    for (let index = 0; index < ENTRIES; index += 1) {
      const entry = { tenant: 'default', actor: 'alice', action: 'test.act', target: `t${index}` };
      await host.audit.record(index % 2 === 0 ? entry : { ...entry, details: { index } });
    }
    await host.stop(1_000);
  });
});

afterAll(() => rm(root, { recursive: true, force: true }));

beforeEach(async () => {
  copies += 1;
  path = join(root, `copy-${copies}.db`);
  await copyFile(intact, path);
});

/** An attacker who can write the file can first remove the triggers that guard the table. */
function tamper(sql: string): void {
  const database = new DatabaseSync(path);
  database.exec('DROP TRIGGER IF EXISTS audit_unchanged; DROP TRIGGER IF EXISTS audit_kept');
  database.exec(sql);
  database.close();
}

/** What a host says that has not linked anything since. */
const verified = (fromSeq = 0, toSeq = NEWEST): Promise<AuditVerification> =>
  withHost(path, (host) => host.audit.verify(fromSeq, toSeq));

const touched = (found: AuditVerification): number[] => found.anomalies.map(({ atSeq }) => atSeq);

describe('an audit log on SQLite', () => {
  it.each(['UPDATE audit SET actor = 1', 'DELETE FROM audit'])('refuses %s', (sql) => {
    const database = new DatabaseSync(path);

    expect(() => database.exec(sql)).toThrow(/audit entries are never/);

    database.close();
  });

  it('is intact when nothing was changed', async () => {
    expect(await verified()).toMatchObject({
      toSeq: ENTRIES - 1,
      chainValid: true,
      checkpointsValid: true,
      anomalies: [],
    });
  });

  it.each([
    ['at', 'at + 1'],
    ['tenant', "'other'"],
    ['actor', "'mallory'"],
    ['action', "'test.nothing'"],
    ['target', "'elsewhere'"],
    ['details', `'{"index":99}'`],
    ['details', 'NULL'],
    ['details', "'{broken'"],
  ])('shows that %s of a row became %s', async (column, value) => {
    tamper(`UPDATE audit SET ${column} = ${value} WHERE id = 10`);

    const found = await verified();

    expect(found).toMatchObject({ chainValid: false, checkpointsValid: true });
    expect(touched(found)).toEqual([10]);
  });

  it('shows that the id of a row was changed', async () => {
    tamper('UPDATE audit SET id = -3 WHERE id = 10');

    expect(touched(await verified())).toEqual([0, 10]);
  });

  it.each([
    ['first', 1],
    ['one in the middle', 17],
    ['last', ENTRIES],
  ])('shows that a row was removed: the %s', async (_, id) => {
    tamper(`DELETE FROM audit WHERE id = ${id}`);

    const found = await verified();

    expect(found.chainValid).toBe(false);
    expect(touched(found)).toEqual([id]);
  });

  it('shows that two rows were swapped', async () => {
    tamper(`UPDATE audit SET id = 1000 WHERE id = 5;
            UPDATE audit SET id = 5 WHERE id = 9;
            UPDATE audit SET id = 9 WHERE id = 1000;`);

    expect(touched(await verified())).toEqual([5, 9]);
  });

  it('shows that a row was put between others', async () => {
    tamper('DELETE FROM audit WHERE id = 20');
    tamper(
      `INSERT INTO audit (id, at, tenant, actor, action, target) VALUES (20, 1, 'default', 'x', 'y', 'z')`,
    );

    expect(touched(await verified())).toEqual([20]);
  });

  it('does not count a row that was appended by hand as proven: it stands outside the chain', async () => {
    tamper(`INSERT INTO audit (at, tenant, actor, action, target) VALUES (1, 'default', 'x', 'y', 'z')`);

    const verifier = createExportVerifier();
    await withHost(path, async (host) => {
      for (let cursor: string | undefined, isMore = true; isMore; isMore = cursor !== undefined) {
        const page = await host.audit.export(cursor);
        for (const line of page.lines) verifier.line(JSON.stringify(line));
        cursor = page.nextCursor;
      }
    });

    expect(verifier.end()).toMatchObject({ entries: ENTRIES + 1, pending: 1 });
    expect(await verified()).toMatchObject({ toSeq: ENTRIES - 1, chainValid: true });
  });

  it('warns at the start about entries that no host has left behind', async () => {
    tamper(`INSERT INTO audit (at, tenant, actor, action, target) VALUES (1, 'default', 'x', 'y', 'z')`);
    const store = openSqliteStore({ path });
    const warnings: object[] = [];
    const log: Log = (level, fields) => level === 'warn' && warnings.push(fields);
    const host = createHost({ store, version: '0.0.0-test', auditKey: privateKey, log });

    await host.start();
    await host.stop(1_000);
    await store.close();

    expect(warnings).toEqual([{ fromId: ENTRIES + 1 }]);
  });

  it('shows a change only to who asks for its range', async () => {
    tamper("UPDATE audit SET actor = 'mallory' WHERE id = 10");

    expect(await verified(0, 5)).toMatchObject({ chainValid: true, anomalies: [] });
    expect(touched(await verified(9, 9))).toEqual([10]);
    expect(touched(await verified(10, 12))).toEqual([10]);
    expect(await verified(20, NEWEST)).toMatchObject({ chainValid: true, checkpointsValid: true });
  });

  it('shows that rows and links were rewritten together, by the signatures', async () => {
    tamper("UPDATE audit SET actor = 'mallory' WHERE id = 10");
    const collection = (name: string): string => `collection = (SELECT id FROM words WHERE word = '${name}')`;
    tamper(`DELETE FROM documents WHERE ${collection('audit-link')}`);
    // A host without the key links everything again, as the intruder would.
    const store = openSqliteStore({ path });
    const forger = createHost({ store, version: '0.0.0-test' });
    await forger.start();
    await forger.stop(1_000);
    await store.close();

    const found = await verified();

    expect(found).toMatchObject({ chainValid: false, checkpointsValid: false, anomalies: [] });
  });

  it('continues after a restart, in one chain', async () => {
    await withHost(path, async (host) => {
      await host.start();
      await host.audit.record({ tenant: 'default', actor: 'alice', action: 'test.act', target: 'later' });
      await host.stop(1_000);
    });

    const found = await verified();

    expect(found).toMatchObject({ toSeq: ENTRIES, chainValid: true, checkpointsValid: true });
    expect(found.checkpoints.at(-1)?.atSequence).toBe(ENTRIES);
  });
});
