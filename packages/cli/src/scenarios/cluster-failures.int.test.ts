import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkLog } from '@weft/engine';
import { testServer } from '@weft/storage/postgres-test-server';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClusterEvent, type ClusterNodes, clusterNodes } from '../testing/cluster-nodes.ts';
import { clusterWorkflows } from '../testing/cluster-workflows.ts';
import { type CountingServer, openCountingServer } from '../testing/counting-server.ts';
import { type KillClientOptions, type Receipts, runKillClient } from '../testing/kill-client.ts';
import { killWorkflows } from '../testing/kill-workflows.ts';

/** What the others make of it when one of three processes is killed, falls asleep, or is restarted. */

const [A, B, C] = [0, 1, 2];
const TTL_MS = 3_000;
const PATIENCE = { timeout: 30_000, interval: 50 };

const folder = mkdtempSync(join(tmpdir(), 'weft-cluster-failures-'));
const { server } = testServer();
let world: CountingServer;
let cluster: ClusterNodes;

beforeAll(async () => {
  world = await openCountingServer(() => Math.floor(Math.random() * 15));
  mkdirSync(join(folder, 'workflows'));
  for (const each of [...clusterWorkflows(world.port), ...killWorkflows(world.port)])
    writeFileSync(join(folder, 'workflows', `${String(each['id'])}.json`), JSON.stringify(each));
  cluster = clusterNodes({
    storeUrl: server().url,
    schema: 'failures',
    folder,
    flags: [
      ...['--workflows', join(folder, 'workflows'), '--allow-egress', `127.0.0.1:${world.port}`],
      ...['--log-level', 'warn'],
    ],
    env: { WEFT_CLAIM_TTL_MS: String(TTL_MS), WEFT_HEARTBEAT_MS: '500' },
  });
  await Promise.all([A, B, C].map((place) => cluster.start(place)));
}, 90_000);

afterEach(() => world.letGo());

afterAll(async () => {
  world?.letGo();
  await cluster?.stop();
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs that this process holds, because their calls get no answer. */
async function givenHeld(place: number, count: number): Promise<string[]> {
  const before = world.seen.length;
  world.hold();
  const runs = await Promise.all(Array.from({ length: count }, () => cluster.create(place, 'call')));
  await vi.waitFor(() => expect(world.seen.length).toBe(before + count), PATIENCE);
  return runs;
}

function problemsOf(events: readonly ClusterEvent[]): readonly unknown[] {
  return checkLog(
    events.map(({ sequence, type, timestamp, payload, nodeId }) => ({
      sequence,
      type,
      at: Date.parse(timestamp),
      payload,
      ...(nodeId !== undefined && { nodeId }),
    })),
  );
}

/** By invocation id: how often the call was seen from outside. */
function timesSeenSince(first: number): readonly number[] {
  const times = new Map<string, number>();
  for (const { invocationId } of world.seen.slice(first))
    times.set(invocationId, (times.get(invocationId) ?? 0) + 1);
  return [...times.values()];
}

describe('a process that is killed', () => {
  it('leaves its runs to the others, which finish them after the deadline, under the same invocation ids', async () => {
    const first = world.seen.length;
    const runs = await givenHeld(A, 4);
    const parked = await cluster.create(A, 'parked');
    const waiting = await cluster.create(A, 'gate');
    await cluster.reaches(A, waiting, 'waiting-approval');

    await cluster.node(A).kill();
    world.letGo();
    const answered = await cluster.call(B, 'POST', `/v1/runs/${waiting}/interrupts/gate`, {
      body: { resumeValue: { action: 'accept' } },
    });

    // No one holds a run that waits: neither the person nor the timer has to wait for a deadline.
    expect(answered.status).toBe(200);
    await cluster.reaches(C, parked, 'completed');
    for (const runId of [...runs, waiting]) {
      await cluster.reaches(B, runId, 'completed');
      expect(problemsOf(await cluster.events(C, runId))).toEqual([]);
    }
    expect(timesSeenSince(first)).toEqual(runs.map(() => 2));
    await cluster.start(A);
  });
});

describe('a process that sleeps past its deadline', () => {
  it('writes nothing to the runs that others have taken over, and works on afterwards', async () => {
    const runs = await givenHeld(A, 4);

    cluster.node(A).freeze();
    world.letGo();
    for (const runId of runs) await cluster.reaches(B, runId, 'completed');
    const before = await Promise.all(runs.map((runId) => cluster.events(C, runId)));
    cluster.node(A).thaw();
    // It must be quite awake before it is said that it did nothing.
    const own = await vi.waitFor(() => cluster.create(A, 'call'), PATIENCE);
    await cluster.reaches(A, own, 'completed');
    await vi.waitFor(() => expect(cluster.node(A).output()).toContain('every claim is given up'), PATIENCE);

    const after = await Promise.all(runs.map((runId) => cluster.events(A, runId)));
    expect(after).toEqual(before);
    for (const log of after) expect(problemsOf(log)).toEqual([]);
  });
});

describe('a rolling restart under load', () => {
  const receipts: Receipts = {
    runs: new Map(),
    events: new Map(),
    answered: new Set(),
    repeats: 0,
    refused: [],
  };
  const kinds: readonly Pick<KillClientOptions, 'workflowId' | 'nodeToAnswer' | 'answerChild'>[] = [
    { workflowId: 'kill-mixed' },
    { workflowId: 'kill-gate', nodeToAnswer: 'gate' },
    { workflowId: 'kill-parent', nodeToAnswer: 'gate', answerChild: true },
  ];

  it('loses nothing that was acknowledged, and refuses no client for good', {
    timeout: 120_000,
  }, async () => {
    const first = world.seen.length;
    const stop = new AbortController();
    let turn = 0;
    const clients = kinds.map((kind, index) =>
      runKillClient({
        ...kind,
        url: () => cluster.node((turn += 1) % 3).url,
        apiKey: cluster.apiKey,
        name: `rolling-${index}`,
        receipts,
        signal: stop.signal,
      }),
    );
    const codes: (number | null)[] = [];
    for (const place of [A, B, C]) {
      const before = receipts.runs.size;
      await vi.waitFor(() => expect(receipts.runs.size).toBeGreaterThan(before + 10), PATIENCE);
      codes.push(await cluster.node(place).stop());
      await cluster.start(place);
    }
    stop.abort();
    await Promise.all(clients);

    expect(codes).toEqual([0, 0, 0]);
    expect(receipts.refused).toEqual([]);
    for (const [tag, runId] of receipts.runs) {
      await cluster.reaches(B, runId, 'completed');
      const log = await cluster.events(A, runId);
      expect(problemsOf(log), tag).toEqual([]);
      for (const [sequence, document] of receipts.events.get(runId) ?? [])
        expect(log[sequence]).toEqual(JSON.parse(document));
    }
    expect(world.seen.length - first).toBeGreaterThan(receipts.runs.size);
  });
});
