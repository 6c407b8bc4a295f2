import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type {
  Asked,
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
  Told,
} from '../measuring/jobs.ts';

/** The load client's process, seen from the bench. One job at a time. */
export interface Driver {
  load(job: LoadJob): Promise<LoadResult>;
  flood(job: FloodJob): Promise<FloodResult>;
  /** Resolves once every subscriber is connected. */
  subscribe(job: SubscribeJob): Promise<Underway<SubscribeResult>>;
  /** Resolves once the first request is answered. */
  probe(job: ProbeJob): Promise<Underway<ProbeResult>>;
  close(): void;
}

export interface Underway<Result> {
  /** Ends it, if it does not end by itself, and resolves with what it saw. */
  stop(): Promise<Result>;
  readonly over: Promise<Result>;
}

export function startDriver(): Driver {
  const child = fork(join(import.meta.dirname, 'load-client.js'), { serialization: 'advanced' });
  const tell = (message: Asked) => child.send(message);
  const gone = once(child, 'exit').then((): never => {
    throw new Error('the load client has ended');
  });
  // Known to whoever waits for an answer; at the end nobody does.
  gone.catch(() => undefined);

  async function hear(job: Job): Promise<Told> {
    const [told] = (await Promise.race([once(child, 'message'), gone])) as [Told];
    if (told.stage === 'failed') throw new Error(`the ${job.kind} job failed: ${told.message}`);
    return told;
  }

  async function whole(job: Job): Promise<JobResult> {
    tell(job);
    return resultOf(await hear(job));
  }

  async function begin<Result extends JobResult>(job: Job): Promise<Underway<Result>> {
    tell(job);
    await hear(job);
    const over = hear(job).then((told) => resultOf(told) as Result);
    // Whoever asks for it learns of a failure; nobody else has to.
    over.catch(() => undefined);
    return {
      over,
      stop() {
        tell({ kind: 'stop' });
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

function resultOf(told: Told): JobResult {
  if (told.stage !== 'over') throw new Error('the load client spoke out of turn');
  return told.result;
}
