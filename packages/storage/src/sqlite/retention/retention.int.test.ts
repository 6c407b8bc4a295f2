import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Store } from '@weft/engine';
import {
  appendUnit,
  completed,
  createUnit,
  documentUnit,
  event,
  events,
  given,
  newBatchId,
  newRunId,
  START,
} from '@weft/engine/store-contract';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../file/driver.ts';
import { checkSqliteFile, openSqliteStore } from '../index.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';

const { newPath } = testFolder();
const PATIENCE = { timeout: 10_000, interval: 5 };
/** Long enough to lie on pages of its own, too. */
const canary = (mark: string) => `${mark}${'x'.repeat(6_000)}${mark}`;

async function givenRun(store: Store, mark: string): Promise<string> {
  const runId = newRunId();
  await store.heartbeat('h1', 60_000);
  await given(
    store,
    createUnit(runId, {
      holder: 'h1',
      record: { inputs: { name: `in-${mark}` }, tags: ['t'] },
      events: [
        event(0, 'run.started', { overlay: JSON.stringify({ v: canary(`big-${mark}`) }) }),
        event(1, 'node.completed', { overlay: JSON.stringify({ v: `small-${mark}` }) }),
      ],
      checkpoint: { seq: 2, foldVersion: 1, state: JSON.stringify({ v: `state-${mark}` }) },
    }),
    appendUnit(runId, 2, { events: [event(2, 'run.completed')], head: completed }),
    documentUnit('n', { collection: 'annotation', scope: runId, body: JSON.stringify(`note-${mark}`) }),
  );
  return runId;
}

const purge = (runId: string) =>
  ({
    kind: 'purge',
    batchId: newBatchId(),
    tenant: 'acme',
    runId,
    at: START,
    tombstoneUntil: START + 1,
  }) as const;

function isInFile(path: string, text: string): boolean {
  return readFileSync(path).includes(text);
}

async function read(store: Store): Promise<Buffer> {
  const backup = await store.openBackup?.();
  if (backup === undefined) throw new Error('SQLite can be copied');
  const pieces: Uint8Array[] = [];
  for await (const piece of backup.read()) pieces.push(piece);
  await backup.close();
  const bytes = Buffer.concat(pieces);
  expect(bytes.length).toBe(backup.size);
  return bytes;
}

describe('what is taken away', () => {
  it.each(['erase', 'purge'] as const)(
    'by %s is gone from the file, not only from its tables',
    async (kind) => {
      const path = newPath();
      const before = openSqliteStore({ path });
      const runId = await givenRun(before, 'gone');
      await givenRun(before, 'kept');
      await before.close();
      const private_ = ['in', 'big', 'small', 'state'].map((part) => `${part}-gone`);
      for (const text of private_) expect([text, isInFile(path, text)]).toEqual([text, true]);

      const store = openSqliteStore({ path });
      await given(
        store,
        kind === 'purge' ? purge(runId) : { kind, batchId: newBatchId(), tenant: 'acme', runId, at: START },
      );
      await store.close();

      for (const text of private_) expect([text, isInFile(path, text)]).toEqual([text, false]);
      expect(isInFile(path, 'note-gone')).toBe(kind === 'erase');
      for (const text of private_.map((each) => each.replace('gone', 'kept')))
        expect([text, isInFile(path, text)]).toEqual([text, true]);
      expect(checkSqliteFile(path)).toEqual([]);
    },
  );

  it.each(['erase', 'purge'] as const)(
    'by %s is gone from where rows stood before they were moved',
    async (kind) => {
      const path = newPath();
      const store = openSqliteStore({ path });
      const [gone, kept] = [newRunId(), newRunId()];
      await store.heartbeat('h1', 60_000);
      await given(store, createUnit(gone, { holder: 'h1' }), createUnit(kept, { holder: 'h1' }));
      const hidden = JSON.stringify({ v: 'moved-gone' });
      // In turns, so that pages are split between the two again and again.
      for (let seq = 0; seq < 2_000; seq += 10) {
        const log = events(seq, 10).map((each) => ({ ...each, overlay: hidden }));
        await given(
          store,
          appendUnit(kept, seq, { events: events(seq, 10) }),
          appendUnit(gone, seq, { events: log }),
        );
      }
      await given(
        store,
        appendUnit(gone, 2_000, { events: [event(2_000, 'run.completed')], head: completed }),
      );

      await given(
        store,
        kind === 'purge'
          ? purge(gone)
          : { kind, batchId: newBatchId(), tenant: 'acme', runId: gone, at: START },
      );
      await store.close();

      expect(isInFile(path, 'moved-gone')).toBe(false);
    },
  );

  it('leaves a file that passes every check, also when its number is given to the next run', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await givenRun(store, 'first');
    await given(store, purge(await givenRun(store, 'last')));

    const next = await givenRun(store, 'next');

    expect(await store.readEvents(next, 0, 10, 1e6)).toHaveLength(3);
    expect((await store.listRuns('acme', { tag: 't' }, { limit: 9 })).rows).toHaveLength(2);
    expect(checkSqliteFile(path)).toEqual([]);
    await store.close();
  });
});

describe('what is taken away while the store stays open', () => {
  /** In the file, the write-ahead log, and whatever else lies next to it. */
  const isInFolder = (path: string, text: string): boolean =>
    readdirSync(dirname(path))
      .filter((name) => name.startsWith(basename(path)))
      .some((name) => readFileSync(join(dirname(path), name)).includes(text));

  const erase = (runId: string) =>
    ({ kind: 'erase', batchId: newBatchId(), tenant: 'acme', runId, at: START }) as const;

  it.each([
    ['erase', erase],
    ['purge', purge],
  ] as const)('by %s is gone from every file within seconds', async (_kind, unit) => {
    const path = newPath();
    const store = openSqliteStore({ path });
    const runId = await givenRun(store, 'gone');
    expect(isInFolder(path, 'small-gone')).toBe(true);

    await given(store, unit(runId));

    for (const part of ['in', 'big', 'small', 'state'])
      await vi.waitFor(
        () => expect([part, isInFolder(path, `${part}-gone`)]).toEqual([part, false]),
        PATIENCE,
      );
    expect(statSync(`${path}-wal`).size).toBe(0);
    await store.close();
  });

  it('with a document, or because its time has come, is gone as well', async () => {
    const path = newPath();
    const clock = { now: START };
    const store = openSqliteStore({ path, clock: () => clock.now, scrubAfterMs: 5 });
    const expiring = { collection: 'memory', body: '"brief-canary"', expiresAt: START + 1 };
    await given(
      store,
      documentUnit('kept', { body: '"kept-canary"' }),
      documentUnit('gone', { body: '"gone-canary"' }),
      documentUnit('brief', expiring),
    );
    const { body: _body, ...removal } = documentUnit('gone');
    clock.now += 10;

    await given(store, removal);
    await vi.waitFor(() => expect(isInFolder(path, 'gone-canary')).toBe(false), PATIENCE);
    await store.prune();

    await vi.waitFor(() => expect(isInFolder(path, 'brief-canary')).toBe(false), PATIENCE);
    expect(isInFolder(path, 'kept-canary')).toBe(true);
    await store.close();
  });

  it('piece by piece, of a long run, is gone when the last piece is', async () => {
    const path = newPath();
    const store = openSqliteStore({ path, scrubAfterMs: 5 });
    const runId = newRunId();
    await store.heartbeat('h1', 60_000);
    await given(store, createUnit(runId, { holder: 'h1' }));
    for (let seq = 0; seq < 6_000; seq += 1_000) {
      const log = events(seq, 1_000).map((each) => ({ ...each, overlay: '"long-canary"' }));
      await given(
        store,
        appendUnit(runId, seq, seq === 5_000 ? { events: log, head: completed } : { events: log }),
      );
    }

    await given(store, purge(runId));

    await vi.waitFor(() => expect(isInFolder(path, 'long-canary')).toBe(false), PATIENCE);
    await store.close();
  });

  it('in many steps is taken out of the log in one', async () => {
    const path = newPath();
    let scrubs = 0;
    const store = openSqliteStore({ path, faults: { beforeScrub: () => (scrubs += 1) } });
    const runs: string[] = [];
    for (let count = 0; count < 30; count += 1) runs.push(await givenRun(store, `many${count}`));

    for (const runId of runs) await given(store, erase(runId));

    await vi.waitFor(() => expect(isInFolder(path, 'small-many')).toBe(false), PATIENCE);
    expect(scrubs).toBeLessThan(runs.length / 5);
    await store.close();
  });

  it('is gone as soon as it has no reader, without making a caller wait', async () => {
    const path = newPath();
    const delays: string[] = [];
    const store = openSqliteStore({
      path,
      scrubAfterMs: 20,
      onScrubDelayed: (reason) => delays.push(reason),
    });
    const runId = await givenRun(store, 'read');
    const reader = openDatabase(path, { busyTimeoutMs: 0, readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM runs').get();
    await given(store, erase(runId));
    await given(store, documentUnit('later'));

    await vi.waitFor(() => expect(delays).toHaveLength(1), { timeout: 60_000, interval: 50 });
    const meanwhile = isInFolder(path, 'small-read');
    reader.exec('COMMIT');
    reader.close();

    expect(meanwhile).toBe(true);
    await vi.waitFor(() => expect(isInFolder(path, 'small-read')).toBe(false), PATIENCE);
    expect(delays).toEqual(['another connection reads the database']);
    await store.close();
  });

  it('by an owner that was killed is taken out of the log by the next one', async () => {
    const [path, killed] = [newPath(), newPath()];
    const store = openSqliteStore({ path });
    const runId = await givenRun(store, 'left');
    await given(store, erase(runId));
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${killed}${end}`);
    await store.close();
    expect(isInFolder(killed, 'small-left')).toBe(true);

    const next = openSqliteStore({ path: killed });

    await vi.waitFor(() => expect(isInFolder(killed, 'small-left')).toBe(false), PATIENCE);
    await next.close();
  });
});

describe('a long run', () => {
  const LONG = 12_000;

  /** Its values are in the file, and it has been folded in. */
  async function givenLongRun(store: Store): Promise<string> {
    const runId = await givenOpenRun(store);
    for (let seq = 0; seq < LONG; seq += 1_000) {
      const last = seq + 1_000 === LONG;
      const log = events(seq, 1_000).map((each) => ({ ...each, overlay: '"gone-value"' }));
      await given(store, appendUnit(runId, seq, last ? { events: log, head: completed } : { events: log }));
    }
    return runId;
  }

  async function givenOpenRun(store: Store): Promise<string> {
    const runId = newRunId();
    await store.heartbeat('h1', 60_000);
    await given(
      store,
      createUnit(runId, { holder: 'h1', record: { inputs: { name: 'gone-input' }, scopeId: 'gone-scope' } }),
    );
    return runId;
  }

  const rowsOf = (path: string): unknown => {
    const db = openDatabase(path, { busyTimeoutMs: 1_000, readOnly: true });
    try {
      return db
        .prepare('SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM events) AS events')
        .get();
    } finally {
      db.close();
    }
  };

  it('that is purged is gone at once for every reader, and from the file a few ticks later', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    const runId = await givenLongRun(store);

    await given(store, purge(runId));

    expect(await store.readRun(runId, 'acme')).toBeUndefined();
    expect(await store.readRun(runId, undefined)).toBeUndefined();
    expect(await store.readEvents(runId, 0, 10, 1e6)).toEqual([]);
    expect((await store.listRuns('acme', {}, { limit: 9 })).rows).toEqual([]);
    expect((await store.listExpired(undefined, START * 2, { limit: 9 })).rows).toEqual([]);
    expect(checkSqliteFile(path)).toEqual([]);
    await vi.waitFor(() => expect(rowsOf(path)).toEqual({ runs: 0, events: 0 }), PATIENCE);
    await store.close();
    for (const text of ['gone-value', 'gone-input'])
      expect([text, isInFile(path, text)]).toEqual([text, false]);
  });

  it('gives its number to no other run while something of it is left', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await given(store, purge(await givenLongRun(store)));

    const next = await givenOpenRun(store);

    expect(await store.readEvents(next, 0, 10, 1e6)).toEqual([]);
    await given(store, appendUnit(next, 0, { events: events(0, 3) }));
    await vi.waitFor(() => expect(rowsOf(path)).toEqual({ runs: 1, events: 3 }), PATIENCE);
    expect(checkSqliteFile(path)).toEqual([]);
    await store.close();
  });

  it('whose removal was cut short is removed by the next owner of the file', async () => {
    const path = newPath();
    const first = openSqliteStore({ path });
    await given(first, purge(await givenLongRun(first)));
    await first.close();
    expect(rowsOf(path)).toMatchObject({ runs: 1 });
    expect(checkSqliteFile(path)).toEqual([]);
    for (const text of ['gone-scope', 'gone-input'])
      expect([text, isInFile(path, text)]).toEqual([text, false]);

    const second = openSqliteStore({ path });

    await vi.waitFor(() => expect(rowsOf(path)).toEqual({ runs: 0, events: 0 }), PATIENCE);
    await second.close();
  });
});

describe('a backup', () => {
  it('holds everything committed before it was asked for, while writes continue, as one whole file', async () => {
    const store = openSqliteStore({ path: newPath() });
    const runId = await givenRun(store, 'one');
    let seq = 0;
    const busy = newRunId();
    await given(store, createUnit(busy, { holder: 'h1' }));
    const append = async (): Promise<void> => {
      await given(store, appendUnit(busy, seq, { events: events(seq, 5) }));
      seq += 5;
    };
    for (let index = 0; index < 50; index += 1) await append();
    const atLeast = seq;

    let isCopied = false;
    const copying = read(store).finally(() => {
      isCopied = true;
    });
    while (!isCopied) {
      await append();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const copy = newPath();
    writeFileSync(copy, await copying);

    expect(seq).toBeGreaterThan(atLeast);
    expect(checkSqliteFile(copy)).toEqual([]);
    const restored = openSqliteStore({ path: copy });
    expect(await restored.readRun(runId, 'acme')).toMatchObject({ nextSeq: 3 });
    expect((await restored.readRun(busy, 'acme'))?.nextSeq).toBeGreaterThanOrEqual(atLeast);
    await restored.close();
    await store.close();
  });

  it('leaves nothing next to the file, read or not', async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    const names = () => readdirSync(dirname(path)).filter((name) => name.includes('.backup-'));

    const unread = await store.openBackup?.();
    expect(names()).toEqual([]);
    await unread?.close();
    await store.close();
    writeFileSync(`${path}.backup-0123456789abcdef`, 'half written by an owner that was killed');
    const again = openSqliteStore({ path });

    expect(names()).toEqual([]);
    await again.close();
  });

  it('needs no other file next to it', async () => {
    const store = openSqliteStore({ path: newPath() });
    const copy = newPath();
    writeFileSync(copy, await read(store), { mode: 0o400 });
    await store.close();

    const db = openDatabase(copy, { busyTimeoutMs: 0, readOnly: true });

    expect(db.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'delete' });
    db.close();
    expect(
      readdirSync(dirname(copy)).filter((name) => copy.endsWith(name.replace(/-(wal|shm)$/, ''))),
    ).toHaveLength(1);
    expect(statSync(copy).size).toBeGreaterThan(0);
  });
});
