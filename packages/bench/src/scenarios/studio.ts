import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Scenario, sized } from '../measuring/scenario.ts';
import { type About, createTally } from '../measuring/tally.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PROGRAM = join(ROOT, 'scripts/browser/studio-figures.mjs');
const PATIENCE_MS = 600_000;

const execute = promisify(execFile);

/** What the program tells, and how each figure is called. */
const FIGURES: Readonly<Record<string, Pick<About, 'title' | 'unit'>>> = {
  firstView: { title: 'first view, gzip', unit: 'bytes' },
  graph: { title: 'graph without its layout, gzip', unit: 'bytes' },
  firstPaint: { title: 'first paint', unit: 'ms' },
  longestTask_graph: { title: 'longest task while events stream in, graph (0: none over 50 ms)', unit: 'ms' },
  longestTask_timeline: { title: 'the same, timeline', unit: 'ms' },
  longestTask_events: { title: 'the same, event log', unit: 'ms' },
  slowestMove_graph: { title: 'slowest move of the slider, graph', unit: 'ms' },
  slowestMove_timeline: { title: 'the same, timeline', unit: 'ms' },
  slowestMove_events: { title: 'the same, event log', unit: 'ms' },
};

export const studio: Scenario = {
  name: 'studio',
  title: 'Studio: the page of a host while 100,000 events of one run stream in',
  rawLimit: 'none; the goals of the page are absolute',
  goals: [],
  missing: () =>
    existsSync(join(ROOT, 'tools/browser/node_modules'))
      ? undefined
      : 'npm test brings the browser that measures this; run it once',
  async measure(lab) {
    const tally = createTally();
    for (let round = 0; round < lab.rounds; round += 1) {
      const { stdout } = await execute(process.execPath, [PROGRAM, String(sized(lab, 100_000, 10_000))], {
        timeout: PATIENCE_MS,
      });
      const measured = JSON.parse(stdout) as Readonly<Record<string, number>>;
      for (const [name, about] of Object.entries(FIGURES))
        tally.add(`studio/${name}`, { ...about, better: 'less' }, measured[name]);
      lab.note(`round ${round + 1}: done`);
    }
    return { figures: tally.figures() };
  },
};
