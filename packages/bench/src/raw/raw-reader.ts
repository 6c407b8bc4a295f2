import { DatabaseSync } from '@photostructure/sqlite';

/** Reads rows of a host's SQLite file with nothing in between: the floor of every read. */
export interface RawReader {
  events(runId: string, fromSeq: number, limit: number): void;
  eventsUpToBytes(runId: string, bytes: number): void;
  /** The run's row and its checkpoint, which a snapshot is rendered from. */
  checkpoint(runId: string): void;
  close(): void;
}

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
  return {
    events(runId, fromSeq, limit) {
      const rows = readEvents.iterate(ridOf(runId), fromSeq, limit);
      while (rows.next().done !== true);
    },
    eventsUpToBytes(runId, bytes) {
      let total = 0;
      for (const row of readEvents.iterate(ridOf(runId), 0, Number.MAX_SAFE_INTEGER)) {
        total += (row as { payload: string }).payload.length;
        if (total > bytes) return;
      }
    },
    checkpoint: (runId) => void readCheckpoint.get(ridOf(runId)),
    close: () => db.close(),
  };
}
