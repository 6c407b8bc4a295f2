/**
 * graphile-worker on PostgreSQL, in process: `node graphile-worker.mjs PORT ECHO POSTGRES_URL SCHEMA`. A queue keeps no history, so
 * a run is a chain of jobs: each does its step and then adds the next one. Settings as shipped but for 64 jobs at a time, and as
 * many connections as that takes at most.
 */
import { randomUUID } from 'node:crypto';
import { Logger, run as runWorker } from 'graphile-worker';
import pg from 'pg';
import { serveControl } from './control.mjs';
import { createEchoCall } from './echo-call.mjs';

const CLIENTS = 64;
const LENGTHS = { A: 1, E: 10 };
const [port, echoUrl, postgresUrl, schema] = process.argv.slice(2);
const callEcho = createEchoCall(echoUrl);
const waiting = new Map();

async function perform({ runId, workload, step }, { addJob }) {
  if (workload === 'E') await callEcho();
  if (step < LENGTHS[workload]) await addJob('step', { runId, workload, step: step + 1 });
}

const pgPool = new pg.Pool({ connectionString: postgresUrl, max: 20 });
const worker = await runWorker({
  pgPool,
  schema,
  concurrency: CLIENTS,
  noHandleSignals: true,
  logger: new Logger(() => () => undefined),
  taskList: { step: perform },
});
// Heard after the job's end is committed.
worker.events.on('job:complete', ({ job: { payload }, error }) => {
  if (error) waiting.get(payload.runId)?.reject(error);
  else if (payload.step === LENGTHS[payload.workload]) waiting.get(payload.runId)?.resolve();
});

serveControl({
  port: Number(port),
  async run(workload) {
    const runId = randomUUID();
    const over = new Promise((resolve, reject) => waiting.set(runId, { resolve, reject }));
    await worker.addJob('step', { runId, workload, step: 1 });
    await over;
    waiting.delete(runId);
  },
  async close() {
    await worker.stop();
    await pgPool.end();
  },
});
