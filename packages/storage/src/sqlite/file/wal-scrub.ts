import type { Database } from './driver.ts';

/**
 * SQLite overwrites in the file what is deleted, but the write-ahead log still holds the pages as they were, until it is
 * written over, which on a quiet host may be never. So some time after a deletion the log is folded in and truncated. That
 * takes as long as an ordinary checkpoint, which commits pay for as well (some 10 µs a page, 4,000 pages at most unless a process
 * reads for long), and deletions that come together share one.
 *
 * A reader on another connection, such as a backup, keeps the log: nothing waits for it, it is tried again until it has worked.
 */
export interface WalScrub {
  /** Something was deleted. */
  request(): void;
  stop(): void;
}

export interface WalScrubOptions {
  /** How long deletions are gathered, and the pause between attempts. */
  readonly afterMs: number;
  /** How long another connection waits for the file when it is busy; set back after each attempt. */
  readonly busyTimeoutMs: number;
  /** Called once when it has not worked for many attempts. */
  readonly onDelayed?: ((reason: string) => void) | undefined;
  /** For tests. */
  readonly beforeScrub?: (() => void) | undefined;
}

const MANY_ATTEMPTS = 30;

export function createWalScrub(db: Database, options: WalScrubOptions): WalScrub {
  const { afterMs, busyTimeoutMs, onDelayed, beforeScrub } = options;
  const checkpoint = db.prepare<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
  let timer: NodeJS.Timeout | undefined;
  let attempts = 0;
  let isStopped = false;

  /** Why not, or undefined when nothing is left in the log. */
  function truncate(): string | undefined {
    beforeScrub?.();
    try {
      // The whole process would stand still while it waits for a reader.
      db.exec('PRAGMA busy_timeout = 0');
      return checkpoint.get()?.busy === 0 ? undefined : 'another connection reads the database';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }

  function attempt(): void {
    timer = undefined;
    const reason = truncate();
    if (reason === undefined) {
      attempts = 0;
      return;
    }
    attempts += 1;
    if (attempts === MANY_ATTEMPTS) onDelayed?.(reason);
    request();
  }

  function request(): void {
    // Deletions that were in progress when the store was closed may report here afterwards.
    if (timer !== undefined || isStopped) return;
    timer = setTimeout(attempt, afterMs);
    timer.unref();
  }

  return {
    request,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
