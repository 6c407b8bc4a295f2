/** `npm run mutants`: makes the clone ready, then breaks its host in one way at a time (packages/conformance/src/mutants). */
import { ensureReady, ROOT, run } from './bootstrap.mjs';

const HOST = `node ${ROOT}/packages/cli/bin/weft.mjs serve --conformance --audit-runs --port {port} --data {data} --log-level error`;

ensureReady();
process.exitCode = await run(process.execPath, [
  `${ROOT}/packages/conformance/dist/mutants/main.js`,
  '--launch',
  HOST,
  ...process.argv.slice(2),
]);
