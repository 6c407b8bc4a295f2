import { type Host, type RunDiff, renderDiff } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import { callerOf, type AppContext, pathParam, type Routes } from '../../app-context.ts';
import type { Call } from '../../call.ts';
import { noSuchRun } from '../../http/errors.ts';
import { queryOf, textParam } from '../../http/query.ts';
import { breakOff } from '../../stream/break-off.ts';
import type { OpenStream } from '../../stream/open-streams.ts';
import { createSocketWriter } from '../../stream/socket-writer.ts';
import { sendHead } from '../../stream/stream-head.ts';

/**
 * How two runs differ. Whatever can be wrong is known before the first byte; the rest is written as fast as it is read.
 * What is wrong with `against` is said before anything is said about the run in the path, so it gives nothing away.
 */
export const diffRoutes: Routes = (serve, context) => {
  serve('diffRun', async (request, reply) => {
    const { diff, stream } = await openDiff(context, request, (end) => void reply.raw.on('close', end));
    reply.hijack();
    void sendDiff(context, reply, diff, stream);
    return reply;
  });
};

/** Compares the two; `onLeave` is given what ends the comparison when the reader has left. */
export async function openDiff(
  context: AppContext,
  call: Call,
  onLeave: (end: () => void) => void,
): Promise<{ readonly diff: RunDiff; readonly stream: OpenStream }> {
  const against = againstOf(call);
  const stream = context.streams.open(callerOf(call).tenant, 'download');
  onLeave(stream.end);
  return { diff: await compared(context.host, call, against, stream), stream };
}

function againstOf(call: Call): string {
  const against = textParam(queryOf(call), 'against');
  if (against !== undefined && against !== '') return against;
  const problem = 'The parameter "against" must name the other run, as in ?against=RUN.';
  throw new HostError('validation_error', problem, { field: 'against' });
}

async function compared(host: Host, call: Call, against: string, stream: OpenStream): Promise<RunDiff> {
  try {
    const diff = await host.runs.diff(
      callerOf(call),
      pathParam(call, 'runId'),
      against,
      stream.signal.asAbortSignal(),
    );
    if (diff === undefined) throw noSuchRun();
    return diff;
  } catch (error) {
    // The reader has disconnected, or the host is stopping: either way no client needs a cause.
    const isEnded = stream.signal.aborted;
    stream.end();
    throw isEnded ? stopped() : error;
  }
}

function stopped(): HostError {
  return new HostError(
    'service_unavailable',
    'The comparison was stopped because the host is shutting down; try again in 1 s.',
    { retryAfter: 1 },
    { retryAfter: 1 },
  );
}

async function sendDiff(
  context: AppContext,
  reply: FastifyReply,
  diff: RunDiff,
  stream: OpenStream,
): Promise<void> {
  const response = reply.raw;
  const writer = createSocketWriter(response, context.settings.stallMs);
  try {
    sendHead(reply, { 'content-type': 'application/json; charset=utf-8' });
    for await (const piece of renderDiff(diff)) {
      if (!(await writer.write(piece))) return;
    }
    response.end();
  } catch (error) {
    if (stream.signal.aborted) response.destroy();
    else breakOff(context, reply, { runId: diff.a, what: 'a diff could not be sent', error });
  } finally {
    stream.end();
  }
}
