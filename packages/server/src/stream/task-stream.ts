import type { Caller, TaskSink, TaskStream } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import type { AppContext } from '../app-context.ts';
import { batchOf } from './batches.ts';
import { createSocketWriter, type SocketWriter } from './socket-writer.ts';
import { sendHead } from './stream-head.ts';

export const TASK_LINES = 'application/x-ndjson; charset=utf-8';

const HEADERS = {
  'content-type': TASK_LINES,
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

const PING = '{"type":"ping"}\n';

/** What is gathered for one write; the line that exceeds it is the last until there is room again. */
const AT_ONCE = 64 * 1024;

/** The tasks of one worker, a line each, as fast as it reads them: beyond the socket's buffer waits one write at most. */
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

/**
 * Lines of one turn of the event loop are one write, at its end: tasks come in groups, as the commits of their runs do, and a write
 * costs as much as a task does.
 */
function sinkOf(writer: SocketWriter, onRoom: () => void, end: () => void): TaskSink {
  let lines = '';
  let isWaiting = false;

  function flush(): void {
    const batch = batchOf(lines);
    lines = '';
    if (batch !== undefined) writer.send(batch);
    if (!isWaiting) return;
    isWaiting = false;
    void writer.ready().then((isOpen) => {
      if (isOpen) onRoom();
    });
  }

  return {
    send(line) {
      if (lines === '') process.nextTick(flush);
      lines += line;
      if (lines.length <= AT_ONCE && !writer.isFull()) return true;
      isWaiting = true;
      return false;
    },
    offer(line) {
      flush();
      writer.offer(line);
    },
    end() {
      flush();
      end();
    },
  };
}

export function noSuchWorker(): HostError {
  return new HostError(
    'not_found',
    'No such worker is connected to this process. Its lease has passed, or it has registered with another one: register again.',
  );
}
