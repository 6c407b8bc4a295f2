import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, weft } from '../hosts/contenders.ts';
import type { ServerProcess } from '../hosts/server-process.ts';
import { expectCall, registerWorkflow, statusOf } from '../load/calls.ts';
import {
  listenTo,
  MODEL,
  type ModelServer,
  type Speech,
  speechText,
  startModelServer,
} from '../load/model-server.ts';
import { chainOf, workloadOf } from '../load/workloads.ts';
import { percentile } from '../measuring/measure.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { createTally, type Tally } from '../measuring/tally.ts';

const SPEECH: Speech = { pieces: 300, perSecond: 20 };
const WORKFLOW = 'bench-agents';
/** What others ask for meanwhile: runs of A, far below what the host can do. */
const OTHERS = { workflowId: workloadOf('A').workflowId, clients: 8, perSecond: 100 };
const MEASURED_MS = 8_000;
/** All agents have begun to speak by then, and speak on for longer than is measured. */
const STARTING_MS = 2_000;
const PATIENCE_MS = 120_000;

/**
 * How much agents slow down others. Models and clients share the cores with the host, so that models alone slow it down, even if other clients listen to
 * them; of that the host can do nothing. So the other side of the relation is measured while the same number of models speak at the same rate
 * to plain clients, in this process, that drop what they hear. What is left is what the host does for its agents: reading, parsing, recording.
 * The others without any models are reported with it.
 *
 * Agents start at once, which is a burst of requests of its own, whatever they do later. So the others of the first seconds are a figure of their
 * own, without a relation. Agents have spoken once before, so that what is measured is not the first use of a library.
 */

export const agents: Scenario = {
  name: 'agents',
  title: 'Agents whose models stream, next to other runs',
  rawLimit: 'the same other runs while the models speak to plain clients, in turn',
  goals: [],
  async measure(lab) {
    const model = await startModelServer(SPEECH);
    lab.cleanUp(() => model.close());
    const folder = lab.newFolder('agents');
    const config = join(lab.newFolder('agents-config'), 'weft.json');
    const providers = { bench: { kind: 'openai-compatible', baseUrl: model.url } };
    writeFileSync(config, JSON.stringify({ models: { providers, default: `bench/${MODEL}` } }));
    const host = await weft.start({ folder }, lab.echo, { WEFT_CONFIG: config });
    lab.cleanUp(() => host.stop());
    const step = { typeId: 'weft.ai.agent', config: { instructions: 'Speak.', prompt: 'Now.', tools: [] } };
    await registerWorkflow({ port: host.port, key: KEY }, chainOf(WORKFLOW, 'an agent that speaks', [step]));
    const first = await startAgents(lab, host);
    await others(lab, host, lab.warmUpMs);
    for (const runId of first) await isWrong(host, runId);
    const tally = createTally();
    for (let round = 0; round < lab.rounds; round += 1) await measureRound(lab, host, model, tally);
    return { figures: tally.figures() };
  },
};

async function measureRound(lab: Lab, host: ServerProcess, model: ModelServer, tally: Tally): Promise<void> {
  const count = countOf(lab);
  const alone = await others(lab, host, MEASURED_MS);
  const listeners = listenTo(model, count);
  const without = await others(lab, host, MEASURED_MS);
  listeners.stop();
  const runIds = await startAgents(lab, host);
  const starting = await others(lab, host, STARTING_MS);
  const next = await others(lab, host, MEASURED_MS);
  const wrong = (await Promise.all(runIds.map((runId) => isWrong(host, runId)))).filter(Boolean).length;
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const title = `a run of A next to ${count} agents that stream ${SPEECH.perSecond} pieces a second each, ${name}`;
    tally.add(`agents/${name}`, { title, unit: 'ms', better: 'less' }, percentile(next, share));
    tally.against(`agents/${name}`, 'the models speak to plain clients', percentile(without, share));
    const quiet = { title: `a run of A without any models, ${name}`, unit: 'ms', better: 'less' } as const;
    tally.add(`agents/alone/${name}`, quiet, percentile(alone, share));
    const burst = {
      title: `a run of A while ${count} agents start at once, ${name}`,
      unit: 'ms',
      better: 'less',
    } as const;
    tally.add(`agents/starting/${name}`, burst, percentile(starting, share));
  }
  const about = { title: 'agents with a text that is not whole', unit: 'runs', better: 'less' } as const;
  tally.add('agents/wrong', about, wrong);
}

async function others(lab: Lab, { port }: ServerProcess, ms: number): Promise<readonly number[]> {
  const { latencies } = await lab.driver.load({ kind: 'runs', target: { port, key: KEY }, ms, ...OTHERS });
  return latencies;
}

function countOf(lab: Lab): number {
  return sized(lab, 200, 20);
}

function startAgents(lab: Lab, host: ServerProcess): Promise<string[]> {
  return Promise.all(Array.from({ length: countOf(lab) }, () => startAgent(host)));
}

async function startAgent({ port }: ServerProcess): Promise<string> {
  const body = JSON.stringify({ workflowId: WORKFLOW });
  const { text } = await expectCall({ port, key: KEY }, { method: 'POST', path: '/v1/runs', body }, 201);
  return (JSON.parse(text) as { runId: string }).runId;
}

/** True when its log does not hold every piece once, in order, and its end. */
async function isWrong({ port }: ServerProcess, runId: string): Promise<boolean> {
  const target = { port, key: KEY };
  const until = performance.now() + PATIENCE_MS;
  while ((await statusOf(target, runId)) !== 'completed') {
    if (performance.now() > until) return true;
    await pause(250);
  }
  const answer = await fetch(`http://127.0.0.1:${port}/v1/runs/${runId}/events/poll?timeout=1&limit=1000`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  const { events } = (await answer.json()) as { events: { type: string; payload: { chunk?: string } }[] };
  const said = events.filter(({ type }) => type === 'output.chunk').map(({ payload }) => payload.chunk ?? '');
  return said.join('') !== speechText(SPEECH);
}
