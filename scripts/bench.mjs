/**
 * `npm run bench [-- --quick] [--only NAME,…] [--list] [--render]`: makes the clone ready, then measures (packages/bench). Full sizes
 * take about 12 minutes, ten more for the soak and ten for the peers where they are installed, and write docs/bench.md.
 */
import { ensureReady, ROOT, run } from './bootstrap.mjs';

ensureReady();
process.exitCode = await run(process.execPath, [
  `${ROOT}/packages/bench/dist/main.js`,
  ...process.argv.slice(2),
]);
