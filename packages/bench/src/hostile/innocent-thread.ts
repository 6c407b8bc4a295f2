/** Runs the other tenant on a thread of its own, so that what the attacker makes its own process do is not taken for the host's. */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type Innocent, type InnocentOptions, startInnocent } from './innocent.ts';

/** The same tenant, asked from another thread. */
export interface DistantInnocent {
  take(): Promise<number[]>;
  stop(): ReturnType<Innocent['stop']>;
}

type Question = 'take' | 'stop';

export async function startInnocentThread(options: InnocentOptions): Promise<DistantInnocent> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  const next = <Answer>(): Promise<Answer> =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  await next();
  const ask = <Answer>(question: Question): Promise<Answer> => {
    const answer = next<Answer>();
    worker.postMessage(question);
    return answer;
  };
  return {
    take: () => ask<number[]>('take'),
    async stop() {
      const found = await ask<Awaited<ReturnType<Innocent['stop']>>>('stop');
      await worker.terminate();
      return found;
    },
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const innocent = await startInnocent(workerData as InnocentOptions);
  port.on('message', (question: Question) => {
    if (question === 'take') port.postMessage(innocent.take());
    else void innocent.stop().then((found) => port.postMessage(found));
  });
  port.postMessage('ready');
}
