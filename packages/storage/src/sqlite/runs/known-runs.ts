import type { CreationRecord, RunHead, RunStatus, StoredEvent } from '@weft/engine';

/**
 * Active runs that are held, as the last write left them: the next append, and followers of the run, need not ask
 * the file.
 *
 * S-15. What is cached is what the file holds. This process is the file's only owner: a write updates the entry, and
 *       whatever else changes such a row (a claim, a command, the end of a claim) drops it.
 * S-16. A transaction that is rolled back, or whose outcome is unknown, clears the cache.
 * S-17. A run that is released or has ended is dropped. Beyond the bounds nothing is added; the file answers as well.
 */
export interface KnownRuns {
  get(runId: string): KnownRun | undefined;
  /** Notes that the run was written with these events. */
  note(runId: string, run: KnownRun, events: readonly StoredEvent[]): void;
  forget(runId: string): void;
  clear(): void;
}

export interface KnownRun {
  readonly rid: number;
  readonly createdAt: number;
  readonly epoch: number;
  status: RunStatus;
  nextSeq: number;
  holder: number | null;
  dueAt: number | null;
  inbox: number;
  /** Undefined until the first write after the row was read from the file. */
  head: RunHead | undefined;
  /** The whole of it, when the run was created by this process; else only the file has it. */
  record: CreationRecord | undefined;
  /** The run's own events so far; undefined when it was not created by this process, or they are too many to be kept. */
  events: StoredEvent[] | undefined;
  bytes: number;
}

const MOST_RUNS = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_BYTES_OF_ONE = 64 * 1024;
/** What an event takes in memory in addition to its payload. */
const EVENT_OVERHEAD_BYTES = 250;

export function createKnownRuns(): KnownRuns {
  const runs = new Map<string, KnownRun>();
  let bytes = 0;

  function forget(runId: string): void {
    const run = runs.get(runId);
    if (run === undefined) return;
    bytes -= run.bytes;
    runs.delete(runId);
    // What a Map has outgrown still points at its old entries until the next full collection of garbage.
    run.events = undefined;
    run.head = undefined;
    run.record = undefined;
  }

  function addEvents(run: KnownRun, events: readonly StoredEvent[]): void {
    if (run.events === undefined) return;
    let added = 0;
    for (const event of events) {
      run.events.push(event);
      added += EVENT_OVERHEAD_BYTES + event.payload.length + (event.overlay?.length ?? 0);
    }
    run.bytes += added;
    bytes += added;
    if (run.bytes <= MOST_BYTES_OF_ONE && bytes <= MOST_BYTES) return;
    bytes -= run.bytes;
    run.bytes = 0;
    run.events = undefined;
  }

  return {
    get: (runId) => runs.get(runId),
    note(runId, run, events) {
      if (run.holder === null) return forget(runId);
      if (!runs.has(runId)) {
        if (runs.size >= MOST_RUNS) return;
        runs.set(runId, run);
      }
      addEvents(run, events);
    },
    forget,
    clear() {
      runs.clear();
      bytes = 0;
    },
  };
}

/** A page of a known run's events, as the file would give it. */
export function pageOf(
  events: readonly StoredEvent[],
  fromSeq: number,
  limit: number,
  maxBytes: number,
): StoredEvent[] {
  const page: StoredEvent[] = [];
  const first = events[0];
  if (first === undefined) return page;
  let bytes = 0;
  for (let index = Math.max(fromSeq - first.seq, 0); index < events.length; index += 1) {
    const event = events[index];
    if (event === undefined || page.length >= limit) break;
    bytes += event.payload.length + (event.overlay?.length ?? 0);
    if (page.length > 0 && bytes > maxBytes) break;
    page.push(event);
  }
  return page;
}
