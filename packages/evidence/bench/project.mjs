/** One cross-runtime diff of a generated pair, by the product: `node project.mjs PAIR OUT`. Prints its peak memory in KiB. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { cross, writeDiff } from '../dist/index.js';
import { readRun } from '../dist/node/index.js';

const [pair, out] = process.argv.slice(2);
const { base, head } = JSON.parse(readFileSync(join(pair, 'pair.json'), 'utf8'));
const evidence = {
  base: await readRun(join(pair, 'base'), { workDirPrefix: base.work_dir_prefix }),
  head: await readRun(join(pair, 'head'), { workDirPrefix: head.work_dir_prefix }),
};
const { diff } = cross(evidence.base, evidence.head, {
  baseRuntime: base.runtime,
  headRuntime: head.runtime,
  basePrefix: base.work_dir_prefix,
  headPrefix: head.work_dir_prefix,
});
const file = openSync(out, 'w');
writeDiff(diff, (piece) => writeSync(file, piece));
closeSync(file);
process.stdout.write(`${process.resourceUsage().maxRSS}\n`);
