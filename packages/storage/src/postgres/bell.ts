import { randomBytes } from 'node:crypto';
import { type Connection, type ConnectionOptions, openConnection, quoteIdentifier } from './connection.ts';
import type { Statement } from './rows.ts';
import { arrayText } from './rows.ts';

/**
 * Tells all processes on one schema which runs got events, over LISTEN and NOTIFY.
 *
 * 1. A group's notice is part of its transaction: it is heard after the commit, or never.
 * 2. A process rings its own watchers itself when its commit is answered, and passes over its own notice.
 * 3. A listener that lost its connection opens another; what it may have missed, it makes up for by ringing every run that is
 *    under way or has ended since shortly before the loss. So a bell may ring for nothing, but none is missed for good.
 */
export interface Bell {
  /** Statements that belong into the transaction which wrote the events. */
  notice(rung: ReadonlyMap<string, number>): Statement[];
  /** Rings the watchers of this process. */
  ring(rung: ReadonlyMap<string, number>): void;
  watch(onCommit: Watcher): () => void;
  close(): void;
}

export type Watcher = (runId: string, nextSeq: number) => void;

/** PostgreSQL takes less than 8,000 bytes in one notice; an entry is a run id, a colon, up to ten digits and a comma. */
const ENTRIES_PER_NOTICE = 160;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** The time of a run's end comes from the clock of the host that executed it. */
const CLOCK_DIFFERENCE_MS = 300_000;

const MISSED = `
  SELECT id, next_seq FROM runs WHERE status < 6 AND holder IS NULL
  UNION ALL SELECT id, next_seq FROM runs WHERE status < 6 AND holder IS NOT NULL
  UNION ALL SELECT id, next_seq FROM runs WHERE ended_at >= $1::bigint`;

/** Listens before it resolves, so that nothing committed after the store was opened goes unheard. */
export async function openBell(options: ConnectionOptions): Promise<Bell> {
  const channel = `weft:${options.schema}`;
  const self = randomBytes(6).toString('base64url');
  const watchers = new Set<Watcher>();
  let connection: Connection | undefined;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  function ringOne(runId: string, nextSeq: number): void {
    for (const watcher of watchers) callIsolated(() => watcher(runId, nextSeq));
  }

  function hear(payload: string): void {
    const [sender, entries = ''] = payload.split(' ');
    if (sender === self || entries === '') return;
    for (const entry of entries.split(',')) {
      const [runId = '', nextSeq = ''] = entry.split(':');
      ringOne(runId, Number(nextSeq));
    }
  }

  async function listen(): Promise<void> {
    const opened = await openConnection({
      ...options,
      onNotify: (_, payload) => hear(payload),
      onClose: () => comeBack(Date.now(), FIRST_PAUSE_MS),
    });
    connection = opened;
    if (isClosed) return opened.destroy(new Error('the store is closed'));
    await opened.query(`LISTEN ${quoteIdentifier(channel)}`);
  }

  async function makeUp(lostAt: number): Promise<void> {
    const rows = await connection?.query<{ id: string; next_seq: number }>(MISSED, [
      lostAt - CLOCK_DIFFERENCE_MS,
    ]);
    for (const { id, next_seq } of rows ?? []) ringOne(id, next_seq);
  }

  function comeBack(lostAt: number, pauseMs: number): void {
    if (isClosed) return;
    clearTimeout(retry);
    retry = setTimeout(() => {
      listen()
        .then(() => makeUp(lostAt))
        .catch(() => comeBack(lostAt, Math.min(pauseMs * 2, LONGEST_PAUSE_MS)));
    }, pauseMs);
  }

  await listen();
  return {
    notice(rung) {
      if (rung.size === 0) return [];
      const payloads = noticesOf(rung).map((entries) => `${self} ${entries}`);
      const text = 'SELECT pg_notify($1::text, payload) FROM unnest($2::text[]) AS payload';
      return [{ text, values: [channel, arrayText(payloads)] }];
    },
    ring(rung) {
      for (const [runId, nextSeq] of rung) ringOne(runId, nextSeq);
    },
    watch(onCommit) {
      watchers.add(onCommit);
      return () => watchers.delete(onCommit);
    },
    close() {
      isClosed = true;
      clearTimeout(retry);
      watchers.clear();
      connection?.destroy(new Error('the store is closed'));
    },
  };
}

function noticesOf(rung: ReadonlyMap<string, number>): string[] {
  const entries = [...rung].map(([runId, nextSeq]) => `${runId}:${nextSeq}`);
  const notices: string[] = [];
  for (let from = 0; from < entries.length; from += ENTRIES_PER_NOTICE) {
    notices.push(entries.slice(from, from + ENTRIES_PER_NOTICE).join(','));
  }
  return notices;
}

/** A listener's failure is its own: it must not turn a committed write into a failed one. */
function callIsolated(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
