/**
 * The load client: a process of its own, so that its work does not count as the host's. It takes one job at a time over
 * IPC and answers with what it saw.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { openConnection, type Connection } from './http-connection.ts';
import type {
  JobMessage,
  FloodJob,
  FloodResult,
  Job,
  JobResult,
  LoadJob,
  LoadResult,
  ProbeJob,
  ProbeResult,
  JobReport,
} from '../measuring/jobs.ts';
import { percentile } from '../measuring/measure.ts';
import { subscribe } from './subscribers.ts';

/** One thing done; resolves with its latency, or with undefined when the host refused and the wait it asked for is over. */
type Act = (connection: Connection) => Promise<number | undefined>;

let stop = new AbortController();
const report = (message: JobReport) => process.send?.(message);
const begun = () => report({ stage: 'begun' });

process.on('message', (asked: JobMessage) => {
  if (asked.kind === 'stop') {
    stop.abort();
    return;
  }
  stop = new AbortController();
  perform(asked).then(
    (result) => report({ stage: 'over', result }),
    (error: unknown) => report({ stage: 'failed', message: String(error) }),
  );
});

function perform(job: Job): Promise<JobResult> {
  switch (job.kind) {
    case 'runs':
    case 'waited':
    case 'post':
      return load(job);
    case 'flood':
      return flood(job);
    case 'subscribe':
      return subscribe(job, begun, stop.signal);
    case 'probe':
      return probe(job);
  }
}

const ACTS: Readonly<Record<LoadJob['kind'], (job: LoadJob) => Act>> = {
  runs: ({ workflowId }) => runOnce(workflowId),
  waited: ({ workflowId }) => waitedOnce(workflowId),
  post: ({ path = '/echo' }) => postOnce(path),
};

async function load(job: LoadJob): Promise<LoadResult> {
  const act = ACTS[job.kind](job);
  const targets = [job.target, ...(job.others ?? [])];
  const connections = await Promise.all(
    Array.from({ length: job.clients }, (_, index) =>
      openConnection(targets[index % targets.length] ?? job.target),
    ),
  );
  const latencies: number[] = [];
  let refusals = 0;
  let begunRuns = 0;
  const started = performance.now();
  const until = started + job.ms;
  const nextStart = () => started + (job.perSecond === undefined ? 0 : (begunRuns++ / job.perSecond) * 1000);
  try {
    await Promise.all(
      connections.map(async (connection) => {
        for (;;) {
          const wait = nextStart() - performance.now();
          if (wait > 0) await pause(wait);
          if (performance.now() >= until) return;
          const latency = await act(connection);
          if (latency === undefined) refusals += 1;
          else latencies.push(latency);
        }
      }),
    );
  } finally {
    for (const connection of connections) connection.close();
  }
  return { done: latencies.length, elapsedMs: performance.now() - started, latencies, refusals };
}

/** Latency from the first byte of the create request to the terminal event. */
function runOnce(workflowId: string): Act {
  const body = JSON.stringify({ workflowId });
  return async (connection) => {
    const started = performance.now();
    const created = await connection.post('/v1/runs', body);
    if (created.status === 503) {
      await pause(Number(/"retryAfter":(\d+)/.exec(created.body)?.[1] ?? 1) * 1000);
      return undefined;
    }
    if (created.status !== 201) throw new Error(`POST /v1/runs answered ${created.status}: ${created.body}`);
    const runId = /"runId":"([^"]+)"/.exec(created.body)?.[1] ?? '';
    const { terminal, seenAt } = await connection.follow(`/v1/runs/${runId}/events`);
    if (terminal !== 'run.completed')
      throw new Error(`run ${runId} ended with ${terminal || 'no terminal event'}`);
    return seenAt - started;
  };
}

/** The host waits for the end, and says it in its answer. */
function waitedOnce(workflowId: string): Act {
  const body = JSON.stringify({ workflowId });
  return async (connection) => {
    const started = performance.now();
    const { status, body: text } = await connection.post('/v1/runs', body, 'Prefer: wait=60\r\n');
    if (status !== 201 || !text.includes('"type":"run.completed"'))
      throw new Error(`POST /v1/runs answered ${status}: ${text}`);
    return performance.now() - started;
  };
}

function postOnce(path: string): Act {
  const body = JSON.stringify({ workflowId: 'bench-a' });
  return async (connection) => {
    const started = performance.now();
    const { status, body: message } = await connection.post(
      path.replace('{key}', () => randomUUID()),
      body,
    );
    if (status !== 200 && status !== 201) throw new Error(`POST ${path} answered ${status}: ${message}`);
    return performance.now() - started;
  };
}

async function flood(job: FloodJob): Promise<FloodResult> {
  const body = JSON.stringify({ workflowId: job.workflowId });
  const connections = await Promise.all(
    Array.from({ length: job.clients }, () => openConnection(job.target)),
  );
  const others: Record<string, number> = {};
  let accepted = 0;
  let refused = 0;
  let unspecified = 0;
  let firstRefusalMs: number | undefined;
  const started = performance.now();
  const count = (status: number, head: string) => {
    if (status === 201) accepted += 1;
    else if (status === 503 || status === 429) {
      refused += 1;
      firstRefusalMs ??= performance.now() - started;
      if (!/\r\nretry-after: *\d+/i.test(head)) unspecified += 1;
    } else others[status] = (others[status] ?? 0) + 1;
  };
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() - started < job.ms) {
        const { status, head } = await connection.post('/v1/runs', body);
        count(status, head);
      }
      connection.close();
    }),
  );
  const first = firstRefusalMs === undefined ? {} : { firstRefusalMs };
  return { accepted, refused, unspecified, others, ...first };
}

async function probe(job: ProbeJob): Promise<ProbeResult> {
  const { signal } = stop;
  const connection = await openConnection(job.target);
  const latencies: number[] = [];
  while (!signal.aborted) {
    const started = performance.now();
    const answer = await connection.get(job.path);
    latencies.push(performance.now() - started);
    if (answer.status !== 200) throw new Error(`GET ${job.path} answered ${answer.status}: ${answer.body}`);
    if (latencies.length === 1) begun();
    await turn();
    if (!signal.aborted) await pause(2);
  }
  connection.close();
  return {
    requests: latencies.length,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    worstMs: percentile(latencies, 1),
  };
}
