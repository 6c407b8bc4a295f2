import { DatabaseSync } from '@photostructure/sqlite';

/** Reads rows of a host's SQLite file with nothing in between: the floor of every read. */
export interface RawReader {
  events(runId: string, fromSeq: number, limit: number): void;
  eventsUpToBytes(runId: string, bytes: number): void;
  /** The run's row and its checkpoint, which a snapshot is rendered from. */
  checkpoint(runId: string): void;
  close(): void;
}

const PAGE = 5_000;

export function openRawReader(file: string): RawReader {
  const db = new DatabaseSync(file, { readOnly: true });
  const findRun = db.prepare('SELECT * FROM runs WHERE id = ?');
  const readEvents = db.prepare('SELECT * FROM events WHERE rid = ? AND seq >= ? ORDER BY seq LIMIT ?');
  const readCheckpoint = db.prepare('SELECT * FROM checkpoints WHERE rid = ?');
  const ridOf = (runId: string) => {
    const row = findRun.get(Buffer.from(runId.replaceAll('-', ''), 'hex')) as { rid: number } | undefined;
    if (row === undefined) throw new Error(`run ${runId} is not in ${file}`);
    return row.rid;
  };
  /** In pages, as a host reads too, so that a long log is never in memory as a whole. */
  function read(runId: string, fromSeq: number, limit: number, maxBytes: number): void {
    const rid = ridOf(runId);
    let bytes = 0;
    for (let done = 0; done < limit; done += PAGE) {
      const rows = readEvents.all(rid, fromSeq + done, Math.min(PAGE, limit - done)) as { payload: string }[];
      for (const { payload } of rows) bytes += payload.length;
      if (rows.length < PAGE || bytes > maxBytes) return;
    }
  }

  return {
    events: (runId, fromSeq, limit) => read(runId, fromSeq, limit, Number.MAX_SAFE_INTEGER),
    eventsUpToBytes: (runId, bytes) => read(runId, 0, Number.MAX_SAFE_INTEGER, bytes),
    checkpoint: (runId) => void readCheckpoint.get(ridOf(runId)),
    close: () => db.close(),
  };
}
