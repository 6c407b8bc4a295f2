import { type Caller, type EventPage, nextTurn } from '@weft/engine';
import type { FastifyReply } from 'fastify';
import { type AppContext, sendJson } from '../app-context.ts';
import { noSuchRun } from '../http/errors.ts';
import { breakOff } from './break-off.ts';
import { closeLog, lastSeq, openLog, renderPage } from './event-log.ts';
import type { OpenStream } from './open-streams.ts';
import { createSocketWriter } from './socket-writer.ts';
import { sendHead } from './stream-head.ts';

const PAGE_EVENTS = 500;

/**
 * The log as it is now, for readers that want JSON instead of a stream. Its length is fixed by the first page; a log of
 * more than one page is sent page by page, so that its size costs no memory.
 */
export async function sendWholeLog(
  context: AppContext,
  reply: FastifyReply,
  caller: Caller,
  runId: string,
): Promise<FastifyReply> {
  const first = await context.host.runs.events(caller, runId, -1, PAGE_EVENTS);
  if (first === undefined) throw noSuchRun();
  if (lastSeq(first) >= first.nextSeq - 1) return sendJson(reply, 200, renderPage(runId, first));

  const stream = context.streams.open(caller.tenant, 'download');
  reply.hijack();
  void sendPages(context, reply, { caller, runId, first }, stream);
  return reply;
}

interface Log {
  readonly caller: Caller;
  readonly runId: string;
  readonly first: EventPage;
}

async function sendPages(
  context: AppContext,
  reply: FastifyReply,
  log: Log,
  stream: OpenStream,
): Promise<void> {
  const response = reply.raw;
  const writer = createSocketWriter(response, context.settings.stallMs);
  response.on('close', stream.end);
  try {
    sendHead(reply, { 'content-type': 'application/json; charset=utf-8' });
    const end = log.first.nextSeq - 1;
    let page = log.first;
    await writer.write(openLog(log.runId));
    for (;;) {
      const documents = page.events.filter((event) => event.seq <= end).map((event) => event.document);
      await writer.write((page === log.first ? '' : ',') + documents.join(','));
      if (lastSeq(page) >= end) break;
      await nextTurn(log.caller.tenant);
      const next = await context.host.runs.events(log.caller, log.runId, lastSeq(page), PAGE_EVENTS);
      if (next === undefined || next.events.length === 0)
        throw new Error('the log became shorter while it was read');
      page = next;
    }
    // A log that grew meanwhile is complete only if what was sent reaches its end.
    const complete = page.complete && page.nextSeq - 1 === end;
    await writer.write(closeLog({ ...page, complete }, end));
    response.end();
  } catch (error) {
    breakOff(context, reply, { runId: log.runId, what: 'a log could not be sent', error });
  } finally {
    stream.end();
  }
}
