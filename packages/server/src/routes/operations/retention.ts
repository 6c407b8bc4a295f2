import { Readable } from 'node:stream';
import type { Caller, Host, OpenBackup, Retention } from '@weft/engine';
import { HostError, operationOf, route, SetRetentionSchema } from '@weft/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, type AppContext, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { idempotencyOf, REPLAY_HEADER } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { queryOf, textParam } from '../../http/query.ts';

const REMOVE = operationOf(route('removeRun'));
const ERASE = operationOf(route('eraseRun'));
const MAX_TENANT = 128;
const parseRetention = bodyParser(SetRetentionSchema);

type Act = (host: Host, caller: Caller, runId: string) => Promise<boolean>;

/** How long runs are kept, how they go, and the copy of everything. All of it is the administrator's. */
export const retentionRoutes: Routes = (serve, context) => {
  serve(
    'removeRun',
    { ofRun: true },
    onceOnRun(context, REMOVE, (host, caller, runId) => host.operations.purge(caller, runId)),
  );

  serve(
    'eraseRun',
    { ofRun: true },
    onceOnRun(context, ERASE, (host, caller, runId) => host.operations.erase(caller, runId)),
  );

  serve('getRetention', async (request, reply) =>
    sendRetention(reply, await context.host.operations.retention(callerOf(request), tenantOf(request))),
  );

  serve('setRetention', async (request, reply) => {
    const { keepForSeconds } = parseRetention(request.body);
    const keepMs = keepForSeconds === null ? null : keepForSeconds * 1_000;
    return sendRetention(
      reply,
      await context.host.operations.setRetention(callerOf(request), tenantOf(request), keepMs),
    );
  });

  serve('resetRetention', async (request, reply) =>
    sendRetention(reply, await context.host.operations.resetRetention(callerOf(request), tenantOf(request))),
  );

  serve('backUp', async (request, reply) => {
    const backup = await context.host.operations.backup(callerOf(request));
    // Also when the client leaves before the first byte is asked for.
    reply.raw.once('close', () => void backup.close());
    reply.raw.setTimeout(context.settings.stallMs, () => reply.raw.destroy());
    return reply
      .code(200)
      .header('content-type', 'application/octet-stream')
      .header('content-length', backup.size)
      .header('content-disposition', 'attachment; filename="weft-backup.db"')
      .send(Readable.from(bytesOf(backup), { objectMode: false }));
  });
};

function onceOnRun(context: AppContext, operation: string, act: Act) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const caller = callerOf(request);
    const runId = pathParam(request, 'runId');
    const claim = idempotencyOf(request, {
      operation,
      target: [runId],
      body: null,
      render: () => ({ status: 204, body: '' }),
    });
    const answer = await context.host.once(caller, claim, async () => {
      if (await act(context.host, caller, runId)) return null;
      throw noSuchRun();
    });
    if (answer.replayed) reply.header(REPLAY_HEADER, 'true');
    return reply.code(204).send();
  };
}

async function* bytesOf(backup: OpenBackup): AsyncIterable<Uint8Array> {
  try {
    yield* backup.read();
  } finally {
    await backup.close();
  }
}

function tenantOf(request: FastifyRequest): string {
  const tenant = textParam(queryOf(request), 'tenant') ?? callerOf(request).tenant;
  if (tenant.length > 0 && tenant.length <= MAX_TENANT) return tenant;
  throw new HostError('validation_error', `The parameter "tenant" must have 1 to ${MAX_TENANT} characters.`, {
    field: 'tenant',
  });
}

function sendRetention(reply: FastifyReply, { tenant, keepMs, isDefault }: Retention): FastifyReply {
  const keepForSeconds = keepMs === null ? null : Math.floor(keepMs / 1_000);
  return sendJson(reply, 200, JSON.stringify({ tenant, keepForSeconds, isDefault }));
}
