import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createExportVerifier } from '../../core/audit/exported-log.ts';
import type { Seal } from '../../core/audit/seal.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { DocumentUnit, Store, WriteUnit } from '../../ports/store.ts';
import { type AuditChain, createAudit } from './audit.ts';
import type { AuditAnchor } from './audit-anchor.ts';
import { CHECKPOINTS, createAuditLog, LINKS } from './audit-log.ts';
import { createCommitter } from '../commits/committer.ts';
import { randomId } from '../runs/ids.ts';
import { type Log, SILENT } from '../../ports/log.ts';
import { testClock } from '../testing/test-clock.ts';
import { startHost } from '../testing/test-host.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const NEWEST = Number.MAX_SAFE_INTEGER;

async function record(store: Store, count: number): Promise<void> {
  const audit = Array.from({ length: count }, (_, index) => ({
    at: 1_000,
    tenant: index % 2 === 0 ? 'default' : 'other',
    actor: 'alice',
    action: 'test.act',
    target: `t${index}`,
    details: { index },
  }));
  await store.commit([{ kind: 'audit', batchId: randomId(randomBytes), audit }]);
}

interface Linker extends AuditChain {
  readonly clock: ReturnType<typeof testClock>;
}

/** One process's linker, with a committer of its own in front of the common store. */
function linker(
  store: Store,
  options: { entries?: number; key?: boolean; anchor?: AuditAnchor; log?: Log } = {},
): Linker {
  const clock = testClock();
  const audit = createAudit({
    store,
    clock,
    random: randomBytes,
    log: options.log ?? SILENT,
    anchor: options.anchor,
    committer: createCommitter({ store, log: SILENT, maxUnits: 100, maxBytes: 1e6, askDelaysMs: [0] }),
    key: options.key === false ? undefined : privateKey,
    ...(options.entries !== undefined && { checkpointEntries: options.entries }),
  });
  return { ...audit, clock };
}

/** Every linked id, in the order of the chain. */
async function linkedIds(store: Store): Promise<number[]> {
  const log = createAuditLog(store);
  const ids: number[] = [];
  for (let number = 0; number <= (await log.last(LINKS)); number += 1) {
    ids.push(...((await log.batch(number))?.links ?? []).map(({ id }) => id));
  }
  return ids;
}

async function allIds(store: Store): Promise<number[]> {
  return (await store.readAudit(0, 100_000)).map(({ id }) => id);
}

/** A store that does something in the place of its next commits of documents. */
function meddling(store: Store, acts: ((units: readonly WriteUnit[]) => Promise<void>)[]): Store {
  return {
    ...store,
    async commit(units) {
      if (units.some(({ kind }) => kind === 'document')) await acts.shift()?.(units);
      return store.commit(units);
    },
  };
}

describe('an empty audit log', () => {
  it('is valid, whatever range is asked for', async () => {
    const { operations } = linker(openMemoryStore());

    expect(await operations.verify(0, 100)).toEqual({
      fromSeq: 0,
      toSeq: 0,
      chainValid: true,
      checkpoints: [],
      anomalies: [],
    });
  });
});

describe('linking', () => {
  it('links every entry once, over many batches, and signs a checkpoint at least every so many entries (U-6, U-7)', async () => {
    const store = openMemoryStore();
    await record(store, 620);
    const { link, operations } = linker(store, { entries: 100 });

    await link();

    expect(await linkedIds(store)).toEqual(await allIds(store));
    const found = await operations.verify(0, NEWEST);
    expect(found).toMatchObject({
      fromSeq: 0,
      toSeq: 619,
      chainValid: true,
      checkpointsValid: true,
      anomalies: [],
    });
    expect(found.checkpoints.map(({ atSequence }) => atSequence)).toEqual([99, 199, 299, 399, 499, 599]);
  });

  it('gives the same chain however often it was interrupted (U-2)', async () => {
    const [whole, pieces] = [openMemoryStore(), openMemoryStore()];
    for (let round = 0; round < 5; round += 1) {
      for (const store of [whole, pieces]) await record(store, 30);
      await linker(pieces).link(); // a process that ends after its pass
    }
    await linker(whole).link();

    const [one, other] = await Promise.all(
      [whole, pieces].map((store) => linker(store).operations.verify(0, NEWEST)),
    );

    expect(one?.chainValid && other?.chainValid).toBe(true);
    expect(one?.checkpoints.at(-1)?.merkleRoot).toBe(other?.checkpoints.at(-1)?.merkleRoot);
  });

  it('happens once when several processes link the same entries at the same time (U-4)', async () => {
    const store = openMemoryStore();
    const linkers = Array.from({ length: 4 }, () => linker(store, { entries: 70 }));

    for (let round = 0; round < 10; round += 1) {
      await record(store, 37);
      await Promise.all(linkers.map(({ link }) => link()));
    }

    expect(await linkedIds(store)).toEqual(await allIds(store));
    const found = await linker(store).operations.verify(0, NEWEST);
    expect(found).toMatchObject({ toSeq: 369, chainValid: true, checkpointsValid: true, anomalies: [] });
  });

  it('continues after another process has linked the batch it was about to write', async () => {
    const store = openMemoryStore();
    await record(store, 10);
    const late = linker(meddling(store, [() => linker(store).link()]));

    await late.link();
    await record(store, 5);
    await late.link();

    expect(await linkedIds(store)).toEqual(await allIds(store));
    expect(await late.operations.verify(0, NEWEST)).toMatchObject({ toSeq: 14, chainValid: true });
  });

  it('loses and repeats nothing when a process dies before or after its write (U-5)', async () => {
    const store = openMemoryStore();
    await record(store, 10);
    const dies = (): Promise<void> => Promise.reject(new Error('killed before the write'));
    const diesAfter = async (units: readonly WriteUnit[]): Promise<void> => {
      await store.commit(units);
      throw new Error('killed after the write');
    };

    await linker(meddling(store, [dies])).link();
    const before = await linkedIds(store);
    await linker(meddling(store, [diesAfter])).link();
    await record(store, 3);
    await linker(store).link();

    expect(before).toEqual([]);
    expect(await linkedIds(store)).toEqual(await allIds(store));
    expect(await linker(store).operations.verify(0, NEWEST)).toMatchObject({
      toSeq: 12,
      chainValid: true,
    });
  });

  it('works without a key, and then there are no checkpoints', async () => {
    const store = openMemoryStore();
    await record(store, 3);
    const { link, operations, integrity } = linker(store, { key: false });

    await link();

    expect(integrity).toBeUndefined();
    expect(await operations.verify(0, 100)).toEqual({
      fromSeq: 0,
      toSeq: 2,
      chainValid: true,
      checkpoints: [],
      anomalies: [],
    });
  });

  it('signs the first entries of a process at once, and later ones when five minutes have passed', async () => {
    const store = openMemoryStore();
    const { link, operations, clock } = linker(store);
    const checkpoints = async (): Promise<number> => (await operations.verify(0, NEWEST)).checkpoints.length;

    await record(store, 1);
    await link();
    const first = await checkpoints();
    await record(store, 1);
    await link();
    const second = await checkpoints();
    clock.advance(300_000);
    await link();

    expect([first, second, await checkpoints()]).toEqual([1, 1, 2]);
  });
});

describe('a range of the log', () => {
  it('is moved to what there is, and holds the checkpoints within it', async () => {
    const store = openMemoryStore();
    await record(store, 300);
    const { link, operations } = linker(store, { entries: 50 });
    await link();

    const middle = await operations.verify(120, 260);
    const beyond = await operations.verify(1_000, 2_000);

    expect(middle).toMatchObject({ fromSeq: 120, toSeq: 260, chainValid: true, checkpointsValid: true });
    expect(middle.checkpoints.map(({ atSequence }) => atSequence)).toEqual([149, 199, 249]);
    expect(beyond).toMatchObject({ fromSeq: 299, toSeq: 299, chainValid: true });
  });
});

describe('records of the chain that were touched', () => {
  async function chained(): Promise<{ store: Store; linked: Linker; place: (n: number) => DocumentUnit }> {
    const store = openMemoryStore();
    const linked = linker(store, { entries: 20 });
    for (let round = 0; round < 5; round += 1) {
      await record(store, 10);
      await linked.link();
    }
    const place = (number: number): DocumentUnit => ({
      kind: 'document',
      batchId: randomId(randomBytes),
      tenant: '',
      collection: LINKS,
      scope: '',
      id: String(number),
      at: number,
    });
    return { store, linked, place };
  }

  it('are found when a batch in the middle is gone', async () => {
    const { store, linked, place } = await chained();
    await store.commit([place(2)]);

    const found = await linked.operations.verify(0, NEWEST);

    expect(found.chainValid).toBe(false);
    expect(found.anomalies.map(({ atSeq, actualPrevHash }) => [atSeq, actualPrevHash])).toEqual(
      Array.from({ length: 10 }, (_, index) => [21 + index, '']),
    );
  });

  it('are found when the last batch cannot be read', async () => {
    const { store, linked, place } = await chained();
    await store.commit([{ ...place(4), body: 'nonsense' }]);

    expect(await linked.operations.verify(0, NEWEST)).toMatchObject({
      chainValid: false,
      anomalies: [{ atSeq: 41, actualPrevHash: '' }],
    });
  });

  it('are found when a hash was replaced, though the entries are as they were', async () => {
    const { store, linked, place } = await chained();
    const body = (await store.readDocument(place(1)))?.body.replace(/"hash":"[0-9a-f]{4}/, '"hash":"0000');
    await store.commit([{ ...place(1), ...(body !== undefined && { body }) }]);

    const found = await linked.operations.verify(0, NEWEST);

    expect(found).toMatchObject({ chainValid: false, checkpointsValid: false });
    expect(found.anomalies.map(({ atSeq }) => atSeq)).toEqual([11, 12]);
  });

  it('are found when a checkpoint is gone', async () => {
    const { store, linked, place } = await chained();
    await store.commit([{ ...place(1), collection: 'audit-checkpoint' }]);

    expect(await linked.operations.verify(0, NEWEST)).toMatchObject({
      chainValid: false,
      checkpointsValid: false,
    });
  });
});

describe('a process that has seen a seal', () => {
  /** An anchor in memory, as a file would be. */
  function anchorOf(seal?: Seal): AuditAnchor & { held: Seal | undefined } {
    const anchor = {
      held: seal,
      read: async () => anchor.held,
      write: async (next: Seal) => {
        anchor.held = next;
      },
    };
    return anchor;
  }

  const checkpointPlace = (number: number): DocumentUnit => ({
    kind: 'document',
    batchId: randomId(randomBytes),
    tenant: '',
    collection: 'audit-checkpoint',
    scope: '',
    id: String(number),
    at: number,
  });

  it('anchors it only after its checkpoint is durable, and again when the anchor could not be written (U-9)', async () => {
    const store = openMemoryStore();
    const anchor = anchorOf();
    const writes: boolean[] = [];
    let isBroken = true;
    const write = async (seal: Seal): Promise<void> => {
      writes.push((await createAuditLog(store).checkpoint(seal.number)) !== undefined);
      if (isBroken) throw new Error('no space left');
      await anchor.write(seal);
    };
    await record(store, 3);
    const { link } = linker(store, { anchor: { ...anchor, write } });

    await link();
    const failed = anchor.held;
    isBroken = false;
    await link();

    expect(failed).toBeUndefined();
    expect(writes).toEqual([true, true]);
    expect(anchor.held).toMatchObject({ number: 0, sequence: 2 });
  });

  it('neither links nor signs what does not hold it, and says so once (U-8)', async () => {
    const store = openMemoryStore();
    const logged: string[] = [];
    const log: Log = (level, _fields, message) => level === 'error' && logged.push(message);
    await record(store, 3);
    const first = linker(store, { log });
    await first.link();
    await store.commit([checkpointPlace(0)]);
    await record(store, 3);
    first.clock.advance(31_000);

    await first.link();
    await first.link();

    expect(await linkedIds(store)).toEqual((await allIds(store)).slice(0, 3));
    expect(await createAuditLog(store).last(CHECKPOINTS)).toBe(-1);
    expect(logged).toEqual(['audit entries could not be linked; they stay pending']);
    expect(await first.operations.verify(0, NEWEST)).toMatchObject({
      chainValid: false,
      checkpointsValid: false,
    });
  });

  it('sees what other processes have sealed, and anchors that too (U-10)', async () => {
    const store = openMemoryStore();
    const [mine, theirs] = [anchorOf(), anchorOf()];
    const [idle, busy] = [linker(store, { anchor: mine }), linker(store, { anchor: theirs, entries: 5 })];
    await idle.link();
    await record(store, 20);
    await busy.link();

    idle.clock.advance(31_000);
    await idle.link();

    expect(theirs.held).toMatchObject({ number: 3, sequence: 19 });
    expect(mine.held).toEqual(theirs.held);
  });

  it('does not start on a store that was set back, nor under an anchor of another key (U-11)', async () => {
    const [store, older] = [openMemoryStore(), openMemoryStore()];
    const anchor = anchorOf();
    for (const each of [store, older]) await record(each, 3);
    await linker(older).link();
    const current = linker(store, { anchor });
    await current.link();
    await record(store, 3);
    current.clock.advance(300_000);
    await current.link();
    const { privateKey: foreign } = generateKeyPairSync('ed25519');

    const set = (key: KeyObject) =>
      startHost({ store: older, auditKey: key, auditAnchor: anchor }).then(() => 'started');

    await expect(set(privateKey)).rejects.toThrow(/does not hold what was anchored \(checkpoint 1 /);
    await expect(set(foreign)).rejects.toThrow(/sealed with another audit key/);
    expect(anchor.held?.number).toBe(1);
  });
});

describe('a host', () => {
  it('links what it records by itself, and signs the rest when it stops', async () => {
    const { host, store } = await startHost({ auditKey: privateKey });
    await host.audit.record({ tenant: 'default', actor: 'alice', action: 'test.act', target: 'x' });
    await expect.poll(() => linkedIds(store), { timeout: 5_000 }).toEqual(await allIds(store));
    await host.audit.record({ tenant: 'default', actor: 'alice', action: 'test.act', target: 'y' });

    await host.stop(1_000);

    const found = await host.audit.verify(0, NEWEST);
    expect(found).toMatchObject({ toSeq: 1, chainValid: true, checkpointsValid: true });
    expect(found.checkpoints.at(-1)?.atSequence).toBe(1);
  });

  it('exports a log that verifies without it, with what is pending', async () => {
    const store = openMemoryStore();
    await record(store, 700);
    const { link, operations } = linker(store, { entries: 30 });
    await link();
    await record(store, 2);

    const verifier = createExportVerifier();
    let lines = 0;
    let cursor: string | undefined;
    do {
      const page = await operations.export(cursor);
      for (const line of page.lines) verifier.line(JSON.stringify(line));
      lines += page.lines.length;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    verifier.line(JSON.stringify({ kind: 'end', lines }));

    expect(verifier.end()).toMatchObject({
      chainValid: true,
      checkpointsValid: true,
      toSeq: 699,
      entries: 702,
      pending: 2,
      problems: [],
    });
  });

  it('keeps who created a run where that is wanted, and claims the profile only then', async () => {
    const [auditing, plain] = [
      await startHost({ auditKey: privateKey, auditRuns: true }),
      await startHost({ auditKey: privateKey }),
    ];
    const created: string[] = [];
    for (const { host, register, run, store } of [auditing, plain]) {
      await register({ nodes: [{ id: 'a' }] });
      await run('test-workflow');
      const entries = await store.readAudit(0, 100);
      created.push(entries.map(({ action }) => action).join(' '));
      await host.stop(0);
    }

    expect(created).toEqual([
      expect.stringContaining('run.create'),
      expect.not.stringContaining('run.create'),
    ]);
    expect(plain.host.capabilities().auth?.profiles).toEqual(['openwop-audit-log-integrity']);
  });

  it('says in discovery how the log is protected only when it has a key', async () => {
    const [signing, other] = [
      await startHost({ auditKey: privateKey, auditRuns: true }),
      await startHost({ auditRuns: true }),
    ];

    expect(signing.host.capabilities().auth).toEqual({
      profiles: ['openwop-audit-log-integrity'],
      auditLogIntegrity: {
        hashChain: true,
        checkpointSignatureAlgorithm: 'ed25519',
        checkpointPublicKey: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
        checkpointIntervalEntries: 1_000,
        checkpointIntervalSeconds: 300,
      },
    });
    expect(other.host.capabilities().auth).toBeUndefined();
    await Promise.all([signing.host.stop(0), other.host.stop(0)]);
  });
});
