import { endpointOf, type TaskReceipt } from '@weft/protocol/plain';
import { ApiError, ConnectionError } from '../requests/errors.ts';
import type { Transport } from '../requests/transport.ts';
import type { Hand } from './hand.ts';
import { type Lease, now } from './lease.ts';
import type { Outgoing, Report, Sender } from './outgoing.ts';
import { errorResult, type Task } from './task.ts';

/**
 * Posts what a worker has to say in one session.
 *
 * V-4. A report is sent only while the lease holds.
 * V-5. A report that was not answered is sent again until it is, or until the lease has passed.
 * V-8. An answer that comes after the lease has passed does not extend it: the session ends.
 */
export interface ReportSender {
  /** Sends what there is at the end of this turn of the event loop. */
  flush(): void;
  /** An empty report, where nothing else has extended the lease for a while. */
  beat(): void;
  stop(): void;
  /** Nothing is waiting or on its way. */
  readonly isQuiet: boolean;
}

export interface ReportSenderParts {
  readonly transport: Transport;
  readonly workerId: string;
  readonly heartbeatMs: number;
  readonly lease: Lease;
  readonly hand: Hand;
  readonly outgoing: Outgoing;
  /** As it was reported at the registration. */
  readonly capacity: number;
  readonly log: WorkerLog;
  /** Stops the tasks in hand, and ends the session. */
  readonly leasePassed: () => void;
  /** The session is over; with an error: no other one will do better. */
  readonly over: (why: string, error?: Error) => void;
  readonly signal: AbortSignal;
}

export type WorkerLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** The answer to a report comes when its results are durable; while some wait for that, others are on their way. */
const REPORTS_AT_ONCE = 4;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

export function createReportSender(parts: ReportSenderParts): ReportSender {
  const { transport, workerId, lease, hand, outgoing, log, over, leasePassed, signal } = parts;
  let told = parts.capacity;
  let onTheirWay = 0;
  let isBeating = false;
  let isScheduled = false;
  let failures = 0;
  let pause: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    if (isScheduled || signal.aborted || pause !== undefined) return;
    isScheduled = true;
    setImmediate(sendAll);
  }

  function sendAll(): void {
    isScheduled = false;
    hand.gather();
    while (onTheirWay < REPORTS_AT_ONCE && !signal.aborted && lease.leftMs() > 0) {
      const report = outgoing.take();
      if (report === undefined) {
        if (told !== hand.capacity && !isBeating) void beatNow();
        return;
      }
      void send(report);
    }
  }

  async function post(body: string): Promise<TaskReceipt> {
    const sentAt = now();
    const { capacity } = hand;
    const bodyText =
      capacity === told ? body : `{"capacity":${capacity}${body === '{}' ? '' : ','}${body.slice(1)}`;
    told = capacity;
    const receipt = await transport.json<TaskReceipt>(endpointOf('reportTasks', { workerId }), {
      bodyText,
      signal,
      maxRetries: 0,
      timeoutMs: 0,
    });
    failures = 0;
    // The lease may be that of a later session.
    if (!signal.aborted && !lease.extend(sentAt, receipt.leaseMs)) leasePassed();
    return receipt;
  }

  async function send(report: Report): Promise<void> {
    onTheirWay += 1;
    try {
      const { refused } = await post(report.body);
      outgoing.settle(report);
      for (const { taskId, lease: number, error, message } of refused) {
        log('warn', `The host has refused a report: ${message}`, { taskId });
        if (error === 'stale_lease') hand.drop({ taskId, lease: number }, 'lease_lost');
        else hand.fail({ taskId, lease: number }, { code: error, message });
      }
      for (const sender of report.senders) if (isTask(sender)) hand.answered(sender);
    } catch (error) {
      failed(error, report);
    } finally {
      onTheirWay -= 1;
      if (!outgoing.isEmpty || told !== hand.capacity) flush();
    }
  }

  async function beatNow(): Promise<void> {
    isBeating = true;
    try {
      await post('{}');
    } catch (error) {
      failed(error);
    } finally {
      isBeating = false;
      if (told !== hand.capacity) flush();
    }
  }

  function failed(error: unknown, report?: Report): void {
    // Whether the host has heard of the capacity is unknown.
    told = -1;
    const kind = signal.aborted ? 'ended' : kindOf(error);
    if (kind === 'unfit' && report !== undefined) {
      if (!outgoing.giveBackSmaller(report)) giveUp(report, error as ApiError);
      return;
    }
    if (report !== undefined) outgoing.giveBack(report);
    switch (kind) {
      case 'ended':
        return;
      case 'unknown session':
        over('the host does not know this session any more');
        return;
      case 'temporary':
        log('debug', `A report could not be sent: ${messageOf(error)}`);
        sendLater();
        return;
      case 'unfit':
      case 'final':
        over('refused', error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  function sendLater(): void {
    const delay = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    failures = Math.min(failures + 1, 10);
    pause ??= setTimeout(() => {
      pause = undefined;
      flush();
    }, delay);
  }

  /** The host does not take what this one task has to say. */
  function giveUp(report: Report, error: ApiError): void {
    const [sender] = report.senders;
    if (sender === undefined) return;
    const { ref, sent } = sender;
    const code = error.status === 413 ? 'output_too_large' : 'report_refused';
    const result = sent.find(({ section }) => section === 'results');
    outgoing.settle(report);
    log('warn', `The host has refused a report: ${error.message}`, { code });
    // Once in place of a result; an error that is refused as well is not told.
    if (result !== undefined && !result.text.includes(`"error":{"code":"${code}"`))
      outgoing.add(sender, errorResult(ref, { code, message: error.message }));
    else if (isTask(sender)) hand.answered(sender);
  }

  return {
    flush,
    beat() {
      if (!isBeating && lease.ageMs() >= parts.heartbeatMs && !signal.aborted) void beatNow();
    },
    stop: () => clearTimeout(pause),
    get isQuiet() {
      return outgoing.isEmpty && onTheirWay === 0;
    },
  };
}

/** `unfit`: too large, or with something in it that the host refuses. */
function kindOf(error: unknown): 'unfit' | 'unknown session' | 'final' | 'temporary' {
  if (error instanceof ConnectionError) return error.status === 413 ? 'unfit' : 'temporary';
  if (!(error instanceof ApiError)) return 'final';
  if (error.status === 400 || error.status === 413) return 'unfit';
  if (error.status === 404) return 'unknown session';
  return error.status === 401 || error.status === 403 ? 'final' : 'temporary';
}

function isTask(sender: Sender): sender is Task {
  return 'message' in sender;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
