/** `npm test`: makes the clone ready (process tests start the built CLI), then runs every test. Arguments go to vitest. */
import { spawnSync } from 'node:child_process';
import { ensureReady, ensureTools, run, tool } from './bootstrap.mjs';

ensureReady();
ensureTools();
if (spawnSync('python3', ['--version']).status !== 0)
  process.stdout.write('not run: the worker in Python, because there is no python3\n');
const reporters = ['--reporter=default', '--reporter=./scripts/count-reporter.mjs'];
process.exitCode = await run(process.execPath, [
  tool('vitest/vitest.mjs'),
  'run',
  ...reporters,
  ...process.argv.slice(2),
]);
