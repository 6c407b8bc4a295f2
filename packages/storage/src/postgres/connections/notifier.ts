import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { CommitWatcher } from '@weft/engine';
import { type Connection, type ConnectionOptions, openConnection, quoteIdentifier } from './connection.ts';
import { nowSql } from './now.ts';
import { arrayText } from '../runs/rows.ts';

/**
 * Notifies every process on one schema which runs have new events or commands, over LISTEN and NOTIFY.
 *
 * 1. A process notifies its own watchers when its commit is acknowledged, and ignores its own notifications.
 * 2. It notifies the other processes after the commit: one NOTIFY at a time, covering all runs that changed meanwhile, with a short
 *    pause in between, because each one costs every process on the schema. Not inside the transaction: PostgreSQL lets only one
 *    transaction with a NOTIFY commit at a time, which halves the commits of many connections (measured: 1,900 per second became
 *    820 at 64, 2,350 became 1,600 at 10).
 * 3. No watcher misses a change for good. A notifier that lost its connection keeps its notifications until it has another one,
 *    and then notifies for every run that is running or has ended since shortly before the loss. A process that died between
 *    commit and NOTIFY is found by its holder's deadline, and then all others do the same. So a notification may be spurious.
 */
export interface Notifier {
  publishAppends(appended: ReadonlyMap<string, number>): void;
  /** Like `publishAppends`, for the other processes only: the sender of a command knows of it. */
  publishCommands(commanded: ReadonlyMap<string, number>): void;
  watch(onCommit: CommitWatcher): () => void;
  /** Tasks were put up. */
  publishTasks(): void;
  watchTasks(onOffered: () => void): () => void;
  /** Sends what is left to be sent, but does not wait long for it. */
  close(): Promise<void>;
}

/** PostgreSQL takes less than 8,000 bytes in one notification; an entry is a run id, a colon, up to ten digits and a comma. */
const ENTRIES_PER_NOTIFICATION = 160;
/** With more than that to say, it is said that there is something to look for. */
const MOST_ENTRIES = 20_000;
const LOOK = '*';
/** Stands in place of a run id for tasks that were put up. */
const TASKS = '+';
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const LOOK_EVERY_MS = 5_000;
const CLOSE_WITHIN_MS = 1_000;
/** Time for more to come up: every notification wakes every process. The first one after a pause waits for nothing. */
const BETWEEN_NOTIFICATIONS_MS = 20;
/** The time of a run's end comes from the clock of the host that executed it. */
const CLOCK_DIFFERENCE_MS = 300_000;

/** A lost notification is caught up on, so none needs to wait for the disk. */
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

/** Listens before it resolves, so that nothing committed after the store was opened is missed. */
export async function openNotifier(options: ConnectionOptions): Promise<Notifier> {
  // A channel's name is as short as a schema's, so it cannot hold one.
  const channel = `weft_${createHash('sha256').update(options.schema).digest('hex').slice(0, 32)}`;
  const self = randomBytes(6).toString('base64url');
  const watchers = new Set<CommitWatcher>();
  const taskWatchers = new Set<() => void>();
  let connection: Connection | undefined;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  let unsent = new Map<string, number>();
  let isSending = false;
  let sent = Promise.resolve();
  let lastLook: number | null = null;

  function notifyWatchers(...news: Parameters<CommitWatcher>): void {
    for (const watcher of watchers) callIsolated(watcher, news);
  }

  function notifyTaskWatchers(): void {
    for (const watcher of taskWatchers) callIsolated(watcher, ['', 0]);
  }

  function queueForOthers(runId: string, nextSeq: number): void {
    if (unsent.size <= MOST_ENTRIES) unsent.set(runId, nextSeq);
  }

  function onNotification(payload: string): void {
    const [sender, entries = ''] = payload.split(' ');
    if (sender === self) return;
    if (entries === LOOK) return inBackground(catchUp(Date.now()));
    for (const entry of entries.split(',')) {
      const colon = entry.indexOf(':');
      if (entry.startsWith(TASKS)) notifyTaskWatchers();
      else notifyWatchers(entry.slice(0, colon), Number(entry.slice(colon + 1)), true);
    }
  }

  async function send(): Promise<void> {
    while (unsent.size > 0 && connection?.isOpen()) {
      const taken = unsent;
      unsent = new Map();
      try {
        const payloads = notificationsOf(taken).map((entries) => `${self} ${entries}`);
        await connection.query(NOTIFY, [channel, arrayText(payloads)]);
      } catch {
        // Kept for the next connection, under what has come up since.
        unsent = new Map([...taken, ...unsent]);
        break;
      }
      await pause(BETWEEN_NOTIFICATIONS_MS);
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
      onNotify: (_, payload) => onNotification(payload),
      onClose: () => comeBack(Date.now(), FIRST_PAUSE_MS),
    });
    connection = opened;
    if (isClosed) return opened.destroy(new Error('the store is closed'));
    await opened.query(`LISTEN ${quoteIdentifier(channel)}`);
    startSending();
  }

  async function catchUp(since: number): Promise<void> {
    const rows = await connection?.query<{ id: string; next_seq: number }>(MISSED, [
      since - CLOCK_DIFFERENCE_MS,
    ]);
    for (const { id, next_seq } of rows ?? []) notifyWatchers(id, next_seq, true);
    notifyTaskWatchers();
  }

  async function look(): Promise<void> {
    if (!connection?.isOpen()) return;
    const [row] = await connection.query<{ now: number; since: number | null }>(GONE, [lastLook, null]);
    if (!row) return;
    lastLook = row.now;
    if (row.since !== null) await catchUp(row.since);
  }

  function comeBack(lostAt: number, pauseMs: number): void {
    if (isClosed) return;
    clearTimeout(retry);
    retry = setTimeout(() => {
      listen()
        .then(() => catchUp(lostAt))
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
    publishAppends(appended) {
      for (const [runId, nextSeq] of appended) {
        notifyWatchers(runId, nextSeq);
        queueForOthers(runId, nextSeq);
      }
      if (appended.size > 0) startSending();
    },
    publishCommands(commanded) {
      for (const [runId, nextSeq] of commanded) queueForOthers(runId, nextSeq);
      if (commanded.size > 0) startSending();
    },
    watch(onCommit) {
      watchers.add(onCommit);
      return () => watchers.delete(onCommit);
    },
    publishTasks() {
      queueMicrotask(notifyTaskWatchers);
      queueForOthers(TASKS, 0);
      startSending();
    },
    watchTasks(onOffered) {
      taskWatchers.add(onOffered);
      return () => taskWatchers.delete(onOffered);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      watchers.clear();
      taskWatchers.clear();
      clearInterval(looking);
      await atMost(sent, CLOSE_WITHIN_MS);
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

function notificationsOf(appended: ReadonlyMap<string, number>): string[] {
  if (appended.size > MOST_ENTRIES) return [LOOK];
  const entries = [...appended].map(([runId, nextSeq]) => `${runId}:${nextSeq}`);
  const notifications: string[] = [];
  for (let from = 0; from < entries.length; from += ENTRIES_PER_NOTIFICATION) {
    notifications.push(entries.slice(from, from + ENTRIES_PER_NOTIFICATION).join(','));
  }
  return notifications;
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
