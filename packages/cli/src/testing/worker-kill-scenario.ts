import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkLog } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from './host-process.ts';
import { seededChance } from './seeded-chance.ts';
import {
  openWire,
  performances,
  performedByTwo,
  type Tick,
  TICK_TYPE,
  type TickWorker,
  tickWorkers,
  type Wire,
} from './tick-worker.ts';

const API_KEY = `weft_test_${'k'.repeat(43)}`;
const LEASE_MS = 1_200;
const TTL_MS = 3_000;
const LONGEST_WAIT_MS = 120_000;

export interface WorkerKillOptions {
  /** Processes on one store. Workers are connected to the last of them, runs are created at the first. */
  readonly hosts: number;
  readonly flags: () => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly rounds: number;
}

interface EventDocument {
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: string;
  readonly nodeId?: string;
  readonly payload: JsonObject;
}

type Fault = (typeof FAULTS)[number];
const FAULTS = [
  'kill a worker',
  'freeze a worker',
  'cut off a worker',
  'kill a host',
  'freeze a host',
] as const;

/**
 * Proof by force: workers and hosts are killed, frozen and cut off from each other while tasks are performed. What is done when follows
 * from WEFT_KILL_SEED.
 */
export function testWorkerKills({ hosts: count, flags, env, rounds }: WorkerKillOptions): void {
  const folder = mkdtempSync(join(tmpdir(), 'weft-worker-kill-'));
  const seed = Number(process.env['WEFT_KILL_SEED'] ?? 1);
  const chance = seededChance(seed);
  const fleet = tickWorkers(folder, API_KEY);
  const hosts: HostProcess[] = [];
  const ports: number[] = [];
  const workers: { worker: TickWorker; wire: Wire }[] = [];
  const logs = new Map<string, readonly EventDocument[]>();
  const faults: { readonly kind: Fault; readonly at: number }[] = [];
  let ticks: readonly Tick[] = [];

  async function startHost(place: number): Promise<void> {
    ports[place] ??= await freePort();
    hosts[place] = await startHostProcess({
      dataFolder: join(folder, `data-${env === undefined ? 0 : place}`),
      port: ports[place],
      apiKey: API_KEY,
      env: {
        WEFT_WORKER_LEASE_MS: String(LEASE_MS),
        WEFT_CLAIM_TTL_MS: String(TTL_MS),
        WEFT_HEARTBEAT_MS: '500',
        ...env,
      },
      flags: [...flags(), '--conformance', '--log-level', 'warn'],
    });
  }

  async function startWorker(place: number): Promise<void> {
    const wire = workers[place]?.wire ?? (await openWire(() => ports[count - 1] ?? 0));
    workers[place] = { worker: fleet.start(`w${place}`, wire.url), wire };
  }

  async function ask(path: string, body?: object): Promise<JsonObject> {
    for (const until = Date.now() + LONGEST_WAIT_MS; ; ) {
      try {
        const response = await fetch(`${hosts[0]?.url ?? ''}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(5_000),
        });
        const text = await response.text();
        if (response.ok) return JSON.parse(text) as JsonObject;
        if (response.status < 500 && Date.now() > until) throw new Error(`${response.status} ${text}`);
      } catch (error) {
        if (Date.now() > until) throw error;
      }
      await pause(100);
    }
  }

  async function fault(kind: Fault): Promise<void> {
    faults.push({ kind, at: Date.now() });
    const place = Math.floor(chance() * workers.length);
    const victim = workers[place];
    const host = Math.floor(chance() * count);
    switch (kind) {
      case 'kill a worker':
        await victim?.worker.kill();
        await pause(chance() * LEASE_MS);
        return await startWorker(place);
      case 'freeze a worker':
        victim?.worker.freeze();
        await pause(LEASE_MS * (0.5 + chance() * 2));
        victim?.worker.thaw();
        return;
      case 'cut off a worker':
        victim?.wire.cut();
        await pause(LEASE_MS * (0.5 + chance() * 2));
        victim?.wire.mend();
        return;
      case 'kill a host':
        await hosts[host]?.kill();
        return await startHost(host);
      case 'freeze a host':
        hosts[host]?.freeze();
        await pause(TTL_MS * (0.3 + chance()));
        hosts[host]?.thaw();
    }
  }

  beforeAll(async () => {
    mkdirSync(join(folder, 'data'), { recursive: true });
    for (let place = 0; place < count; place += 1) await startHost(place);
    for (let place = 0; place < 3; place += 1) await startWorker(place);
    const known = `/v1/host/weft/node-types?typeId=${TICK_TYPE.typeId}`;
    while (((await ask(known))['types'] as unknown[]).length === 0) await pause(50);
    await ask('/v1/host/weft/workflows', DEFINITION);

    const creating = new AbortController();
    const created = create(creating.signal);
    for (let round = 0; round < rounds; round += 1) {
      await pause(200 + chance() * 400);
      await fault(FAULTS[round % FAULTS.length] ?? 'kill a worker');
    }
    creating.abort();
    for (const runId of await created) await readLog(runId);
    ticks = fleet.ticks();
    console.log(
      `worker kill test: seed ${seed}, ${rounds} faults, ${logs.size} runs, ${ticks.length} ticks of ${performances(ticks).length} performances of ${new Set(ticks.map(({ invocationId }) => invocationId)).size} tasks`,
    );
  }, 400_000);

  /** A run every little while. */
  async function create(signal: AbortSignal): Promise<string[]> {
    const runIds: string[] = [];
    while (!signal.aborted) {
      const ms = 20 + Math.floor(chance() * 600);
      const { runId } = await ask('/v1/runs', { workflowId: 'ticks', inputs: { ms } });
      runIds.push(String(runId));
      await pause(40);
    }
    return runIds;
  }

  async function readLog(runId: string): Promise<void> {
    for (const until = Date.now() + LONGEST_WAIT_MS; ; ) {
      const page = await ask(`/v1/runs/${runId}/events/poll?limit=1000&timeout=5`);
      if (page['isTerminal'] === true || Date.now() > until) {
        logs.set(runId, page['events'] as unknown as EventDocument[]);
        return;
      }
    }
  }

  afterAll(async () => {
    await fleet.stop();
    for (const { wire } of workers) await wire.close();
    await Promise.all(
      hosts.map((host) => {
        host.thaw();
        return host.stop();
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  describe(`after ${rounds} faults`, () => {
    it('no task is lost: every run comes to its end, by a legal log', () => {
      expect(logs.size).toBeGreaterThan(rounds);
      for (const [runId, events] of logs) {
        expect(events.at(-1)?.type, runId).toBe('run.completed');
        expect(problemsOf(events), runId).toEqual([]);
      }
    });

    it('none was performed by two at once: one performance ends before the next begins (H-4, H-9, H-11)', () => {
      expect(performedByTwo(ticks)).toEqual([]);
      expect(performances(ticks).length).toBeGreaterThan(
        new Set(ticks.map(({ invocationId }) => invocationId)).size,
      );
    });

    it('none was performed again after its outcome was on record (H-12)', () => {
      const lastTick = new Map(ticks.map(({ invocationId, at }) => [invocationId, at]));
      for (const [runId, events] of logs) {
        const ends = events.filter(({ type }) => type === 'node.completed');
        expect(ends, runId).toHaveLength(2);
        for (const { payload, timestamp } of ends) {
          const { invocation } = payload['outputs'] as { invocation: string };
          const seen = performances(ticks).filter(({ invocationId }) => invocationId === invocation);
          const about = `${runId}: ${JSON.stringify(seen)} ${JSON.stringify(events)} ${JSON.stringify(faults)}`;
          expect(lastTick.get(invocation), about).toBeLessThanOrEqual(Date.parse(timestamp));
        }
      }
    });
  });
}

function problemsOf(events: readonly EventDocument[]): readonly unknown[] {
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

const tickNode = (id: string): JsonObject => ({
  id,
  typeId: TICK_TYPE.typeId,
  config: {},
  inputs: { ms: { type: 'expression', expression: 'variables.ms' } },
});

const DEFINITION: JsonObject = {
  id: 'ticks',
  name: 'ticks',
  version: '1.0',
  nodes: [tickNode('one'), tickNode('two')],
  edges: [{ id: 'e', sourceNodeId: 'one', targetNodeId: 'two' }],
  variables: [{ name: 'ms', type: 'number', defaultValue: 50 }],
};
