/** `npm run chaos -- --minutes N --seed S`: makes the clone ready, then lets things go wrong (packages/bench/src/chaos). */
import { ensureReady, ROOT, run } from './bootstrap.mjs';

ensureReady();
process.exitCode = await run(process.execPath, [
  `${ROOT}/packages/bench/dist/chaos/main.js`,
  ...process.argv.slice(2),
]);
