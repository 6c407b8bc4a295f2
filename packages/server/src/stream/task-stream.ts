import type { Caller, TaskSink, TaskStream } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import type { AppContext } from '../app-context.ts';
import { createSocketWriter, type SocketWriter } from './socket-writer.ts';
import { sendHead } from './stream-head.ts';

export const TASK_LINES = 'application/x-ndjson; charset=utf-8';

const HEADERS = {
  'content-type': TASK_LINES,
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

const PING = '{"type":"ping"}\n';

/** Longer lines are written piece by piece. */
const AT_ONCE = 16 * 1024;

/** The tasks of one worker, a line each, as fast as it reads them: beyond the socket's buffer waits one line at most. */
export async function streamTasks(
  context: AppContext,
  reply: FastifyReply,
  caller: Caller,
  workerId: string,
): Promise<FastifyReply> {
  await context.streamAdmission.admit(caller.tenant);
  const open = context.streams.open(caller.tenant, 'stream');
  const response = reply.raw;
  const writer = createSocketWriter(response, context.settings.stallMs);
  let tasks: TaskStream | undefined;

  const pinging: { timer?: NodeJS.Timeout } = {};

  function closed(): void {
    clearInterval(pinging.timer);
    tasks?.closed();
    open.end();
  }

  const sink = sinkOf(
    writer,
    () => tasks?.ready(),
    () => response.end(),
  );
  try {
    tasks = await context.host.workers.stream(caller, workerId, sink);
    if (tasks === undefined) throw noSuchWorker();
  } catch (error) {
    open.end();
    throw error;
  }
  reply.hijack();
  response.on('close', closed);
  response.on('error', closed);
  open.signal.addEventListener('abort', () => {
    if (writer.isFull()) response.destroy();
    else response.end();
  });
  sendHead(reply, HEADERS);
  pinging.timer = setInterval(() => writer.offer(PING), context.settings.keepaliveMs);
  if (response.destroyed) closed();
  else tasks.ready();
  return reply;
}

function sinkOf(writer: SocketWriter, onRoom: () => void, end: () => void): TaskSink {
  return {
    send(line) {
      void writer.write(line);
      if (line.length <= AT_ONCE && !writer.isFull()) return true;
      void writer.ready().then((isOpen) => {
        if (isOpen) onRoom();
      });
      return false;
    },
    offer: (line) => writer.offer(line),
    end,
  };
}

export function noSuchWorker(): HostError {
  return new HostError(
    'not_found',
    'No such worker is connected to this process. Its lease has passed, or it has registered with another one: register again.',
  );
}
