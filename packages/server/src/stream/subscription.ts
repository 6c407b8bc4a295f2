import type { Caller, Cursor, EventPage } from '@weft/engine';
import type { StreamMode } from '@weft/protocol';
import type { AppContext } from '../app-context.ts';
import { noSuchRun } from '../http/errors.ts';
import type { OpenStream } from './open-streams.ts';

/** What a reader wants to see of one run, live. */
export interface Subscription {
  readonly caller: Caller;
  readonly runId: string;
  readonly modes: readonly StreamMode[];
  readonly bufferMs: number;
  /** Exclusive; −1 = from the first event. */
  readonly afterSeq: number;
}

export interface Source {
  readonly stream: OpenStream;
  readonly cursor: Cursor;
  /** What was there already; undefined where the cursor gives that as well. */
  readonly backlog: EventPage | undefined;
}

const BACKLOG_EVENTS = 500;

/** A `values` stream needs the snapshot of each event, which only the cursor has. Throws HostError `not_found`. */
export async function readBacklog(
  { host }: AppContext,
  { caller, runId, modes, afterSeq }: Subscription,
): Promise<EventPage | undefined> {
  if (modes[0] === 'values') return undefined;
  const page = await host.runs.events(caller, runId, afterSeq, BACKLOG_EVENTS);
  if (page === undefined) throw noSuchRun();
  return page;
}

/** Takes a place among the open streams, and a cursor behind the backlog. Throws HostError. */
export async function openSource(
  context: AppContext,
  asked: Subscription,
  backlog: EventPage | undefined,
): Promise<Source> {
  await context.streamAdmission.admit(asked.caller.tenant);
  const stream = context.streams.open(asked.caller.tenant, 'stream');
  try {
    const cursor = await context.host.runs.follow(asked.caller, asked.runId, {
      afterSeq: backlog?.events.at(-1)?.seq ?? asked.afterSeq,
      keepaliveMs: context.settings.keepaliveMs,
      signal: stream.signal,
      snapshots: backlog === undefined,
    });
    if (cursor === undefined) throw noSuchRun();
    return { stream, cursor, backlog };
  } catch (error) {
    stream.end();
    throw error;
  }
}
