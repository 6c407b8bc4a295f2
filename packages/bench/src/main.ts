/**
 * `npm run bench [-- --quick] [--rounds N] [--only sketch|weft]`: measures the host and the raw limits in turn and writes the
 * medians as a table and as bench-results/latest.json. It states figures and never judges them.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sketch, weft, type Contender } from './contenders.ts';
import { startDriver } from './driver.ts';
import { startEchoServer } from './echo-server.ts';
import { mergeRounds, renderReport, type Figures } from './report.ts';
import { measureEmpty, measureRound, type Sample } from './rounds.ts';

const CLIENTS = [1, 16, 64];
const RESULTS = join(import.meta.dirname, '../../../bench-results');

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});

const figures = await measure(chooseContenders(flags.only), Number(flags.rounds), flags.quick ? 700 : 3_000);
process.stdout.write(`\n${renderReport(figures, CLIENTS)}\n`);
writeResults(figures);

function chooseContenders(only: string | undefined): readonly Contender[] {
  return [sketch, weft].filter(({ name }) => only === undefined || name === only);
}

async function measure(contenders: readonly Contender[], rounds: number, cellMs: number): Promise<Figures> {
  const folder = mkdtempSync(join(process.env['WEFT_BENCH_DIR'] ?? tmpdir(), 'weft-bench-'));
  const driver = startDriver();
  const echo = await startEchoServer();
  const note = (line: string) => process.stderr.write(`${line}\n`);
  const samples: Sample[] = [];
  try {
    const base = { folder, driver, echo, contenders, clients: CLIENTS, cellMs, note };
    const bench = { ...base, emptyBytes: await measureEmpty(base) };
    for (let round = 0; round < rounds; round += 1) samples.push(...(await measureRound(bench, round)));
  } finally {
    driver.close();
    await echo.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return mergeRounds(samples);
}

function writeResults(result: Figures): void {
  if (!existsSync(RESULTS)) mkdirSync(RESULTS);
  const machine = {
    node: process.version,
    platform: process.platform,
    cores: cpus().length,
    cpu: cpus()[0]?.model,
  };
  const document = { at: new Date().toISOString(), machine, figures: result.all() };
  writeFileSync(join(RESULTS, 'latest.json'), `${JSON.stringify(document, null, 2)}\n`);
  process.stdout.write(`written to bench-results/latest.json\n`);
}
