import { HostError } from '@weft/protocol';
import type { Routes } from '../../app-context.ts';
import { sendJson } from '../../app-context.ts';

const PATIENCE_MS = 2_000;

/** Health: the process lives. Readiness: it should be sent work. Neither needs a key. Counters are for administrators. */
export const healthRoutes: Routes = (serve, context) => {
  serve('health', (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'));

  serve('ready', async (_request, reply) => {
    if (context.streams.closing) throw notReady('the host is shutting down');
    const problem = await inTime(context.host.operations.readiness());
    if (problem !== undefined) throw notReady(problem);
    return sendJson(reply, 200, '{"status":"ready"}');
  });

  serve('readStats', (_request, reply) => sendJson(reply, 200, JSON.stringify(context.host.stats())));
};

async function inTime(question: Promise<string | undefined>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('the store does not answer in time'), PATIENCE_MS);
  });
  try {
    return await Promise.race([question, late]);
  } finally {
    clearTimeout(timer);
  }
}

function notReady(why: string): HostError {
  return new HostError('service_unavailable', `Not ready: ${why}.`, { retryAfter: 1 }, { retryAfter: 1 });
}
