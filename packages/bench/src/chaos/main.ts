/**
 * `npm run chaos -- [--minutes N] [--seed S] [--store postgres|sqlite] [--keep DIR]`: random workflows against a cluster while a
 * injector lets things go wrong, and a checker afterwards. Ends with 1, and the folder of the history, when a rule was broken.
 * `npm run chaos -- --check DIR` looks at a history that was kept once more.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flagsOf } from '../command-line.ts';
import { runChaos } from './chaos.ts';
import { checkHistory } from './checking/checker.ts';
import type { History } from './checking/history.ts';
import { renderReport, renderCheckResult } from './report.ts';
import type { CheckResult } from './checking/rules.ts';

const HISTORY_FILE = 'history.json';

const USAGE = `npm run chaos [-- FLAGS]: random workflows against a host on which things go wrong, then a checker

  --minutes N               default 1
  --seed S                  fixes workload and schedule; default: any
  --store postgres|sqlite   three processes on PostgreSQL (default), or one on SQLite
  --keep DIR                keeps the history there, also when nothing was found
  --check DIR               looks once more at a history that was kept

Examples:
  npm run chaos -- --minutes 2 --seed 7
  npm run chaos -- --check /tmp/weft-chaos-x1y2z3`;

const flags = flagsOf(USAGE, {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string' },
  store: { type: 'string', default: 'postgres' },
  keep: { type: 'string' },
  check: { type: 'string' },
});

const minutes = Number(flags.minutes);
const seed = flags.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(flags.seed);
const store = flags.store === 'sqlite' ? 'sqlite' : 'postgres';
if (!(minutes > 0 && minutes <= 600) || !Number.isSafeInteger(seed) || flags.store !== store) {
  process.stderr.write(
    `--minutes is a number up to 600, --seed an integer, --store postgres or sqlite.\n\n${USAGE}\n`,
  );
  process.exit(2);
}

// Ends through `exit`, where every process that was started is ended too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const startedAt = performance.now();
const note = (line: string): void => {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);
};

if (flags.check === undefined) await runAndCheck();
else checkAgain(flags.check);

async function runAndCheck(): Promise<void> {
  process.stdout.write(`chaos: seed ${seed}, ${minutes} min, ${store}\n`);
  const folder = flags.keep ?? mkdtempSync(join(tmpdir(), 'weft-chaos-'));
  const outcome = await runChaos({ seed, minutes, store, folder, note });
  writeFileSync(join(folder, HISTORY_FILE), JSON.stringify(outcome.history));
  const result = checkHistory(outcome.history);
  process.stdout.write(`\n${renderReport(outcome, result)}\n`);
  conclude(seed, result, folder);
  if (result.violations.length === 0 && flags.keep === undefined)
    rmSync(folder, { recursive: true, force: true });
}

function checkAgain(folder: string): void {
  const history = JSON.parse(readFileSync(join(folder, HISTORY_FILE), 'utf8')) as History;
  const result = checkHistory(history);
  process.stdout.write(renderCheckResult(result));
  conclude(history.seed, result, folder);
}

function conclude(of: number, { violations }: CheckResult, folder: string): void {
  if (violations.length === 0) {
    process.stdout.write(`seed ${of}: nothing found\n`);
    return;
  }
  process.stdout.write(`seed ${of}: ${violations.length} violations; the history is in ${folder}\n`);
  process.exitCode = 1;
}
