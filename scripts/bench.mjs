/** `npm run bench [-- --quick]`: makes the clone ready, then measures (packages/bench). */
import { ensureReady, ROOT, run } from './bootstrap.mjs';

ensureReady();
process.exitCode = await run(process.execPath, [
  `${ROOT}/packages/bench/dist/main.js`,
  ...process.argv.slice(2),
]);
