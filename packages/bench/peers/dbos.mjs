/**
 * DBOS on PostgreSQL, in process: `node dbos.mjs PORT ECHO POSTGRES_URL SCHEMA`. Settings as shipped: a pool of ten connections,
 * every step's outcome committed before the next step; no export of traces, no connection to its control plane.
 */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { serveControl } from './control.mjs';
import { createEchoCall } from './echo-call.mjs';

const [port, echoUrl, postgresUrl, schema] = process.argv.slice(2);
const callEcho = createEchoCall(echoUrl);

function chain(name, steps, step) {
  return DBOS.registerWorkflow(
    async () => {
      let last = null;
      for (let index = 0; index < steps; index += 1) {
        last = await DBOS.runStep(step, { name: `n${index + 1}` });
      }
      return last;
    },
    { name },
  );
}

const workflows = new Map([
  ['A', chain('bench-a', 1, async () => null)],
  ['E', chain('bench-e', 10, callEcho)],
]);
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: postgresUrl,
  systemDatabaseSchemaName: schema,
  enableOTLP: false,
  logLevel: 'error',
});
await DBOS.launch();

serveControl({
  port: Number(port),
  run(workload) {
    // Called as a function of nothing: DBOS takes an object in front of it for an instance of a class of its own.
    const start = workflows.get(workload);
    return start();
  },
  close: () => DBOS.shutdown(),
});
