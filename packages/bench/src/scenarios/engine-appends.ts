import { join } from 'node:path';
import { ALL_SCOPES, type Caller, createHost, DEFAULT_TENANT } from '@weft/engine';
import { openSqliteStore } from '@weft/storage';
import { measureGroupCommit } from '../raw/group-commit.ts';
import type { Lab, Scenario } from '../measuring/scenario.ts';
import { createTally } from '../measuring/tally.ts';
import { definitionOf, type Workload, workloadOf } from '../load/workloads.ts';

const CLIENTS = 64;

const CALLER: Caller = {
  tenant: DEFAULT_TENANT,
  principal: 'bench',
  keyId: 'bench',
  kind: 'service',
  test: false,
  scopes: new Set(ALL_SCOPES),
};

export const engineAppends: Scenario = {
  name: 'engine',
  title: 'The engine without HTTP: runs created and executed to their end, 64 at a time',
  rawLimit: 'the same rows committed in groups of 64, nothing else',
  goals: ['G6'],
  async measure(lab) {
    const tally = createTally();
    for (let round = 0; round < lab.rounds; round += 1) {
      for (const workload of [workloadOf('A'), workloadOf('B')]) {
        const key = `engine/${workload.name}`;
        const title = `${workload.name} without HTTP`;
        tally.add(key, { title, unit: 'runs/s', better: 'more' }, await runsPerSecond(lab, workload));
        const group = { workload, groupSize: CLIENTS, ms: lab.cellMs };
        tally.against(key, 'bare group commit', measureGroupCommit(lab.newFolder('raw'), group));
      }
    }
    return { figures: tally.figures() };
  },
};

async function runsPerSecond(lab: Lab, workload: Workload): Promise<number> {
  const store = openSqliteStore({ path: join(lab.newFolder('engine'), 'weft.db') });
  const host = createHost({ store, version: 'bench' });
  try {
    await host.start();
    const definition = definitionOf(workload, lab.echo.url);
    await host.workflows.register(CALLER, definition, { strict: false, dev: false });
    await during(lab.warmUpMs, () => host.runs.create(CALLER, newRun(workload)));
    return await during(lab.cellMs, () => host.runs.create(CALLER, newRun(workload)));
  } finally {
    await host.stop(1_000);
    await store.close();
  }
}

/** A pure workflow is executed within its creation, so an answered one is a finished one. */
async function during(ms: number, act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() - started < ms) {
        await act();
        done += 1;
      }
    }),
  );
  return (done / (performance.now() - started)) * 1000;
}

function newRun({ workflowId }: Workload) {
  return { workflowId, inputs: {}, configurable: {}, tags: [], metadata: {}, exclusiveScope: false };
}
