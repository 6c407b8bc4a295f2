/** `npm run mutants`: makes the clone ready, then breaks its host in one way at a time (packages/conformance/src/mutants). */
import { ensureReady, ROOT, run } from './bootstrap.mjs';

const HOST = `node ${ROOT}/packages/cli/bin/weft.mjs serve --conformance --grpc-port 0 --port {port} --data {data} --log-level error`;

ensureReady();
const suite = `${ROOT}/packages/conformance/dist/mutants/main.js`;
process.exitCode = await run(process.execPath, [suite, '--launch', HOST, ...process.argv.slice(2)], {
  env: { ...process.env, WEFT_AUDIT_RUNS: '1' },
});
