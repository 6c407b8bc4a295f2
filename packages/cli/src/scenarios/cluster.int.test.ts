import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { testServer } from '@weft/storage/postgres-test-server';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClusterNodes, clusterNodes } from '../testing/cluster-nodes.ts';
import { clusterWorkflows, plain, workflow } from '../testing/cluster-workflows.ts';
import { type CountingServer, openCountingServer } from '../testing/counting-server.ts';
import { weft } from '../testing/served.ts';

/** Three processes on one database: whatever one of them is asked, the answer is that of all. */

const [A, B, C] = [0, 1, 2];
/** So long that whatever comes much sooner did not come by polling. */
const POLL_MS = 8_000;
const WELL_UNDER_POLL_MS = 3_000;
const PATIENCE = { timeout: 20_000, interval: 50 };

const folder = mkdtempSync(join(tmpdir(), 'weft-cluster-'));
const { server } = testServer();
let world: CountingServer;
let cluster: ClusterNodes;

beforeAll(async () => {
  world = await openCountingServer(() => 0);
  mkdirSync(join(folder, 'workflows'));
  for (const each of clusterWorkflows(world.port))
    writeFileSync(join(folder, 'workflows', `${String(each['id'])}.json`), JSON.stringify(each));
  cluster = clusterNodes({
    storeUrl: server().url,
    schema: 'cluster',
    folder,
    flags: [
      ...['--workflows', join(folder, 'workflows'), '--allow-egress', `127.0.0.1:${world.port}`],
      ...['--log-level', 'warn'],
    ],
    env: { WEFT_POLL_MS: String(POLL_MS) },
  });
  // All at once: the schema is made by one of them while the others wait.
  await Promise.all([A, B, C].map((place) => cluster.start(place)));
}, 90_000);

afterAll(async () => {
  world?.letGo();
  await cluster?.stop();
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(() => world.letGo());

/** A run that one process holds, because its call gets no answer. */
async function givenHeld(place: number, workflowId: string): Promise<string> {
  const before = world.seen.length;
  world.hold();
  const runId = await cluster.create(place, workflowId);
  await vi.waitFor(() => expect(world.seen.length).toBeGreaterThan(before), PATIENCE);
  return runId;
}

async function typesOf(place: number, runId: string): Promise<string[]> {
  return (await cluster.events(place, runId)).map(({ type }) => type);
}

describe('a run that one process executes', () => {
  it('is followed live on another, every event once, in order, and long before a poll', async () => {
    const runId = await cluster.create(A, 'paced');

    const heard = await cluster.follow(B, runId);

    const log = await cluster.events(C, runId);
    expect(heard.map(({ event }) => event)).toEqual(log);
    expect(log.map(({ sequence }) => sequence)).toEqual([...log.keys()]);
    for (const { event, at } of heard)
      expect(at - Date.parse(event.timestamp), event.type).toBeLessThan(WELL_UNDER_POLL_MS);
  });

  it('is cancelled through another, whose answer knows the verdict', async () => {
    const runId = await givenHeld(A, 'call');

    const askedAt = Date.now();
    const cancelled = await cluster.call(B, 'POST', `/v1/runs/${runId}/cancel`, { body: {} });

    expect(cancelled).toMatchObject({ status: 200, json: { status: 'cancelled' } });
    expect(Date.now() - askedAt).toBeLessThan(WELL_UNDER_POLL_MS);
    expect((await typesOf(C, runId)).at(-1)).toBe('run.cancelled');
  });

  it('is paused through another, and resumed through a third', async () => {
    const runId = await givenHeld(A, 'call');

    const paused = await cluster.call(B, 'POST', `/v1/runs/${runId}:pause`, {
      body: { drainPolicy: 'immediate' },
    });
    world.letGo();
    const resumed = await cluster.call(C, 'POST', `/v1/runs/${runId}:resume`, { body: {} });

    expect([paused.status, resumed.status]).toEqual([202, 202]);
    await cluster.reaches(B, runId, 'completed');
  });

  it('gets the answer to its question through another', async () => {
    const runId = await givenHeld(A, 'held-gate');

    const answered = await cluster.call(B, 'POST', `/v1/runs/${runId}/interrupts/gate`, {
      body: { resumeValue: { action: 'accept' } },
    });

    expect(answered.status, JSON.stringify(answered.json)).toBe(200);
    expect(await typesOf(C, runId)).toContain('interrupt.resolved');
    world.letGo();
    await cluster.reaches(C, runId, 'completed');
  });

  it('hears from its child, which another process has brought to its end', async () => {
    const runId = await givenHeld(A, 'held-parent');
    const [{ runId: childId }] = (await vi.waitFor(async () => {
      const { childRuns } = (await cluster.call(B, 'GET', `/v1/runs/${runId}`)).json;
      expect(childRuns).toHaveLength(1);
      return childRuns;
    }, PATIENCE)) as unknown as [{ runId: string }];
    await cluster.reaches(B, childId, 'waiting-approval');

    const askedAt = Date.now();
    await cluster.call(B, 'POST', `/v1/runs/${childId}/interrupts/gate`, {
      body: { resumeValue: { action: 'accept' } },
    });

    await vi.waitFor(async () => {
      const done = (await cluster.events(B, runId)).filter(({ type }) => type === 'node.completed');
      expect(done.map(({ nodeId }) => nodeId)).toEqual(['begin', 'sub']);
    }, PATIENCE);
    expect(Date.now() - askedAt).toBeLessThan(WELL_UNDER_POLL_MS);
    world.letGo();
    await cluster.reaches(C, runId, 'completed');
  });
});

describe('requests that reach several processes at once', () => {
  it('with one Idempotency-Key make one run and get one answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 18 }, (_, index) =>
        cluster.call(index % 3, 'POST', '/v1/runs', {
          body: { workflowId: 'quick', tags: ['once'] },
          headers: { 'idempotency-key': 'one-key' },
        }),
      ),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ json }) => json['runId'])).size).toBe(1);
    const listed = (await cluster.call(B, 'GET', '/v1/host/weft/runs?tag=once')).json['runs'];
    expect(listed).toHaveLength(1);
  });

  it('with X-Dedup for one scope begin one run', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        cluster.call(index % 3, 'POST', '/v1/runs', {
          body: { workflowId: 'gate', scopeId: 'one-scope' },
          headers: { 'x-dedup': 'enforce' },
        }),
      ),
    );

    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ json }) => json['error'] === 'run_already_active');
    expect([made.length, refused.length]).toEqual([1, 11]);
    const runId = String(made[0]?.json['runId']);
    for (const { json } of refused) expect((json['details'] as JsonObject)['activeRunId']).toBe(runId);
    await cluster.call(C, 'POST', `/v1/runs/${runId}/cancel`, { body: {} });
  });
});

describe('what is changed through one process', () => {
  it('is a key that the others refuse within two seconds after it was revoked', async () => {
    const made = await cluster.call(A, 'POST', '/v1/host/weft/keys', {
      body: { principal: 'visitor', kind: 'service', scopes: ['runs:read'] },
    });
    const { key, keyId } = made.json as { key: string; keyId: string };
    const asVisitor = (place: number) => cluster.call(place, 'GET', '/v1/host/weft/runs?limit=1', { key });
    expect((await asVisitor(B)).status).toBe(200);

    await cluster.call(A, 'DELETE', `/v1/host/weft/keys/${keyId}`);

    expect((await asVisitor(A)).status).toBe(401);
    await vi.waitFor(async () => expect((await asVisitor(B)).status).toBe(401), {
      timeout: 2_000,
      interval: 50,
    });
  });

  it('is a workflow that the others use at once, in its newest version', async () => {
    const first = workflow('later', [plain('only', 'core.noop')]);
    const second = workflow('later', [plain('renamed', 'core.noop')], [], '1.1');

    expect((await cluster.call(A, 'POST', '/v1/host/weft/workflows', { body: first })).status).toBe(201);
    const one = await cluster.create(B, 'later');
    expect((await cluster.call(B, 'POST', '/v1/host/weft/workflows', { body: second })).status).toBe(201);
    const two = await cluster.create(C, 'later');

    await Promise.all([cluster.reaches(A, one, 'completed'), cluster.reaches(A, two, 'completed')]);
    const nodes = (await cluster.events(A, two)).flatMap(({ nodeId }) => nodeId ?? []);
    expect(new Set(nodes)).toEqual(new Set(['renamed']));
  });

  it('is a webhook that hears of every run once, whichever process ran it and whichever delivers', async () => {
    const url = `http://127.0.0.1:${world.port}/hook`;
    await cluster.call(A, 'POST', '/v1/webhooks', { body: { url, events: ['run.completed'] } });
    // The others look for new webhooks every two seconds.
    const probes: string[][] = [[], [], []];
    await vi.waitFor(async () => {
      for (const [place, made] of probes.entries()) made.push(await cluster.create(place, 'quick'));
      for (const made of probes) expect(made.some((runId) => hooksOf('hook').has(runId))).toBe(true);
    }, PATIENCE);

    const runs = await Promise.all(
      Array.from({ length: 15 }, (_, index) => cluster.create(index % 3, 'quick')),
    );

    await vi.waitFor(() => {
      for (const runId of runs) expect(hooksOf('hook').get(runId)).toBe(1);
    }, PATIENCE);
  });
});

describe('weft cluster', () => {
  const on = (place: number, ...argv: string[]) =>
    weft(folder, argv, { WEFT_URL: cluster.node(place).url, WEFT_API_KEY: cluster.apiKey });
  const nodesOf = async (place: number) =>
    (await on(place, 'cluster', 'ls', '--json')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; state: string; runs: number; isSelf: boolean });

  it('lists the processes, and says which one has answered', async () => {
    const runId = await givenHeld(A, 'call');

    const [self, others] = [(await nodesOf(A)).filter(({ isSelf }) => isSelf), await nodesOf(B)];
    const { out } = await on(C, 'cluster', 'ls');

    expect(others).toHaveLength(3);
    expect(others.find(({ name }) => name === self[0]?.name)).toMatchObject({
      state: 'active',
      isSelf: false,
    });
    expect(self[0]?.runs).toBe(1);
    expect(out).toMatch(/NODE +STATE +RUNS +SINCE +DEADLINE +VERSION/);
    world.letGo();
    await cluster.reaches(A, runId, 'completed');
  });

  it('drains one through another, which then continues its runs', async () => {
    const runId = await givenHeld(C, 'call');
    const name = (await nodesOf(C)).find(({ isSelf }) => isSelf)?.name ?? '';

    expect((await on(A, 'cluster', 'drain', 'unknown-000000')).code).toBe(3);
    const asked = await on(A, 'cluster', 'drain', name, '--json');
    world.letGo();
    const waited = await on(B, 'cluster', 'drain', name, '--wait', '--json');
    const later = await cluster.create(C, 'call');

    expect(JSON.parse(asked.out)).toMatchObject({ name, state: 'draining' });
    expect([waited.code, JSON.parse(waited.out)]).toMatchObject([0, { name, state: 'drained', runs: 0 }]);
    await cluster.reaches(C, runId, 'completed');
    await cluster.reaches(C, later, 'completed');
  });
});

/** How often the receiver has heard of each run. */
function hooksOf(name: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path, call } of world.seen) {
    if (path !== `/${name}`) continue;
    const { runId } = JSON.parse(call) as { runId: string };
    counts.set(runId, (counts.get(runId) ?? 0) + 1);
  }
  return counts;
}
