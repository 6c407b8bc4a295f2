import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { performances, performedByTwo, TICK_TYPE, tickWorkers } from '../testing/tick-worker.ts';

const API_KEY = `weft_test_${'k'.repeat(43)}`;
const LEASE_MS = 1_200;
const WAITING = Number(process.env['WEFT_PARKED_RUNS'] ?? 400);
/** Far fewer than wait. */
const LIVE = 30;
const CAPACITY = 32;

const folder = mkdtempSync(join(tmpdir(), 'weft-parked-'));
const fleet = tickWorkers(folder, API_KEY);
let host: HostProcess;
let port: number;

async function startHost(): Promise<void> {
  host = await startHostProcess({
    dataFolder: join(folder, 'data'),
    port,
    apiKey: API_KEY,
    env: {
      WEFT_MAX_LIVE_RUNS: String(LIVE),
      WEFT_POLL_MS: '50',
      WEFT_WORKER_LEASE_MS: String(LEASE_MS),
      WEFT_CLAIM_TTL_MS: '3000',
      WEFT_HEARTBEAT_MS: '500',
    },
    flags: ['--conformance', '--log-level', 'warn'],
  });
}

async function ask(path: string, body?: object): Promise<JsonObject> {
  const response = await fetch(`${host.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as JsonObject;
}

async function create(workflowId: string, count: number): Promise<string[]> {
  const runIds: string[] = [];
  const ids = Array.from({ length: count }, (_, index) => index);
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (ids.pop() !== undefined) runIds.push(String((await ask('/v1/runs', { workflowId }))['runId']));
    }),
  );
  return runIds;
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; !(await isSo()); await pause(50))
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
}

async function count(status: string, workflowId: string): Promise<number> {
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const { buckets } = await ask(
    `/v1/host/weft/runs:counts?bucket=1d&since=${since}&workflowId=${workflowId}`,
  );
  return (buckets as { counts: Record<string, number> }[]).reduce(
    (sum, { counts }) => sum + (counts[status] ?? 0),
    0,
  );
}

beforeAll(async () => {
  port = await freePort();
  await startHost();
  const first = fleet.start('first', host.url);
  await until(
    async () =>
      ((await ask(`/v1/host/weft/node-types?typeId=${TICK_TYPE.typeId}`))['types'] as unknown[]).length > 0,
    'its type is known',
  );
  await first.kill();
  for (const definition of [WAITS, QUICK]) await ask('/v1/host/weft/workflows', definition);
}, 60_000);

afterAll(async () => {
  await fleet.stop();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe(`${WAITING} runs without a worker in a host for ${LIVE} runs`, () => {
  it('keep no other from running, survive two kills, and each is performed by one worker at a time (W-42, S-21, H-11)', async () => {
    const waiting = await create('waits', WAITING);
    const [quick = ''] = (await create('quick', 20)).slice(-1);
    await until(async () => (await count('completed', 'quick')) === 20, 'other runs are completed');
    await until(async () => (await count('running', 'waits')) === WAITING, 'all wait for a worker');
    expect((await ask(`/v1/runs/${quick}`))['status']).toBe('completed');

    await host.kill();
    await startHost();
    const why = await ask(`/v1/host/weft/runs/${waiting[0] ?? ''}/why`);
    expect(why).toMatchObject({ waitingFor: 'worker', task: { typeId: TICK_TYPE.typeId } });
    for (const name of ['one', 'two']) fleet.start(name, host.url, CAPACITY);
    await until(async () => fleet.ticks().length > WAITING / 3, 'some are performed');
    await host.kill();
    await startHost();
    await until(async () => (await count('completed', 'waits')) === WAITING, 'all are completed');

    const ticks = fleet.ticks();
    const tasks = new Set(ticks.map(({ invocationId }) => invocationId));
    expect(tasks.size).toBe(WAITING);
    expect(performedByTwo(ticks)).toEqual([]);
    // Again only what workers had when their host was killed, or when they lost a lease on a slow machine.
    expect(performances(ticks).length - tasks.size).toBeLessThan(WAITING / 2);
    expect(host.output()).not.toContain('"level":"error"');
  }, 120_000);
});

const WAITS: JsonObject = {
  id: 'waits',
  name: 'waits',
  version: '1.0',
  nodes: [
    {
      id: 'work',
      typeId: TICK_TYPE.typeId,
      config: {},
      inputs: { ms: { type: 'expression', expression: 'variables.ms' } },
    },
  ],
  edges: [],
  variables: [{ name: 'ms', type: 'number', defaultValue: 1 }],
};

const QUICK: JsonObject = {
  id: 'quick',
  name: 'quick',
  version: '1.0',
  nodes: [{ id: 'only', typeId: 'core.noop', config: {} }],
  edges: [],
};
