/** The process in which a host tries suspect runs (trial-process.ts). It reads the host's store through the channel, and writes nothing. */
import { Worker } from 'node:worker_threads';
import { createTrialRunner, openMemoryStore, type Store, type TrialRequest } from '@weft/engine';
import { VERSION } from '../../../version.ts';
import { conformanceFor } from '../../conformance.ts';
import {
  type FromTrialProcess,
  type ToTrialProcess,
  TRIAL_READS,
  type TrialSetup,
} from '../trial-messages.ts';

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const waiting = new Map<number, Waiting>();
let asked = 0;
let attempt: ((request: TrialRequest) => Promise<void>) | undefined;

function tell(message: FromTrialProcess): void {
  process.send?.(message);
}

/** What is read is the host's; what would be written ends with this process. */
function storeOfHost(): Store {
  const reads = TRIAL_READS.map((method) => [
    method,
    (...args: unknown[]) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, { resolve, reject });
        tell({ kind: 'ask', id: asked, method, args });
      }),
  ]);
  return { ...openMemoryStore(), ...(Object.fromEntries(reads) as Partial<Store>) };
}

async function prepare({ conformance, limits, secretsKey }: TrialSetup): Promise<void> {
  attempt = createTrialRunner({
    store: storeOfHost(),
    version: VERSION,
    conformance: await conformanceFor(conformance),
    limits,
    secretsKey,
  });
  tell({ kind: 'ready' });
}

/** A decision that throws ends nothing: the host will see that itself. */
async function tryRun(request: TrialRequest): Promise<void> {
  await attempt?.(request).catch(() => undefined);
  waiting.clear();
  tell({ kind: 'lived' });
}

process.on('message', (message: ToTrialProcess) => {
  switch (message.kind) {
    case 'setup':
      return void prepare(message);
    case 'attempt':
      return void tryRun(message);
    case 'read':
      waiting.get(message.id)?.resolve(message.value);
      break;
    case 'unread':
      waiting.get(message.id)?.reject(new Error(message.message));
  }
  waiting.delete(message.id);
});
// The host is gone, however it ended. While this thread is busy it does not hear that.
process.on('disconnect', () => process.exit(0));
new Worker(new URL('./host-watch-thread.js', import.meta.url)).unref();
// Ctrl-C at a terminal reaches every process; the host decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
