import { endpointOf, type WorkerMessage } from '@weft/protocol/plain';
import { ApiError } from '../requests/errors.ts';
import { deferred } from './deferred.ts';
import { messageLines } from './message-lines.ts';
import { createReportSender, type ReportSender, type ReportSenderParts } from './report-sender.ts';

/**
 * One session of a worker: reads its tasks, posts its reports.
 *
 * V-7. A task is begun only while the lease holds; one that comes later ends the session.
 */
export interface Session extends Omit<ReportSender, 'stop'> {
  readonly workerId: string;
  /** Why it has ended. Rejects when no other session will do better. */
  readonly ended: Promise<string>;
  end(why: string): void;
}

export function openSession(parts: Omit<ReportSenderParts, 'over' | 'signal'>): Session {
  const { transport, workerId, lease, hand, leasePassed } = parts;
  const controller = new AbortController();
  const { signal } = controller;
  const { promise: ended, resolve, reject } = deferred<string>();
  const sender = createReportSender({ ...parts, over, signal });

  function over(why: string, error?: Error): void {
    if (error === undefined) resolve(why);
    else reject(error);
    sender.stop();
    controller.abort();
  }

  async function read(): Promise<void> {
    const response = await transport.open(endpointOf('streamTasks', { workerId }), { signal, maxRetries: 0 });
    if (response.body === null) throw new Error('the stream of tasks has no body');
    for await (const lines of messageLines(response.body)) {
      for (const line of lines) if (line !== '') receive(JSON.parse(line) as WorkerMessage);
    }
  }

  function receive(message: WorkerMessage): void {
    switch (message.type) {
      case 'task':
        if (signal.aborted) return;
        if (lease.leftMs() > 0) hand.take(message);
        else leasePassed();
        return;
      case 'cancel':
        hand.drop(message, message.reason);
        return;
      case 'close':
        if (message.reason === 'lease_lost') hand.dropOthers([], 'lease_lost');
        over(
          `the host has closed the session (${message.reason})`,
          message.reason === 'revoked' ? new Error('The key of this worker was revoked.') : undefined,
        );
        return;
      case 'ping':
    }
  }

  read().then(
    () => over('the stream has ended'),
    (error: unknown) => {
      const isFinal = error instanceof ApiError && (error.status === 401 || error.status === 403);
      over(error instanceof Error ? error.message : String(error), isFinal ? error : undefined);
    },
  );

  return {
    workerId,
    ended,
    end: (why) => over(why),
    flush: () => sender.flush(),
    beat: () => sender.beat(),
    get isQuiet() {
      return sender.isQuiet;
    },
  };
}
