/** Runs the other tenant on a thread of its own, so that what the attacker makes its own process do is not taken for the host's. */
import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type NeighbourTenant, type NeighbourOptions, startNeighbourTenant } from './neighbour-tenant.ts';

/** The same tenant, asked from another thread. */
export interface NeighbourThread {
  take(): Promise<number[]>;
  stop(): ReturnType<NeighbourTenant['stop']>;
}

type Question = 'take' | 'stop';

export async function startNeighbourThread(options: NeighbourOptions): Promise<NeighbourThread> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  const next = async <Answer>(): Promise<Answer> => (await once(worker, 'message'))[0] as Answer;
  await next();
  const ask = <Answer>(question: Question): Promise<Answer> => {
    const answer = next<Answer>();
    worker.postMessage(question);
    return answer;
  };
  return {
    take: () => ask<number[]>('take'),
    async stop() {
      const found = await ask<Awaited<ReturnType<NeighbourTenant['stop']>>>('stop');
      await worker.terminate();
      return found;
    },
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const neighbour = await startNeighbourTenant(workerData as NeighbourOptions);
  port.on('message', (question: Question) => {
    if (question === 'take') port.postMessage(neighbour.take());
    else void neighbour.stop().then((found) => port.postMessage(found));
  });
  port.postMessage('ready');
}
