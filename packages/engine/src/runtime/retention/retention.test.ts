import { isHostError } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chain, node, variable } from '../../core/testing/definitions.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store } from '../../ports/store.ts';
import {
  appendUnit,
  completed,
  createUnit,
  event,
  given,
  newRunId,
} from '../../store-contract/store-contract.ts';
import { createCommitter } from '../commits/committer.ts';
import { createFinishedRuns } from '../runs/finished-runs.ts';
import { createRetention, type RetentionService, tellingRemoved } from './retention.ts';
import { DEFAULT_LIMITS, type HostLimits } from '../../host/limits.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';
import { testClock } from '../testing/test-clock.ts';

const HOUR = 3_600_000;
const CANARY = 'canary-7d2e';

describe('a fork whose source was removed after it had ended', () => {
  let at: TestHost;
  beforeEach(async () => {
    at = await startHost();
  });
  afterEach(() => at.host.stop(1_000));

  it('is not taken for a run without events, and can be removed', async () => {
    const source = await at.run(await at.register({ nodes: [node('a'), node('b')], edges: chain('a', 'b') }));
    const forked = await at.host.runs.fork(alice, source, { mode: 'branch', fromSeq: 2 });
    const fork = forked !== undefined && !forked.replayed ? forked.runId : '';
    await until(async () => (await at.status(fork)) === 'completed');

    await at.host.operations.purge(alice, source);
    // One that remembers nothing of the run.
    await at.host.stop(1_000);
    at = await startHost({ store: at.store });

    const expired = { code: 'run_expired', details: { runId: fork, sourceRunId: source, fromSeq: 2 } };
    await expect(at.host.runs.events(alice, fork, -1, 100)).rejects.toMatchObject(expired);
    await expect(at.host.runs.snapshot(alice, fork)).rejects.toMatchObject(expired);
    await expect(at.host.operations.purge(alice, fork)).resolves.toBe(true);
  });
});

describe('a run that was erased', () => {
  let at: TestHost;
  beforeEach(async () => {
    at = await startHost();
  });
  afterEach(() => at.host.stop(1_000));

  const spec = (maskingMode: string) => ({
    nodes: [
      node('gate', 'core.clarificationGate', { questions: [{ id: 'q', question: 'Which?' }] }),
      node('end', 'core.identity', {}, { inputs: { it: { type: 'variable', variableName: 'pin' } } }),
    ],
    edges: chain('gate', 'end'),
    variables: [variable('pin', { sensitive: true }), variable('name')],
    metadata: { complianceClass: 'pii', complianceConfig: { maskingMode } },
  });

  async function endedRun(maskingMode: string): Promise<string> {
    const runId = await at.run(await at.register(spec(maskingMode), `w-${maskingMode}`), {
      inputs: { pin: `pin-${CANARY}`, name: `name-${CANARY}` },
    });
    await until(async () => (await at.status(runId)) === 'waiting-input');
    await at.host.runs.command(alice, runId, {
      type: 'resolve',
      nodeId: 'gate',
      value: { answers: { q: 'blue' } },
      by: 'alice',
      byUser: true,
      viaLink: false,
    });
    await until(async () => (await at.status(runId)) === 'completed');
    return runId;
  }

  it('as a fork shows nothing of what its source still has, on a host that knew it before', async () => {
    const source = await endedRun('mask');
    const forked = await at.host.runs.fork(alice, source, { mode: 'replay', fromSeq: 8 });
    const fork = forked !== undefined && !forked.replayed ? forked.runId : '';
    await until(async () => (await at.status(fork)) === 'completed');
    const other = await startHost({ store: at.store });
    const shown = async () => JSON.stringify(await other.host.runs.snapshot(alice, fork));
    expect(await shown()).toContain(CANARY);

    await at.host.operations.erase(alice, fork);

    expect(await shown()).not.toContain(CANARY);
    await other.host.stop(0);
  });

  const documents = async (runId: string) =>
    (await at.host.runs.events(alice, runId, -1, 1_000))?.events.map(({ document }) => document);

  it.each(['mask', 'omit', 'hash'])(
    'has the same log, and a snapshot without its values (%s)',
    async (mode) => {
      const runId = await endedRun(mode);
      const events = await documents(runId);
      const before = await at.host.runs.snapshot(alice, runId);

      expect(await at.host.operations.erase(alice, runId)).toBe(true);

      const after = await at.host.runs.snapshot(alice, runId);
      expect(await documents(runId)).toEqual(events);
      expect(after?.snapshot.status).toBe('completed');
      expect(after?.snapshot['variables']).toMatchObject({ name: '[REDACTED]' });
      expect(JSON.stringify(after?.snapshot)).not.toContain(CANARY);
      expect(after?.etag).not.toBe(before?.etag);
      const stored = await at.store.readRun(runId, 'default');
      expect(JSON.stringify([stored, await at.store.readEvents(runId, 0, 1_000, 1e9)])).not.toContain(CANARY);
      const bundle = await at.host.bundles.text(alice, runId);
      for await (const text of bundle ?? []) expect(text).not.toContain(CANARY);
    },
  );

  it('is one that the caller’s tenant has (W-41)', async () => {
    const runId = await endedRun('mask');

    expect(await at.host.operations.erase(stranger, runId)).toBe(false);
    expect(await at.host.operations.erase(alice, newRunId())).toBe(false);
  });
});

describe('retention', () => {
  const clock = testClock();
  let store: Store;
  let retention: RetentionService;

  function open(limits: Partial<HostLimits> = {}): void {
    store = openMemoryStore({ clock: clock.now });
    const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
    retention = createRetention({
      store: tellingRemoved(store),
      committer: createCommitter({ store, log: () => undefined, maxUnits: 100, maxBytes: 1e6 }),
      finished: createFinishedRuns(1_000_000, () => 0),
      states: { drop: () => undefined },
      clock,
      random,
      limits: { ...DEFAULT_LIMITS, ...limits },
      log: () => undefined,
    });
  }

  async function givenRun(tenant: string, hoursAgo: number): Promise<string> {
    const at = clock.now() - hoursAgo * HOUR;
    const runId = newRunId(at);
    await given(
      store,
      createUnit(runId, {
        record: { tenant, createdAt: at },
        events: [event(0, 'run.completed')],
        head: { ...completed, startedAt: at, endedAt: at },
      }),
    );
    return runId;
  }

  async function left(tenant: string): Promise<string[]> {
    const { rows } = await store.listRuns(tenant, {}, { limit: 1_000 });
    return rows.map(({ record }) => record.runId);
  }

  it('removes nothing unless it is configured to', async () => {
    open();
    const runId = await givenRun('default', 1_000_000);

    expect(await retention.sweep()).toBe(0);
    expect(await left('default')).toEqual([runId]);
  });

  it('removes what is older than its tenant keeps, in as many waves as it takes, and says so (W-40)', async () => {
    open();
    for (let index = 0; index < 250; index += 1) await givenRun('default', 3);
    const [young, theirs] = [await givenRun('default', 1), await givenRun('other', 3)];
    await retention.operations.setRetention(alice, 'default', 2 * HOUR);

    expect(await retention.sweep()).toBe(250);

    expect(await left('default')).toEqual([young]);
    expect(await left('other')).toEqual([theirs]);
    const entries = await store.readAudit(0, 1_000);
    expect(
      entries.filter(({ action, actor }) => action === 'run.remove' && actor === 'retention'),
    ).toHaveLength(250);
  });

  it('of the host holds where a tenant has none of its own', async () => {
    open({ retentionMs: 2 * HOUR });
    const [, kept, brief] = [
      await givenRun('default', 3),
      await givenRun('careful', 3),
      await givenRun('hasty', 1),
    ];
    await retention.operations.setRetention(alice, 'careful', null);
    await retention.operations.setRetention(alice, 'hasty', HOUR / 2);

    expect(await retention.sweep()).toBe(2);

    expect([await left('default'), await left('careful'), await left('hasty')]).toEqual([[], [kept], []]);
    expect(await retention.operations.retention(alice, 'default')).toEqual({
      tenant: 'default',
      keepMs: 2 * HOUR,
      isDefault: true,
    });
    await expect(tellingRemoved(store).readRun(brief, 'hasty')).rejects.toSatisfy((error) =>
      isHostError(error, 'run_expired'),
    );
  });

  it('skips what another run needs, and comes back for it (W-39)', async () => {
    open();
    await store.heartbeat('h1', HOUR);
    const [source, other] = [await givenRun('default', 3), await givenRun('default', 3)];
    const fork = newRunId();
    const link = { sourceRunId: source, fromSeq: 1, mode: 'branch' } as const;
    await given(
      store,
      createUnit(fork, {
        holder: 'h1',
        record: { tenant: 'default', createdAt: clock.now(), fork: link },
        expectedSeq: 1,
      }),
    );
    await retention.operations.setRetention(alice, 'default', 2 * HOUR);

    expect(await retention.sweep()).toBe(1);
    expect(await left('default')).not.toContain(other);
    await expect(retention.operations.purge(alice, source)).rejects.toMatchObject({
      details: { neededBy: fork },
    });
    await given(store, appendUnit(fork, 1, { events: [event(1, 'run.completed')], head: completed }));

    expect(await retention.sweep()).toBe(1);
    expect(await left('default')).toEqual([fork]);
  });
});

describe('a backup', () => {
  it('is one at a time, and is on record', async () => {
    let closed = 0;
    const backup = { size: 0, async *read() {}, close: async () => void (closed += 1) };
    const store = { ...openMemoryStore(), openBackup: async () => backup };
    const at = await startHost({ store });

    const first = await at.host.operations.backup(alice);
    await expect(at.host.operations.backup(alice)).rejects.toSatisfy((error) =>
      isHostError(error, 'conflict'),
    );
    await Promise.all([first.close(), first.close()]);
    await (await at.host.operations.backup(alice)).close();

    expect(closed).toBe(2);
    const entries = await at.store.readAudit(0, 100);
    expect(entries.filter(({ action }) => action === 'host.backup')).toHaveLength(2);
    await at.host.stop(100);
  });
});
