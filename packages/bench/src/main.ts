/**
 * `npm run bench [-- --quick] [--only NAME,…] [--rounds N] [--list] [--render]`: measures the host and the raw limits in turn.
 * Leaves a table on the terminal, a JSON file and a chart in bench-results/ and, for full sizes, the page docs/bench.md. It
 * states figures and never fails because of one; a scenario that breaks is reported as such and the others continue.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { renderChart } from './report/chart.ts';
import { flagsOf } from './command-line.ts';
import { openLab } from './measuring/lab.ts';
import { renderPage } from './report/page.ts';
import { renderReport } from './report/report.ts';
import { mergeResults, type Results, type ScenarioResult } from './report/results.ts';
import type { Scenario } from './measuring/scenario.ts';
import { SCENARIOS } from './scenarios.ts';

const ROOT = join(import.meta.dirname, '../../..');
const RESULTS = join(ROOT, 'bench-results');

const USAGE = `npm run bench [-- FLAGS]: the host and the raw limits of the same minutes

  --only NAME,…  these scenarios; what was measured of the others before is kept
  --quick        small sizes, one round, for a first look; the page in docs/ stays as it is
  --rounds N     default 3
  --list         the scenarios and their goals
  --render       the page and the chart again, from the JSON file

Examples:
  npm run bench -- --quick
  npm run bench -- --only sqlite,sse`;

const flags = flagsOf(USAGE, {
  quick: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  only: { type: 'string' },
  list: { type: 'boolean', default: false },
  render: { type: 'boolean', default: false },
});
const note = (line: string) => process.stderr.write(`${line}\n`);
const file = join(RESULTS, flags.quick ? 'quick.json' : 'latest.json');

if (flags.list) {
  for (const { name, title, goals } of SCENARIOS)
    process.stdout.write(`${name.padEnd(16)} ${title} (${goals.join(', ') || 'no goal'})\n`);
} else if (flags.render) {
  const results = readEarlier();
  if (results === undefined) throw new Error(`${file} does not exist; run the bench first.`);
  publish(results);
} else {
  const chosen = choose(flags.only).filter(isPossible);
  if (chosen.length > 0) {
    const results = await measure(chosen);
    process.stdout.write(`\n${renderReport(results)}\n`);
    publish(mergeResults(flags.only === undefined ? undefined : readEarlier(), results));
  }
}

function choose(only: string | undefined): readonly Scenario[] {
  if (only === undefined) return SCENARIOS;
  const names = only.split(',').map((name) => name.trim());
  const known = SCENARIOS.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    note(`--only: there is no scenario ${unknown.join(', ')}; there are ${known.join(', ')}.`);
    process.exit(2);
  }
  return SCENARIOS.filter(({ name }) => names.includes(name));
}

function isPossible({ name, missing }: Scenario): boolean {
  const reason = missing?.();
  if (reason !== undefined) note(`— ${name}: left out: ${reason}`);
  return reason === undefined;
}

async function measure(scenarios: readonly Scenario[]): Promise<Results> {
  const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));
  const lab = await openLab({ quick: flags.quick, rounds, note });
  const done: ScenarioResult[] = [];
  let isInterrupted = false;
  process.once('SIGTERM', () => process.exit(143));
  process.once('SIGINT', () => {
    isInterrupted = true;
    note('finishing the current scenario; once more ends at once');
    process.once('SIGINT', () => process.exit(130));
  });
  try {
    for (const scenario of scenarios) {
      if (isInterrupted) break;
      done.push(await lab.run(scenario));
    }
  } finally {
    await lab.close();
  }
  const machine = {
    node: process.version,
    platform: process.platform,
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
  };
  return { at: new Date().toISOString(), quick: flags.quick, machine, scenarios: done };
}

function readEarlier(): Results | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : undefined;
}

/** Figures of small sizes say nothing about the host, so they never reach the docs. */
function publish(results: Results): void {
  if (!existsSync(RESULTS)) mkdirSync(RESULTS);
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  const chart = renderChart(results);
  writeFileSync(file.replace('.json', '.svg'), chart);
  writeFileSync(file.replace('.json', '.md'), renderPage(results));
  process.stdout.write(`written to ${file}, with a chart and a page next to it\n`);
  if (results.quick) return;
  writeFileSync(join(ROOT, 'docs/bench.md'), renderPage(results));
  writeFileSync(join(ROOT, 'docs/bench.svg'), chart);
  process.stdout.write('written to docs/bench.md and docs/bench.svg\n');
}
