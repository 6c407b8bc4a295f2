/** One cross-runtime diff of a generated pair, by the product: `node project.mjs PAIR OUT [tar.gz]`. Prints its peak memory. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { cross, writeDiff } from '../dist/index.js';
import { readRun } from '../dist/node/index.js';

const [pair, out, ending] = process.argv.slice(2);
const { base, head } = JSON.parse(readFileSync(join(pair, 'pair.json'), 'utf8'));
const run = (side) => join(pair, ending === undefined ? side : `${side}.${ending}`);
const evidence = {
  base: await readRun(run('base'), { workDirPrefix: base.work_dir_prefix }),
  head: await readRun(run('head'), { workDirPrefix: head.work_dir_prefix }),
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
