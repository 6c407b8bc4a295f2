import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { storeUnderTest } from '../testing/store-under-test.ts';

const KEY = `weft_test_${'q'.repeat(43)}`;
/** An expression that asks for one of these ends the process in the middle of a decision, or stops it there, as a defect of the host would. */
const DEADLY = 'end-the-process';
const ENDLESS = 'stand-still';
const HUNGRY = 'take-all-memory';

let folder: string;
let host: HostProcess;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-quarantine-'));
  port = await freePort();
  await writeFile(
    join(folder, 'preload.cjs'),
    `const startsWith = String.prototype.startsWith;
     String.prototype.startsWith = function (text, ...rest) {
       if (text === ${JSON.stringify(DEADLY)}) process.kill(process.pid, 'SIGKILL');
       if (text === ${JSON.stringify(ENDLESS)}) for (;;);
       if (text === ${JSON.stringify(HUNGRY)}) for (const all = []; ; ) all.push(new Array(1e5).fill(all.length));
       return startsWith.call(this, text, ...rest);
     };`,
  );
});

afterAll(async () => {
  await host?.kill();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  host = await startHostProcess({
    dataFolder: join(folder, 'data'),
    port,
    apiKey: KEY,
    flags: ['--conformance', '--max-node-executions', '1000', ...storeUnderTest().flags()],
    env: {
      NODE_OPTIONS: `--max-old-space-size=256 --require ${join(folder, 'preload.cjs')}`,
      WEFT_WATCHDOG_MS: '4500',
    },
  });
}

async function starts(): Promise<boolean> {
  try {
    await start();
    return true;
  } catch {
    return false;
  }
}

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: JsonObject }> {
  const response = await fetch(`${host.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as JsonObject };
}

function workflow(id: string, condition?: string): JsonObject {
  return {
    id,
    name: id,
    version: '1.0.0',
    triggers: [{ id: 'm', type: 'manual' }],
    variables: [{ name: 'delayMs', type: 'number', defaultValue: 500 }],
    nodes: [
      {
        id: 'wait',
        typeId: 'core.delay',
        name: 'wait',
        position: { x: 0, y: 0 },
        inputs: { delayMs: { type: 'variable', variableName: 'delayMs' } },
        config: {},
      },
      { id: 'end', typeId: 'core.end', name: 'end', position: { x: 0, y: 0 }, config: {}, inputs: {} },
    ],
    edges: [
      {
        id: 'e',
        sourceNodeId: 'wait',
        targetNodeId: 'end',
        ...(condition !== undefined && { condition: { type: 'expression', expression: condition } }),
      },
    ],
    metadata: {},
    settings: {},
  };
}

async function createRun(workflowId: string, delayMs: number): Promise<string> {
  const { status, json } = await call('POST', '/v1/runs', { workflowId, inputs: { delayMs } });
  if (status !== 201) throw new Error(JSON.stringify(json));
  return String(json['runId']);
}

async function createRuns(count: number, delayMs: (index: number) => number): Promise<string[]> {
  const runs: string[] = [];
  for (let index = 0; index < count; index += 50) {
    const batch = Array.from({ length: Math.min(50, count - index) }, (_, at) =>
      createRun('innocent', delayMs(index + at)),
    );
    runs.push(...(await Promise.all(batch)));
  }
  return runs;
}

async function statusOf(runId: string): Promise<string> {
  return String((await call('GET', `/v1/runs/${runId}`)).json['status']);
}

async function quarantined(): Promise<string[]> {
  const { json } = await call('GET', '/v1/host/weft/runs?quarantined=true');
  return (json['runs'] as JsonObject[]).map((run) => String(run['runId']));
}

/** Waits for a condition that an answer of the host tells; undefined when the process has ended meanwhile. */
async function until<Value>(ask: () => Promise<Value | undefined>): Promise<Value | undefined> {
  for (let round = 0; round < 1_200; round += 1) {
    try {
      const value = await ask();
      if (value !== undefined) return value;
    } catch {
      if (!isAlive()) return undefined;
    }
    await pause(25);
  }
  throw new Error(`nothing came of it:\n${host.output().slice(-2_000)}`);
}

function isAlive(): boolean {
  try {
    process.kill(host.pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function allCompleted(runs: readonly string[]): Promise<true | undefined> {
  for (const runId of runs) if ((await statusOf(runId)) !== 'completed') return undefined;
  return true;
}

describe('runs that do no harm', () => {
  it('are never quarantined, however often the process that holds them is killed', async () => {
    await start();
    expect((await call('POST', '/v1/host/weft/workflows', workflow('innocent'))).status).toBe(201);
    const runs = await createRuns(500, (index) => 3_000 + (index % 50) * 100);

    for (let kill = 0; kill < 5; kill += 1) {
      // Different moments after the start: while runs are taken up, and while they wait.
      await pause(kill * 60);
      await host.kill();
      await start();
    }

    expect(await until(() => allCompleted(runs))).toBe(true);
    expect(await quarantined()).toEqual([]);
    await host.kill();
  }, 120_000);
});

describe.each([
  ['ends', DEADLY],
  ['stops', ENDLESS],
  ['takes all memory of', HUNGRY],
])('a run that %s every process that works on it', (_what, text) => {
  let bad = '';

  it('is quarantined after two of them, and the others continue', async () => {
    await start();
    const deadly = workflow(text, `"x".startsWith("${text}")`);
    for (const definition of [workflow('innocent'), deadly])
      await call('POST', '/v1/host/weft/workflows', definition);
    const runs = await createRuns(40, (index) => 1_000 + index * 100);
    bad = await createRun(text, 300);

    let deaths = 0;
    let found: string[] | undefined;
    while (found === undefined && deaths < 10) {
      found = await until(async () => {
        const runIds = await quarantined();
        return runIds.length > 0 ? runIds : undefined;
      });
      if (found === undefined) deaths += 1;
      // It may end before it is ready: runs are taken up first.
      while (found === undefined && deaths < 10 && !(await starts())) deaths += 1;
    }

    expect(found).toEqual([bad]);
    // From then on it is tried apart from the host.
    expect(deaths).toBe(2);
    const { json } = await call('GET', `/v1/runs/${bad}`);
    expect(json).toMatchObject({
      status: 'running',
      weft: { quarantined: { since: expect.any(String), reason: expect.stringContaining('3 times') } },
    });
    const why = await call('GET', `/v1/host/weft/runs/${bad}/why`);
    expect(why.json).toMatchObject({
      waitingFor: 'release',
      sentence: expect.stringContaining('quarantined'),
    });
    const metrics = await fetch(`${host.url}/metrics`, { headers: { authorization: `Bearer ${KEY}` } });
    expect(await metrics.text()).toMatch(/^weft_runs_quarantined 1$/m);
    expect(await until(() => allCompleted(runs))).toBe(true);
  }, 120_000);

  it('is tried again when it is released, without harm to the host', async () => {
    expect((await call('POST', `/v1/host/weft/runs/${bad}:release`)).status).toBeLessThan(300);

    expect(await until(async () => ((await quarantined()).length > 0 ? true : undefined))).toBe(true);
    expect(isAlive()).toBe(true);
  }, 60_000);

  it('is left alone by the next process, and a cancel ends it', async () => {
    await host.kill();
    await start();
    expect(await quarantined()).toEqual([bad]);

    const answer = await call('POST', `/v1/runs/${bad}/cancel`, {});

    expect(answer).toMatchObject({ status: 200, json: { status: 'cancelled' } });
    expect(await quarantined()).toEqual([]);
    const { json } = await call('GET', `/v1/runs/${bad}/events/poll`);
    const types = (json['events'] as JsonObject[]).map((event) => event['type']);
    expect(types).toEqual(['run.started', 'node.started', 'node.cancelled', 'run.cancelled']);
    await host.kill();
  });
});
