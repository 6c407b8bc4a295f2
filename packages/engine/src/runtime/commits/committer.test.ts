import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditUnit, BlobUnit, WriteResult, WriteUnit } from '../../ports/store.ts';
import { createCommitter } from './committer.ts';
import { SILENT } from '../../ports/log.ts';

function unit(name: string): AuditUnit {
  return { kind: 'audit', batchId: name };
}

function write(tenant: string, name: string, bytes = 0): BlobUnit {
  return {
    kind: 'blob',
    batchId: name,
    tenant,
    runId: 'r',
    blobId: name,
    index: 0,
    bytes: new Uint8Array(bytes),
  };
}

const COMMITTED: WriteResult = { state: 'committed' };

interface Gate {
  readonly groups: string[][];
  open(results?: (unit: WriteUnit) => WriteResult): void;
}

/** A store whose commits wait until the test lets them through. */
function gatedStore(): {
  gate: Gate;
  commit: (units: readonly WriteUnit[]) => Promise<readonly WriteResult[]>;
} {
  const groups: string[][] = [];
  const waiting: (() => void)[] = [];
  let decide: (unit: WriteUnit) => WriteResult = () => COMMITTED;
  return {
    gate: {
      groups,
      open(results = () => COMMITTED) {
        decide = results;
        waiting.shift()?.();
      },
    },
    async commit(units) {
      groups.push(units.map((each) => each.batchId));
      await new Promise<void>((resolve) => waiting.push(resolve));
      return units.map(decide);
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the committer', () => {
  it('logs what the store cannot take, and continues with the others', async () => {
    const logged: unknown[] = [];
    const committer = createCommitter({
      store: {
        commit: async (units) =>
          units.map(({ batchId }) =>
            batchId === 'bad' ? { state: 'failed', cause: new RangeError('constraint') } : COMMITTED,
          ),
        committed: async () => false,
      },
      maxUnits: 10,
      maxBytes: 1e6,
      log: (level, fields, message) => logged.push({ level, message, errorName: fields['errorName'] }),
    });

    const results = await Promise.all([committer.submit(unit('good')), committer.submit(unit('bad'))]);

    expect(results.map(({ state }) => state)).toEqual(['committed', 'failed']);
    expect(logged).toEqual([
      { level: 'error', message: 'the store cannot take a write', errorName: 'RangeError' },
    ]);
  });

  it('writes what was submitted in one turn as one group, and collects the next while it is in flight (W-33)', async () => {
    const { gate, commit } = gatedStore();
    const committer = createCommitter({
      store: { commit, committed: async () => true },
      maxUnits: 10,
      maxBytes: 1e6,
      log: SILENT,
    });

    const first = [committer.submit(unit('a')), committer.submit(unit('b'))];
    await turn();
    const second = [committer.submit(unit('c')), committer.submit(unit('d'))];
    await turn();
    expect(gate.groups).toEqual([['a', 'b']]);
    expect(committer.waiting().units).toBe(4);
    gate.open();
    await Promise.all(first);
    await turn();
    gate.open();
    await Promise.all(second);

    expect(gate.groups).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(committer.waiting()).toEqual({ units: 0, bytes: 0, tenants: 0 });
  });

  it('waits for those who are missing of the last group while more of them come, and no longer', async () => {
    const groups: string[][] = [];
    const committer = createCommitter({
      store: {
        commit: async (units) => {
          groups.push(units.map((each) => each.batchId));
          return units.map(() => COMMITTED);
        },
        committed: async () => true,
      },
      maxUnits: 10,
      maxBytes: 1e6,
      log: SILENT,
    });
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => committer.submit(unit(name))));
    await committer.idle();

    const early = committer.submit(unit('f'));
    await turn();
    const late = committer.submit(unit('g'));
    await turn();
    const later = committer.submit(unit('x'));
    await Promise.all([early, late, later]);
    await committer.idle();
    const alone = committer.submit(unit('h'));
    await turn();
    await turn();

    expect(committer.waiting().units).toBe(0);
    await alone;

    expect(groups).toEqual([['a', 'b', 'c', 'd', 'e'], ['f', 'g', 'x'], ['h']]);
  });

  it('bounds a group by units and by bytes, and still writes a unit larger than the bound (W-35)', async () => {
    const groups: number[] = [];
    const committer = createCommitter({
      store: {
        commit: async (units) => {
          groups.push(units.length);
          return units.map(() => COMMITTED);
        },
        committed: async () => true,
      },
      maxUnits: 3,
      maxBytes: 600,
      log: SILENT,
    });

    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => committer.submit(unit(name))));

    expect(groups).toEqual([2, 2, 1]);
  });

  it('gives each unit its own result', async () => {
    const refusal: WriteResult = { state: 'refused', reason: 'stale_epoch' };
    const committer = createCommitter({
      store: {
        commit: async (units) => units.map((each) => (each.batchId === 'b' ? refusal : COMMITTED)),
        committed: async () => true,
      },
      maxUnits: 10,
      maxBytes: 1e6,
      log: SILENT,
    });

    const results = await Promise.all(['a', 'b', 'c'].map((name) => committer.submit(unit(name))));

    expect(results).toEqual([COMMITTED, refusal, COMMITTED]);
  });

  it('asks the store after an unknown outcome until it knows (W-34)', async () => {
    let asked = 0;
    const committer = createCommitter({
      store: {
        commit: async () => {
          throw new Error('connection lost');
        },
        committed: async (each) => {
          asked += 1;
          if (asked < 3) throw new Error('still down');
          return each.batchId === 'kept';
        },
      },
      maxUnits: 10,
      maxBytes: 1e6,
      log: SILENT,
      askDelaysMs: [0, 1, 1, 1],
    });

    const results = await Promise.all([committer.submit(unit('kept')), committer.submit(unit('gone'))]);

    expect(results).toEqual([{ state: 'committed' }, { state: 'lost' }]);
  });

  it('says unknown only when asking has failed as often as it may (W-34)', async () => {
    const cause = new Error('connection lost');
    const committer = createCommitter({
      store: {
        commit: async (units) => units.map(() => ({ state: 'unknown', cause })),
        committed: async () => {
          throw new Error('down');
        },
      },
      maxUnits: 10,
      maxBytes: 1e6,
      log: SILENT,
      askDelaysMs: [0, 1],
    });

    const result = await committer.submit(unit('a'));

    expect(result).toEqual({ state: 'unknown', cause });
    await committer.idle();
  });
});

describe('the committer, between tenants,', () => {
  it('puts the one write of a tenant into the next group, whatever another has waiting (W-36)', async () => {
    const { gate, commit } = gatedStore();
    const committer = createCommitter({
      store: { commit, committed: async () => true },
      maxUnits: 512,
      maxBytes: 8e6,
      log: SILENT,
    });
    for (let count = 0; count < 20_000; count += 1) void committer.submit(write('greedy', `g${count}`));
    await turn();

    const modest = committer.submit(write('modest', 'm'));
    gate.open();
    await turn();
    gate.open();
    await modest;

    expect(gate.groups[1]).toHaveLength(512);
    expect(gate.groups[1]?.slice(0, 3)).toEqual(['g512', 'm', 'g513']);
    expect(committer.waitingOf('modest').units).toBe(0);
    expect(committer.waiting().tenants).toBe(1);
  });

  it('shares the bytes of a group, too', async () => {
    const { gate, commit } = gatedStore();
    const committer = createCommitter({
      store: { commit, committed: async () => true },
      maxUnits: 512,
      maxBytes: 1_000_000,
      log: SILENT,
    });
    for (let count = 0; count < 50; count += 1) void committer.submit(write('greedy', `g${count}`, 600_000));
    await turn();

    void committer.submit(write('modest', 'm'));
    gate.open();
    await turn();

    expect(gate.groups).toEqual([['g0'], ['g1', 'm']]);
  });

  it('keeps the order of each, and loses none (W-33)', async () => {
    const tenants = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(tenants, fc.integer({ min: 1, max: 9 }), async (submitted, maxUnits) => {
        const written: string[] = [];
        const committer = createCommitter({
          store: {
            commit: async (units) => {
              written.push(...units.map(({ batchId }) => batchId));
              return units.map(() => COMMITTED);
            },
            committed: async () => true,
          },
          maxUnits,
          maxBytes: 1e6,
          log: SILENT,
        });

        const names = submitted.map((tenant, index) => `${tenant}${index}`);
        await Promise.all(
          submitted.map((tenant, index) => committer.submit(write(tenant, names[index] ?? ''))),
        );

        expect([...written].sort()).toEqual([...names].sort());
        for (const tenant of new Set(submitted)) {
          const isOwn = (name: string): boolean => name.replace(/\d+$/, '') === tenant;
          expect(written.filter(isOwn)).toEqual(names.filter(isOwn));
        }
        expect(committer.waiting()).toEqual({ units: 0, bytes: 0, tenants: 0 });
      }),
    );
  });
});
