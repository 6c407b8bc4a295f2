/** `npm run hostile`: makes the clone ready, then lets one tenant do its worst to a host while another works (packages/bench/src/hostile). */
import { ensureReady, ROOT, run } from './bootstrap.mjs';

ensureReady();
process.exitCode = await run(process.execPath, [
  `${ROOT}/packages/bench/dist/hostile/main.js`,
  ...process.argv.slice(2),
]);
