import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Job, JobResult } from './load-client.ts';

/** The load client's process, seen from the bench. */
export interface Driver {
  run(job: Job): Promise<JobResult>;
  close(): void;
}

export function startDriver(): Driver {
  const child = fork(join(import.meta.dirname, 'load-client.js'), { serialization: 'advanced' });
  return {
    async run(job) {
      child.send(job);
      const [result] = (await once(child, 'message')) as [JobResult];
      if (result.failure !== undefined)
        throw new Error(`${job.workflowId} with ${job.clients} clients: ${result.failure}`);
      return result;
    },
    close: () => child.disconnect(),
  };
}
