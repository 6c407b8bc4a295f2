import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
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
  SubscribeJob,
  SubscribeResult,
  JobReport,
} from '../measuring/jobs.ts';

/** The load client's process, seen from the bench. One job at a time. */
export interface Driver {
  load(job: LoadJob): Promise<LoadResult>;
  flood(job: FloodJob): Promise<FloodResult>;
  /** Resolves once every subscriber is connected. */
  subscribe(job: SubscribeJob): Promise<RunningJob<SubscribeResult>>;
  /** Resolves once the first request is answered. */
  probe(job: ProbeJob): Promise<RunningJob<ProbeResult>>;
  close(): void;
}

export interface RunningJob<Result> {
  /** Ends it, if it does not end by itself, and resolves with what it saw. */
  stop(): Promise<Result>;
  readonly over: Promise<Result>;
}

export function startDriver(): Driver {
  const child = fork(join(import.meta.dirname, 'load-client.js'), { serialization: 'advanced' });
  const send = (message: JobMessage) => child.send(message);
  const gone = once(child, 'exit').then((): never => {
    throw new Error('the load client has ended');
  });
  // Handled by each pending call; at the end there is none.
  gone.catch(() => undefined);

  async function nextReport(job: Job): Promise<JobReport> {
    const [report] = (await Promise.race([once(child, 'message'), gone])) as [JobReport];
    if (report.stage === 'failed') throw new Error(`the ${job.kind} job failed: ${report.message}`);
    return report;
  }

  async function whole(job: Job): Promise<JobResult> {
    send(job);
    return resultOf(await nextReport(job));
  }

  async function begin<Result extends JobResult>(job: Job): Promise<RunningJob<Result>> {
    send(job);
    await nextReport(job);
    const over = nextReport(job).then((report) => resultOf(report) as Result);
    // A failure is reported to the caller that awaits it.
    over.catch(() => undefined);
    return {
      over,
      stop() {
        send({ kind: 'stop' });
        return over;
      },
    };
  }

  return {
    load: (job) => whole(job) as Promise<LoadResult>,
    flood: (job) => whole(job) as Promise<FloodResult>,
    subscribe: (job) => begin<SubscribeResult>(job),
    probe: (job) => begin<ProbeResult>(job),
    close: () => child.connected && child.disconnect(),
  };
}

function resultOf(report: JobReport): JobResult {
  if (report.stage !== 'over') throw new Error('the load client sent an unexpected report');
  return report.result;
}
