/** Our projector as the kit wants it: `node weft-projector.mjs CASE`. Needs the build. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cross, diff, explain, explanationText, renderDiff } from '../dist/index.js';
import { readRun } from '../dist/node/index.js';

const folder = process.argv[2];
const { contract, declared } = JSON.parse(readFileSync(join(folder, 'case.json'), 'utf8'));
const base = await readRun(join(folder, 'base'), { workDirPrefix: declared?.basePrefix });
const head = await readRun(join(folder, 'head'), { workDirPrefix: declared?.headPrefix });
const projection = contract === 'cross' ? cross(base, head, declared) : diff(base, head);
if (projection.diff.status === 'failed') {
  process.stderr.write(`${explanationText(explain(projection))}\n`);
  process.exitCode = 3;
} else process.stdout.write(renderDiff(projection.diff));
