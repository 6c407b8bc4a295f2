import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { CommitWatcher } from '@weft/engine';
import { type Connection, type ConnectionOptions, openConnection, quoteIdentifier } from './connection.ts';
import { nowSql } from './now.ts';
import { arrayText } from '../runs/rows.ts';

/**
 * Tells all processes on one schema which runs got events or commands, over LISTEN and NOTIFY.
 *
 * 1. A process rings its own watchers when its commit is answered, and passes over its own notices.
 * 2. For the others it sends a notice after the commit, one at a time and together for all runs that have come up meanwhile, with
 *    a short pause in between, because each of them costs every process on the schema. Not inside the transaction: PostgreSQL lets only one transaction with a notice commit at a time, which halves the commits of
 *    many connections (measured: 1,900 per second became 820 at 64, 2,350 became 1,600 at 10).
 * 3. Nobody goes unheard for good. A bell that lost its connection keeps its notices until it has another one, and then rings
 *    every run that is under way or has ended since shortly before the loss. A process that died between commit and notice is
 *    found by its holder's deadline, and then all others do the same. So a bell may ring for nothing.
 */
export interface Bell {
  ring(rung: ReadonlyMap<string, number>): void;
  /** Like `ring`, for the other processes only: whoever put the command there knows of it. */
  call(called: ReadonlyMap<string, number>): void;
  watch(onCommit: CommitWatcher): () => void;
  /** Sends what is left to be sent, but does not wait long for it. */
  close(): Promise<void>;
}

/** PostgreSQL takes less than 8,000 bytes in one notice; an entry is a run id, a colon, up to ten digits and a comma. */
const ENTRIES_PER_NOTICE = 160;
/** With more than that to say, it is said that there is something to look for. */
const MOST_ENTRIES = 20_000;
const LOOK = '*';
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const LOOK_EVERY_MS = 5_000;
const PARTING_MS = 1_000;
/** Time for more to come up: every notice wakes every process. The first one after a pause waits for nothing. */
const BETWEEN_NOTICES_MS = 20;
/** The time of a run's end comes from the clock of the host that executed it. */
const CLOCK_DIFFERENCE_MS = 300_000;

/** A lost notice is made up for, so nobody needs to wait for the disk. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1::text, payload)
  FROM unnest($2::text[]) AS payload`;

const MISSED = `
  SELECT id, next_seq FROM runs WHERE status < 6 AND holder IS NULL
  UNION ALL SELECT id, next_seq FROM runs WHERE status < 6 AND holder IS NOT NULL
  UNION ALL SELECT id, next_seq FROM runs
    WHERE status >= 6 AND coalesce(ended_at, created_at) >= $1::bigint`;

/** Whether a holder's deadline has passed since the last look. */
const GONE = `SELECT ${nowSql(2)} AS now,
  (SELECT min(deadline) FROM holders WHERE deadline > $1::bigint AND deadline <= ${nowSql(2)}) AS since`;

/** Listens before it resolves, so that nothing committed after the store was opened goes unheard. */
export async function openBell(options: ConnectionOptions): Promise<Bell> {
  // A channel's name is as short as a schema's, so it cannot hold one.
  const channel = `weft_${createHash('sha256').update(options.schema).digest('hex').slice(0, 32)}`;
  const self = randomBytes(6).toString('base64url');
  const watchers = new Set<CommitWatcher>();
  let connection: Connection | undefined;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  let unsent = new Map<string, number>();
  let isSending = false;
  let sent = Promise.resolve();
  let lastLook: number | null = null;

  function ringOne(...news: Parameters<CommitWatcher>): void {
    for (const watcher of watchers) callIsolated(watcher, news);
  }

  function tellOthers(runId: string, nextSeq: number): void {
    if (unsent.size <= MOST_ENTRIES) unsent.set(runId, nextSeq);
  }

  function hear(payload: string): void {
    const [sender, entries = ''] = payload.split(' ');
    if (sender === self) return;
    if (entries === LOOK) return inBackground(makeUp(Date.now()));
    for (const entry of entries.split(',')) {
      const colon = entry.indexOf(':');
      ringOne(entry.slice(0, colon), Number(entry.slice(colon + 1)), true);
    }
  }

  async function send(): Promise<void> {
    while (unsent.size > 0 && connection?.isOpen()) {
      const taken = unsent;
      unsent = new Map();
      try {
        const payloads = noticesOf(taken).map((entries) => `${self} ${entries}`);
        await connection.query(NOTIFY, [channel, arrayText(payloads)]);
      } catch {
        // Kept for the next connection, under what has come up since.
        unsent = new Map([...taken, ...unsent]);
        break;
      }
      await pause(BETWEEN_NOTICES_MS);
    }
    isSending = false;
  }

  function startSending(): void {
    if (isSending) return;
    isSending = true;
    sent = send();
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
    startSending();
  }

  async function makeUp(since: number): Promise<void> {
    const rows = await connection?.query<{ id: string; next_seq: number }>(MISSED, [
      since - CLOCK_DIFFERENCE_MS,
    ]);
    for (const { id, next_seq } of rows ?? []) ringOne(id, next_seq, true);
  }

  async function look(): Promise<void> {
    if (!connection?.isOpen()) return;
    const [row] = await connection.query<{ now: number; since: number | null }>(GONE, [lastLook, null]);
    if (!row) return;
    lastLook = row.now;
    if (row.since !== null) await makeUp(row.since);
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

  function giveUp(): void {
    isClosed = true;
    clearTimeout(retry);
    connection?.destroy(new Error('the store is closed'));
  }

  try {
    await listen();
    await look();
  } catch (error) {
    giveUp();
    throw error;
  }
  const looking = setInterval(() => inBackground(look()), LOOK_EVERY_MS);
  return {
    ring(rung) {
      for (const [runId, nextSeq] of rung) {
        ringOne(runId, nextSeq);
        tellOthers(runId, nextSeq);
      }
      if (rung.size > 0) startSending();
    },
    call(called) {
      for (const [runId, nextSeq] of called) tellOthers(runId, nextSeq);
      if (called.size > 0) startSending();
    },
    watch(onCommit) {
      watchers.add(onCommit);
      return () => watchers.delete(onCommit);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      watchers.clear();
      clearInterval(looking);
      await atMost(sent, PARTING_MS);
      giveUp();
    },
  };
}

/** What fails for want of a connection is made up for by the next one. */
function inBackground(work: Promise<void>): void {
  work.catch(() => {});
}

function atMost(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function noticesOf(rung: ReadonlyMap<string, number>): string[] {
  if (rung.size > MOST_ENTRIES) return [LOOK];
  const entries = [...rung].map(([runId, nextSeq]) => `${runId}:${nextSeq}`);
  const notices: string[] = [];
  for (let from = 0; from < entries.length; from += ENTRIES_PER_NOTICE) {
    notices.push(entries.slice(from, from + ENTRIES_PER_NOTICE).join(','));
  }
  return notices;
}

/** A listener's failure is its own: it must not turn a committed write into a failed one. */
function callIsolated(watcher: CommitWatcher, news: Parameters<CommitWatcher>): void {
  try {
    watcher(...news);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
