import { setTimeout as pause } from 'node:timers/promises';
import { createRun, registerWorkflow, statusOf } from '../load/calls.ts';
import { KEY, type Place, weft } from '../hosts/contenders.ts';
import type { Target } from '../load/http-connection.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { createTally } from '../measuring/tally.ts';
import { chainOf, httpStep } from '../load/workloads.ts';

const DEFINITION_ID = 'bench-in-flight';
const STEPS = 10;
const STEP_MS = 200;

/** How soon runs that were in flight are at their end after SIGKILL, less what they had left to wait for. */
export const kill: Scenario = {
  name: 'kill',
  title: 'SIGKILL under load, then a restart on the same file',
  rawLimit: 'the calls that the runs still had to wait for',
  goals: ['G11'],
  async measure(lab) {
    const tally = createTally();
    for (let round = 0; round < lab.rounds; round += 1) {
      const { lost, seconds } = await once(lab, { folder: lab.newFolder('kill') });
      tally.add('kill/lost', { title: 'acknowledged runs lost', unit: 'runs', better: 'less' }, lost);
      const title = 'from the restart to the end of the last run in flight';
      tally.add('kill/recovery', { title, unit: 's', better: 'less' }, seconds);
      tally.against('kill/recovery', 'what was left to wait for at most', (STEPS * STEP_MS) / 1000);
    }
    return { figures: tally.figures() };
  },
};

async function once(lab: Lab, place: Place): Promise<{ lost: number; seconds: number }> {
  const steps = Array.from({ length: STEPS }, () => httpStep(lab.echo.slowUrl(STEP_MS)));
  const first = await weft.start(place, lab.echo);
  lab.cleanUp(() => first.stop());
  const before = { port: first.port, key: KEY };
  await registerWorkflow(before, chainOf(DEFINITION_ID, 'calls in flight', steps));
  const runs = await Promise.all(
    Array.from({ length: sized(lab, 64, 8) }, () => createRun(before, DEFINITION_ID)),
  );
  await pause((STEPS * STEP_MS) / 2);
  await first.kill();

  const second = await weft.start(place, lab.echo);
  lab.cleanUp(() => second.stop());
  const target = { port: second.port, key: KEY };
  const started = performance.now();
  const over = await Promise.all(runs.map((run) => isCompletedInTime(target, run)));
  return { lost: over.filter((done) => !done).length, seconds: (performance.now() - started) / 1000 };
}

async function isCompletedInTime(target: Target, runId: string): Promise<boolean> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    const status = await statusOf(target, runId).catch(() => 'missing');
    if (status === 'completed') return true;
    if (status !== 'running') return false;
    await pause(50);
  }
  return false;
}
