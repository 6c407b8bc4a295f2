import { useEffect, useMemo, useState } from 'react';
import type { Client, RunEventDocument } from '@weft/sdk';
import { createHistory, type RunHistory } from './run-history.ts';

export type Connection =
  | { readonly state: 'loading' | 'live' | 'reconnecting' | 'ended' }
  | { readonly state: 'failed'; readonly error: unknown };

export interface FollowedLog {
  readonly history: RunHistory;
  /** How many events are known: changes with each that arrives. */
  readonly length: number;
  readonly connection: Connection;
}

/** How often the page is notified of new events at most. */
const TELL_EVERY_MS = 100;
/** A page may be open for a night while its host is away. */
const RECONNECT_MS = 86_400_000;

/** The log of a run from its first event on: what there is in pages, then live, through every lost connection. */
export function useFollowedLog(client: Client, runId: string): FollowedLog {
  const history = useMemo(createHistory, [client, runId]);
  const [length, setLength] = useState(0);
  const [connection, setConnection] = useState<Connection>({ state: 'loading' });
  useEffect(() => {
    const closing = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = (): void => {
      clearTimeout(timer);
      timer = undefined;
      if (!closing.signal.aborted) setLength(history.events.length);
    };
    const add = (events: readonly RunEventDocument[]): void => {
      history.append(events);
      timer ??= setTimeout(tell, TELL_EVERY_MS);
    };
    const say = (next: Connection): void => {
      tell();
      if (!closing.signal.aborted) setConnection(next);
    };
    follow(client, runId, { add, say, signal: closing.signal }).then(
      () => say({ state: 'ended' }),
      (error: unknown) => say({ state: 'failed', error }),
    );
    return () => {
      closing.abort();
      clearTimeout(timer);
    };
  }, [client, runId, history]);
  return { history, length, connection };
}

interface Follower {
  readonly signal: AbortSignal;
  add(events: readonly RunEventDocument[]): void;
  say(connection: Connection): void;
}

async function follow(client: Client, runId: string, { add, say, signal }: Follower): Promise<void> {
  let last: number | undefined;
  for await (const page of client.runs.log(runId, { signal }).pages()) {
    add(page.events);
    last = page.events.at(-1)?.sequence ?? last;
    if (page.isComplete) return;
    // What is there is shown while the last, empty page is waited for.
    if (page.events.length < FULL_PAGE) break;
  }
  const events = client.runs.events(runId, {
    mode: 'debug',
    ...(last !== undefined && { after: last }),
    bufferMs: TELL_EVERY_MS,
    reconnectMs: RECONNECT_MS,
    signal,
    onOpen: () => say({ state: 'live' }),
    onReconnect: () => say({ state: 'reconnecting' }),
  });
  let since = performance.now();
  for await (const event of events) {
    add([event]);
    if (performance.now() - since < SLICE_MS) continue;
    // A host can send thousands at once; in between, the page draws and answers.
    await new Promise((done) => setTimeout(done));
    since = performance.now();
  }
}

const SLICE_MS = 8;

const FULL_PAGE = 1_000;
