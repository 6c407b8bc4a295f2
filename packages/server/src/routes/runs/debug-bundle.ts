import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { callerOf, type AppContext, pathParam, type Routes } from '../../app-context.ts';
import type { Call } from '../../call.ts';
import { takesGzip } from '../../http/content-coding.ts';
import { noSuchRun } from '../../http/errors.ts';
import { integerParam, queryOf } from '../../http/query.ts';
import { breakOff } from '../../stream/break-off.ts';
import type { OpenStream } from '../../stream/open-streams.ts';
import { createSocketWriter } from '../../stream/socket-writer.ts';
import { sendHead } from '../../stream/stream-head.ts';

const ANY_NUMBER = { min: 0, max: Number.MAX_SAFE_INTEGER } as const;

/**
 * A run as a bundle. What can be refused is refused before the first byte; then the text is pulled as fast as
 * the reader takes it, so a bundle costs one page of events, however long the log is.
 */
export const debugBundleRoutes: Routes = (serve, context) => {
  serve('getDebugBundle', { ofRun: true }, async (request, reply) => {
    const bundle = await openBundle(context, request);
    reply.hijack();
    const gzip = takesGzip(request.headers['accept-encoding']);
    void send(context, reply, { ...bundle, gzip });
    return reply;
  });
};

export interface OpenBundle {
  readonly runId: string;
  readonly text: AsyncIterable<string>;
  readonly download: OpenStream;
}

export async function openBundle(context: AppContext, call: Call): Promise<OpenBundle> {
  const query = queryOf(call);
  const maxEvents =
    integerParam(query, 'host.weft.maxEvents', ANY_NUMBER) ?? integerParam(query, 'maxEvents', ANY_NUMBER);
  const runId = pathParam(call, 'runId');
  const text = await context.host.bundles.text(
    callerOf(call),
    runId,
    maxEvents === undefined ? {} : { maxEvents },
  );
  if (text === undefined) throw noSuchRun();
  return { runId, text, download: context.streams.open(callerOf(call).tenant, 'download') };
}

async function send(
  context: AppContext,
  reply: FastifyReply,
  { runId, text, gzip, download }: OpenBundle & { readonly gzip: boolean },
): Promise<void> {
  const response = reply.raw;
  const writer = createSocketWriter(response, context.settings.stallMs);
  // The server is closing, or the reader has disconnected: half a bundle is worth nothing.
  const giveUp = (): void => void response.destroy();
  download.signal.addEventListener('abort', giveUp);
  try {
    sendHead(reply, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'accept-encoding',
      ...(gzip && { 'content-encoding': 'gzip' }),
    });
    for await (const piece of gzip ? compressed(text) : text) {
      if (!(await writer.ready())) return;
      if (typeof piece === 'string') await writer.write(piece);
      else response.write(piece);
    }
    response.end();
  } catch (error) {
    breakOff(context, reply, { runId, what: 'a bundle could not be sent', error });
  } finally {
    download.signal.removeEventListener('abort', giveUp);
    download.end();
  }
}

/** Whatever ends one of the two ends the other, and the loop that reads them learns why. */
function compressed(text: AsyncIterable<string>): AsyncIterable<Buffer> {
  return pipeline(Readable.from(text), createGzip(), () => undefined);
}
