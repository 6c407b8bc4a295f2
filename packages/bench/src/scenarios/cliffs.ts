import { setTimeout as pause } from 'node:timers/promises';
import { createRun, expectCall, registerWorkflow, statusOf } from '../load/calls.ts';
import { KEY, weft } from '../hosts/contenders.ts';
import { startDriver, type Driver } from '../load/driver.ts';
import { longRuns } from '../fill/long-runs.ts';
import type { Target } from '../load/http-connection.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { createTally } from '../measuring/tally.ts';
import { chainOf, type Step } from '../load/workloads.ts';
import { historyLengths } from './history.ts';
import { beginOnHost } from './subscribed-run.ts';

interface Cliff {
  readonly key: string;
  readonly title: string;
  act(): Promise<unknown>;
}

/** The longest that a small request had to wait while something large ran. */
export const cliffs: Scenario = {
  name: 'cliffs',
  title: 'The longest wait of a small request next to something large',
  rawLimit: 'the same request on the idle host',
  goals: ['G10'],
  async measure(lab) {
    const lengths = historyLengths(lab);
    const { folder, runs } = await longRuns(lab, lengths);
    const nodes = sized(lab, 20_000, 1_000);
    const server = await weft.start({ folder }, lab.echo, {
      WEFT_MAX_NODE_EXECUTIONS: '50000',
      WEFT_MAX_STATE_BYTES: String(64 * 2 ** 20),
      WEFT_MAX_DEFINITION_BYTES: String(16 * 2 ** 20),
      WEFT_MAX_BODY_BYTES: String(16 * 2 ** 20),
    });
    lab.cleanUp(() => server.stop());
    const target = { port: server.port, key: KEY };
    const steps = Array.from({ length: nodes }, (): Step => ({ typeId: 'core.noop', config: {} }));
    const definition = chainOf('bench-many-nodes', 'many nodes', steps);

    let manyNodes = '';
    const longest = runs.get(Math.max(...lengths)) ?? ['', ''];
    const compared = runs.get(lengths.at(-2) ?? 0) ?? ['', ''];
    const all: readonly Cliff[] = [
      { key: 'idle', title: 'idle', act: () => pause(lab.cellMs) },
      {
        key: 'register',
        title: `registering ${count(nodes)} nodes`,
        act: () => registerWorkflow(target, definition),
      },
      {
        key: 'nodes',
        title: `a run of ${count(nodes)} nodes`,
        act: async () => {
          manyNodes = await createRun(target, 'bench-many-nodes');
          await untilOver(target, manyNodes);
        },
      },
      {
        key: 'snapshot',
        title: `looking at a run of ${count(nodes)} nodes`,
        act: async () => {
          for (let time = 0; time < 3; time++)
            await expectCall(target, { path: `/v1/runs/${manyNodes}` }, 200);
        },
      },
      {
        key: 'bundle',
        title: 'a bundle over the cap',
        act: () => expectCall(target, { path: `/v1/runs/${longest[0]}/debug-bundle` }, 200),
      },
      {
        key: 'diff',
        title: `a diff of two runs with ${count(lengths.at(-2) ?? 0)} events`,
        act: () => expectCall(target, { path: `/v1/runs/${compared[0]}:diff?against=${compared[1]}` }, 200),
      },
      { key: 'streams', title: 'opening and feeding live streams', act: () => streams(lab, target) },
    ];
    const tally = createTally();
    const prober = startDriver();
    lab.cleanUp(() => prober.close());
    for (const { key, title, act } of all) {
      const worst = await worstWait(prober, target, act);
      tally.add(`cliffs/${key}`, { title: `longest wait: ${title}`, unit: 'ms', better: 'less' }, worst);
      lab.note(`${title}: ${Math.round(worst)} ms`);
    }
    return { figures: tally.figures() };
  },
};

async function worstWait(prober: Driver, target: Target, act: () => Promise<unknown>): Promise<number> {
  const probe = await prober.probe({ kind: 'probe', target, path: '/health' });
  try {
    await act();
  } finally {
    await probe.stop().catch(() => undefined);
  }
  return (await probe.over).worstMs;
}

async function streams(lab: Lab, target: Target): Promise<void> {
  const subscribers = sized(lab, 1_000, 100);
  const broadcast = { targets: [target], subscribers, steps: 20, stepUrl: lab.echo.slowUrl(100) };
  await (await beginOnHost(lab.driver, lab.echo, broadcast)).over;
}

async function untilOver(target: Target, runId: string): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (performance.now() < deadline) {
    const status = await statusOf(target, runId);
    if (status === 'completed') return;
    if (status === 'failed' || status === 'cancelled') throw new Error(`the run of many nodes has ${status}`);
    await pause(200);
  }
  throw new Error('the run of many nodes is not over after two minutes');
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
