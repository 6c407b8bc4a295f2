/**
 * The load client: a process of its own, so that its work does not count as the host's. It takes one job at a time over
 * IPC and answers with the latencies it saw.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openConnection, type Connection, type Target } from './http-connection.ts';

export interface Job {
  readonly kind: 'runs' | 'post';
  readonly target: Target;
  readonly workflowId: string;
  readonly clients: number;
  readonly ms: number;
}

export interface JobResult {
  readonly done: number;
  /** Milliseconds in which `done` was done. */
  readonly elapsedMs: number;
  readonly latencies: readonly number[];
  /** Answers of 503: the host asked to be left alone for a while, and was. */
  readonly refusals: number;
  readonly failure?: string;
}

/** One thing done; resolves with its latency, or with undefined when the host refused and the wait it asked for is over. */
type Act = (connection: Connection) => Promise<number | undefined>;

process.on('message', (job: Job) => {
  perform(job)
    .catch(
      (error: unknown): JobResult => ({
        done: 0,
        elapsedMs: 1,
        latencies: [],
        refusals: 0,
        failure: String(error),
      }),
    )
    .then((result) => process.send?.(result))
    .catch(() => process.exit(1));
});

async function perform(job: Job): Promise<JobResult> {
  const act = job.kind === 'runs' ? runOnce(job.workflowId) : postOnce();
  const connections = await Promise.all(
    Array.from({ length: job.clients }, () => openConnection(job.target)),
  );
  const latencies: number[] = [];
  let refusals = 0;
  const started = performance.now();
  const until = started + job.ms;
  try {
    await Promise.all(
      connections.map(async (connection) => {
        while (performance.now() < until) {
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

function postOnce(): Act {
  const body = JSON.stringify({ workflowId: 'bench-a' });
  return async (connection) => {
    const started = performance.now();
    const answer = await connection.post('/echo', body);
    if (answer.status !== 201) throw new Error(`POST /echo answered ${answer.status}: ${answer.body}`);
    return performance.now() - started;
  };
}
