import type { Caller } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { Routes } from '../door.ts';
import { sendJson } from '../door.ts';

/** Nobody: asks only whether the store answers. */
const PROBE: Caller = {
  tenant: 'default',
  principal: 'probe',
  keyId: 'probe',
  kind: 'service',
  test: false,
  scopes: new Set(),
};

const PATIENCE_MS = 2_000;

/** /health: the process lives. /ready: it should be sent work. Neither needs a key. Counters are for administrators. */
export const healthRoutes: Routes = (app, door) => {
  app.get('/health', (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'));

  app.get('/ready', async (_request, reply) => {
    if (door.streams.closing) throw notReady('the host is shutting down');
    const answered = await answersInTime(door.host.listWorkflows(PROBE, { limit: 1 }));
    if (!answered) throw notReady('the store does not answer');
    return sendJson(reply, 200, '{"status":"ready"}');
  });

  app.get('/v1/host/weft/stats', door.allow('readStats'), (_request, reply) =>
    sendJson(reply, 200, JSON.stringify(door.host.stats())),
  );
};

async function answersInTime(question: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS);
  });
  const answer = question.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function notReady(why: string): HostError {
  return new HostError('service_unavailable', `Not ready: ${why}.`, { retryAfter: 1 }, { retryAfter: 1 });
}
