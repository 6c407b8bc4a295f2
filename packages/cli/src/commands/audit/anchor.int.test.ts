import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Outcome, type Served, serveHere, weft } from '../../testing/served.ts';

/** Someone with write access to the database, while no host looks, against the seal that is kept elsewhere. */

interface Database {
  exec(sql: string): void;
  close(): void;
}

// The binding belongs to the storage package; here it plays the intruder.
const storage = createRequire(new URL('../../../../storage/package.json', import.meta.url));
const { DatabaseSync } = storage('@photostructure/sqlite') as {
  DatabaseSync: new (path: string) => Database;
};

let root: string;
let anchor: string;
const served: Served[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'weft-anchor-'));
  await mkdir(join(root, 'safe'));
  anchor = join(root, 'safe', 'audit.anchor');
});
afterEach(async () => {
  for (const host of served.splice(0)) await host.stop();
  await rm(root, { recursive: true, force: true });
});

async function serve(flags: readonly string[] = ['--audit-anchor', anchor]): Promise<Served> {
  const host = await serveHere(root, flags);
  served.push(host);
  return host;
}

const database = (): string => join(root, '.weft', 'weft.db');
const anchored = async (file = anchor): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;

/** Starts a host, records something, stops it: at least one more checkpoint. */
async function lived(flags?: readonly string[]): Promise<void> {
  const host = await serve(flags);
  const created = await weft(root, ['keys', 'create', 'ci', '--scope', 'runs:read']);
  expect(created.code).toBe(0);
  await host.stop();
  served.pop();
}

/** An attacker who can write the file can first remove the triggers that guard the table. */
function tamper(sql: string): void {
  const file = new DatabaseSync(database());
  file.exec('DROP TRIGGER IF EXISTS audit_unchanged; DROP TRIGGER IF EXISTS audit_kept');
  file.exec(sql);
  file.close();
}

const DOCUMENTS = (name: string): string =>
  `documents WHERE collection = (SELECT id FROM words WHERE word = '${name}')`;
const CHAIN = `DELETE FROM ${DOCUMENTS('audit-link')}; DELETE FROM ${DOCUMENTS('audit-checkpoint')};`;
const LAST = (name: string): string =>
  `DELETE FROM documents WHERE ord = (SELECT max(ord) FROM ${DOCUMENTS(name)})`;

const start = (): Promise<Outcome> => weft(root, ['serve', '--port', '0', '--audit-anchor', anchor]);

/** As a restore does it, or an attacker who also replaces the high-water mark. */
async function replaceDatabase(copy: string): Promise<void> {
  await copyFile(join(root, copy), database());
  await rm(`${database()}.mark`);
}

describe('an audit anchor', () => {
  it('holds the last seal outside the database, whole, for its owner, and grows with every checkpoint', async () => {
    await lived();
    const first = await anchored();
    await lived();
    const second = await anchored();

    expect(first).toMatchObject({ format: 'weft-audit-anchor', version: 1, previousRoot: null, number: 0 });
    expect(Number(second['number'])).toBeGreaterThan(0);
    expect(Number(second['sequence'])).toBeGreaterThan(Number(first['sequence']));
    expect((await stat(anchor)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(root, 'safe'))).toEqual(['audit.anchor']);
  });

  it.each([
    [
      'emptied as a whole',
      `DELETE FROM audit; DELETE FROM sqlite_sequence; ${CHAIN}`,
      'no checkpoint at all',
    ],
    [
      'rewritten, to be linked and signed again',
      `UPDATE audit SET actor = 'mallory'; ${CHAIN}`,
      'no checkpoint',
    ],
    ['rid of its last checkpoint', LAST('audit-checkpoint'), 'its last checkpoint is'],
    ['rid of its last links', LAST('audit-link'), 'its chain ends at sequence'],
    [
      'rid of all entries, its chain left as it was',
      'DELETE FROM audit',
      'newest entry of its chain is missing',
    ],
  ])('keeps a host from starting on a log that was %s', async (_, sql, lack) => {
    await lived();
    await lived();
    tamper(sql);

    const refused = await start();

    expect(refused.code).toBe(4);
    expect(refused.err).toContain('The audit log does not hold what was anchored (checkpoint ');
    expect(refused.err).toContain(lack);
    expect(refused.err).toContain('weft audit reanchor --reason');
  });

  it('keeps a host from starting on an older copy of the database', async () => {
    await lived();
    await copyFile(database(), join(root, 'older.db'));
    await lived();
    await replaceDatabase('older.db');

    expect(await start()).toMatchObject({
      code: 4,
      err: expect.stringContaining('its last checkpoint is 0'),
    });
  });

  it('keeps a host from starting on a log whose checkpoints were swapped', async () => {
    await lived();
    await lived();
    await lived();
    const last = Number((await anchored())['number']);
    tamper(`UPDATE documents SET id = 'x' WHERE id = '${last}' AND ord IN (SELECT ord FROM ${DOCUMENTS('audit-checkpoint')});
            UPDATE documents SET id = '${last}' WHERE id = '${last - 1}' AND ord IN (SELECT ord FROM ${DOCUMENTS('audit-checkpoint')});
            UPDATE documents SET id = '${last - 1}' WHERE id = 'x';`);

    expect((await start()).code).toBe(4);
  });

  it('is taken again after a restore, on record with reason and both seals, and the host starts', async () => {
    await lived();
    await copyFile(database(), join(root, 'older.db'));
    await lived();
    await lived();
    const lost = await anchored();
    await replaceDatabase('older.db');

    const unexplained = await weft(root, ['audit', 'reanchor', '--audit-anchor', anchor]);
    const reanchored = await weft(root, [
      ...['audit', 'reanchor', '--audit-anchor', anchor, '--reason', 'disk failed; restored Monday’s backup'],
      '--json',
    ]);
    const now = await anchored();
    await serve();
    const verified = await weft(root, ['audit', 'verify', '--audit-anchor', anchor]);
    await weft(root, ['audit', 'export', '-o', 'log.ndjson']);
    const entry = (await readFile(join(root, 'log.ndjson'), 'utf8'))
      .split('\n')
      .find((line) => line.includes('audit.reanchor'));

    expect(unexplained).toMatchObject({ code: 2, err: expect.stringContaining('--reason') });
    expect(reanchored.code).toBe(0);
    expect(JSON.parse(reanchored.out)).toMatchObject({
      before: { number: lost['number'] },
      after: { number: 1 },
    });
    expect(now).toMatchObject({ number: 1 });
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('intact') });
    expect(JSON.parse(String(entry))).toMatchObject({
      action: 'audit.reanchor',
      details: {
        reason: 'disk failed; restored Monday’s backup',
        anchored: { number: lost['number'], root: lost['root'], seal: lost['seal'] },
        found: { number: 0 },
      },
    });
  });

  it('is not taken again while a host is running, for a folder without a host, or with another audit key', async () => {
    await lived();
    const reanchor = (...more: string[]): Promise<Outcome> =>
      weft(root, ['audit', 'reanchor', '--audit-anchor', anchor, '--reason', 'because', ...more]);
    const elsewhere = await reanchor('--data', 'mistyped');
    const host = await serve();
    const running = await reanchor();
    await host.stop();
    await rm(join(root, '.weft', 'audit.key'));
    const otherKey = await reanchor();
    const started = await start();

    expect(elsewhere).toMatchObject({ code: 3, err: expect.stringContaining('There is no database at') });
    await expect(stat(join(root, 'mistyped'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(running).toMatchObject({ code: 3, err: expect.stringContaining(`process ${process.pid}`) });
    expect(otherKey).toMatchObject({ code: 4, err: expect.stringContaining('another audit key') });
    expect(started).toMatchObject({ code: 4, err: expect.stringContaining('another audit key') });
  });

  it('must hold a seal, and be writable by its owner alone', async () => {
    await lived();
    await chmod(anchor, 0o666);
    const exposed = await start();
    await chmod(anchor, 0o600);
    await writeFile(anchor, '{"format":"weft-audit-anchor"}');
    const broken = await start();
    const nowhere = await weft(root, ['serve', '--port', '0', '--audit-anchor', join(root, 'no', 'such')]);

    expect(exposed).toMatchObject({ code: 4, err: expect.stringContaining('chmod 600') });
    expect(broken).toMatchObject({ code: 4, err: expect.stringContaining('does not hold the seal') });
    expect(nowhere).toMatchObject({ code: 3, err: expect.stringContaining('cannot be written to') });
  });
});

describe('weft audit verify --audit-anchor', () => {
  it('finds a log intact that holds what was anchored, over HTTP and in a file, by the highest of several', async () => {
    await lived();
    await copyFile(anchor, join(root, 'older.anchor'));
    await lived();
    await serve();
    await weft(root, ['audit', 'export', '-o', 'log.ndjson']);

    const live = await weft(root, ['audit', 'verify', '--audit-anchor', `older.anchor,${anchor}`]);
    const file = await weft(root, [
      'audit',
      'verify',
      '--offline',
      'log.ndjson',
      '--audit-anchor',
      anchor,
      '--json',
    ]);

    expect(live).toMatchObject({ code: 0, out: expect.stringContaining('intact') });
    expect(file.code).toBe(0);
    expect(JSON.parse(file.out)).toMatchObject({
      chainValid: true,
      publicKey: (await anchored())['publicKey'],
      problems: [],
    });
  });

  it('finds what a host without an anchor has taken for whole', async () => {
    await lived();
    await lived();
    tamper(`DELETE FROM audit; DELETE FROM sqlite_sequence; ${CHAIN}`);
    await serve([]);
    await weft(root, ['audit', 'export', '-o', 'log.ndjson']);

    const believed = await weft(root, ['audit', 'verify']);
    const live = await weft(root, ['audit', 'verify', '--audit-anchor', anchor]);
    const file = await weft(root, ['audit', 'verify', '--offline', 'log.ndjson', '--audit-anchor', anchor]);

    expect(believed.code).toBe(0);
    expect(live).toMatchObject({ code: 1, out: expect.stringContaining('does not hold what was anchored') });
    expect(file).toMatchObject({ code: 1, out: expect.stringContaining('does not hold what was anchored') });
  });

  it('does not believe a log that was signed with another key', async () => {
    await lived();
    await rm(join(root, '.weft'), { recursive: true });
    await serve([]);

    const other = await weft(root, ['audit', 'verify', '--audit-anchor', anchor]);
    const missing = await weft(root, ['audit', 'verify', '--audit-anchor', 'missing.anchor']);
    const range = await weft(root, ['audit', 'verify', '--audit-anchor', anchor, '--from', '1']);

    expect(other).toMatchObject({ code: 1, out: expect.stringContaining('not sealed with the audit key') });
    expect(missing).toMatchObject({ code: 3, err: expect.stringContaining('There is no anchor at') });
    expect(range.code).toBe(2);
  });
});

describe('a running host', () => {
  it('does not call a log valid that was emptied behind its back, with or without an anchor', async () => {
    await serve([]);
    await vi.waitFor(async () => {
      const { out } = await weft(root, ['audit', 'verify', '--json']);
      expect((JSON.parse(out) as { checkpoints: unknown[] }).checkpoints).not.toEqual([]);
    }, 5_000);
    const before = await weft(root, ['audit', 'verify']);

    tamper(`DELETE FROM audit; ${CHAIN}`);

    expect(before.code).toBe(0);
    expect(await weft(root, ['audit', 'verify'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('tampered with'),
    });
  });
});
