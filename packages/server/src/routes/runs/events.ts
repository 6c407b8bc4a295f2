import type { Caller } from '@weft/engine';
import { HostError, parseStreamModes } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import { type AppContext, callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import type { Call } from '../../call.ts';
import { wantsJson } from '../../http/accept.ts';
import { noSuchRun } from '../../http/errors.ts';
import { integerParam, parseInteger, queryOf, textParam } from '../../http/query.ts';
import { renderPage } from '../../stream/event-log.ts';
import { streamRun } from '../../stream/sse-stream.ts';
import type { Subscription } from '../../stream/subscription.ts';
import { sendWholeLog } from '../../stream/whole-log.ts';

const MAX_BUFFER_MS = 5_000;
const ANY_SEQUENCE = { min: -1, max: Number.MAX_SAFE_INTEGER } as const;

export const eventsRoutes: Routes = (serve, context) => {
  // Parameters are checked before the form of the answer is chosen: a wrong mode is 400 for readers of JSON too.
  serve('streamRunEvents', { ofRun: true }, async (request, reply) => {
    const subscribed = subscriptionOf(request);
    const { caller, runId, modes, bufferMs } = subscribed;

    if (wantsJson(request.headers.accept)) return sendWholeLog(context, reply, caller, runId);
    if (request.method === 'HEAD') return await headOnly(context, reply, caller, runId);
    return streamRun(context, reply, { caller, runId, modes, bufferMs, afterSeq: lastEventId(request) });
  });

  serve('pollRunEvents', { ofRun: true }, async (request, reply) => {
    const query = queryOf(request);
    const afterSeq =
      integerParam(query, 'lastSequence', ANY_SEQUENCE) ?? integerParam(query, 'since', ANY_SEQUENCE) ?? -1;
    const timeout = integerParam(query, 'timeout', { min: 1, max: 60 }) ?? 30;
    const limit = integerParam(query, 'limit', { min: 1, max: 1000 }) ?? 100;
    const caller = callerOf(request);
    const runId = pathParam(request, 'runId');

    const now = await context.host.runs.events(caller, runId, afterSeq, limit);
    if (now === undefined) throw noSuchRun();
    if (now.events.length > 0 || now.complete) return sendJson(reply, 200, renderPage(runId, now));

    const waiting = context.streams.open(caller.tenant, 'poll');
    reply.raw.on('close', waiting.end);
    try {
      await context.host.runs.waitForEvents(runId, afterSeq, timeout * 1000, waiting.signal);
    } finally {
      waiting.end();
    }
    const later = await context.host.runs.events(caller, runId, afterSeq, limit);
    if (later === undefined) throw noSuchRun();
    return sendJson(reply, 200, renderPage(runId, later));
  });
};

/** What a reader wants to see of a run. Throws HostError `validation_error`. */
export function subscriptionOf(call: Call): Omit<Subscription, 'afterSeq'> {
  const query = queryOf(call);
  const modes = parseStreamModes(textParam(query, 'streamMode'));
  const bufferMs = integerParam(query, 'bufferMs', { min: 0, max: MAX_BUFFER_MS }) ?? 0;
  return { caller: callerOf(call), runId: pathParam(call, 'runId'), modes, bufferMs };
}

/** What a stream would begin with; it is not opened. */
async function headOnly(
  { host }: AppContext,
  reply: FastifyReply,
  caller: Caller,
  runId: string,
): Promise<FastifyReply> {
  if ((await host.runs.events(caller, runId, -1, 1)) === undefined) throw noSuchRun();
  return reply.header('content-type', 'text/event-stream; charset=utf-8').send('');
}

export function lastEventId({ headers }: Call): number {
  const header = headers['last-event-id'];
  if (header === undefined) return -1;
  const sequence = typeof header === 'string' ? parseInteger(header) : undefined;
  if (sequence === undefined || sequence < -1) {
    throw new HostError('validation_error', 'Last-Event-ID must be a sequence, an integer of -1 or more.', {
      field: 'Last-Event-ID',
    });
  }
  return sequence;
}
