/** `npm test`: makes the clone ready (process tests start the built CLI), then runs every test. Arguments go to vitest. */
import { ensureReady, ensureTools, run, tool } from './bootstrap.mjs';

ensureReady();
ensureTools();
const reporters = ['--reporter=default', '--reporter=./scripts/count-reporter.mjs'];
process.exitCode = await run(process.execPath, [
  tool('vitest/vitest.mjs'),
  'run',
  ...reporters,
  ...process.argv.slice(2),
]);
