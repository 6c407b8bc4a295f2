import {
  type Checkpoint,
  type Command,
  type CreationRecord,
  DamagedRunError,
  type RunRow,
  type StoredCommand,
  type StoredEvent,
  type Suspicion,
} from '@weft/engine';
import { checkEvent, checkpointSum } from '../../checksum.ts';
import { ifWhole, readOfRun } from '../../damaged-json.ts';
import type { HeadColumns, RecordColumns } from './codec.ts';
import { placeholderRecord } from '../../placeholder-record.ts';
import { headFrom, recordFrom, runIdBytes, runIdText } from './codec.ts';
import { isStatus } from '../../status-number.ts';
import type { Connection } from '../file/connection.ts';
import type { SqlWord } from '../file/driver.ts';
import { type KnownRun, pageOf } from './known-runs.ts';

export interface RunReader {
  readRun(runId: string, tenant: string | undefined): RunRow | undefined;
  readEvents(runId: string, fromSeq: number, limit: number, maxBytes: number): StoredEvent[];
  readCheckpoint(runId: string): Checkpoint | undefined;
  readInbox(runId: string): StoredCommand[];
  readCommand(runId: string, commandId: string): StoredCommand | undefined;
  rowFrom(stored: StoredRun): RunRow;
}

export const RUN_COLUMNS = `runs.rid, runs.id, runs.tenant, workflow, origin, principal, runs.created_at, scope, more, runs.sum, status,
  wake_at, started, ended, node, error, next_seq, epoch, holder, inbox, erased,
  suspicion, lost_seq, lost_times`;

const FIRST_PORTION = 8;
const MOST_PORTION = 64;

export interface StoredRun extends RecordColumns, HeadColumns {
  readonly rid: number;
  readonly id: Uint8Array;
  readonly next_seq: number;
  readonly epoch: number;
  readonly holder: number | null;
  readonly inbox: number;
  readonly erased: number | null;
  readonly suspicion: string | null;
  readonly lost_seq: number | null;
  readonly lost_times: number | null;
}

export interface StoredEventRow {
  readonly seq: number;
  readonly type: SqlWord;
  readonly at: number;
  readonly node: SqlWord | null;
  readonly cause: number | null;
  readonly payload: string;
  readonly overlay: string | null;
  readonly sum: number | null;
  readonly overlay_sum: number | null;
}

interface StoredCheckpoint extends Checkpoint {
  readonly sum: number | null;
}

interface StoredCommandRow {
  readonly id: string;
  readonly accepted_at: number;
  readonly body: string;
  readonly verdict: string | null;
}

export function prepareRunReader({ db, strings, holders, clock, knownRuns }: Connection): RunReader {
  const findRun = db.prepare<StoredRun>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = ?`);
  const findRid = db.prepare<{ rid: number; created_at: number }>(
    'SELECT rid, created_at FROM runs WHERE id = ?',
  );
  const events = db.prepare<StoredEventRow>(
    `SELECT seq, type, at, node, cause, payload, overlay, sum, overlay_sum FROM events
     WHERE rid = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  );
  const checkpoint = db.prepare<StoredCheckpoint>(
    'SELECT seq, fold_version AS foldVersion, state, sum FROM checkpoints WHERE rid = ?',
  );
  const waiting = db.prepare<StoredCommandRow>(
    'SELECT id, accepted_at, body, verdict FROM commands WHERE rid = ? AND verdict IS NULL ORDER BY ord',
  );
  /** Bodies may be large, and are not read for this. */
  const waitingHeads = db.prepare<{ head: string }>(
    'SELECT substr(body, 1, 64) AS head FROM commands WHERE rid = ? AND verdict IS NULL ORDER BY ord',
  );
  const command = db.prepare<StoredCommandRow>(
    'SELECT id, accepted_at, body, verdict FROM commands WHERE rid = ? AND id = ?',
  );

  function ridOf(runId: string): { rid: number; created_at: number } | undefined {
    const id = runIdBytes(runId);
    return id && findRid.get(id);
  }

  function eventFrom(runId: string, row: StoredEventRow, createdAt: number): StoredEvent {
    const { seq, sum, overlay_sum: overlaySum } = row;
    const type = strings.read(row.type);
    const nodeId = row.node === null ? undefined : strings.read(row.node);
    if (type === undefined || (nodeId === undefined && row.node !== null))
      throw new DamagedRunError(runId, seq);
    const event: StoredEvent = {
      seq,
      type,
      at: createdAt + row.at,
      ...(nodeId !== undefined && { nodeId }),
      ...(row.cause !== null && { causeSeq: seq - row.cause }),
      payload: row.payload,
      ...(row.overlay !== null && { overlay: row.overlay }),
    };
    checkEvent(runId, event, { sum, overlaySum });
    return event;
  }

  /** Of a damaged run only what can still be read is shown; the others of a list are not affected. */
  function rowFrom(stored: StoredRun): RunRow {
    const runId = runIdText(stored.id);
    const record = ifWhole(() => recordFrom(runId, stored, strings));
    const { suspicion: text, inbox } = stored;
    const suspicion =
      text === null ? undefined : ifWhole(() => readOfRun(runId, (): Suspicion => JSON.parse(text)));
    const pending = inbox === 0 ? [] : waitingHeads.all(stored.rid).map(({ head }) => typeIn(head));
    const isWhole =
      record !== undefined &&
      (text === null || suspicion !== undefined) &&
      !pending.includes(undefined) &&
      isStatus(stored.status);
    return {
      ...rowWith(stored, record ?? placeholderOf(runId, stored)),
      pendingCommands: pending.filter((type) => type !== undefined),
      ...(suspicion !== undefined && { suspicion }),
      ...(!isWhole && { isDamaged: true }),
    };
  }

  function rowWith(stored: StoredRun, record: CreationRecord): Omit<RunRow, 'pendingCommands'> {
    const holder = stored.holder === null ? undefined : holders.alive(stored.holder, clock());
    return {
      record,
      head: headFrom(stored, strings),
      nextSeq: stored.next_seq,
      epoch: stored.epoch,
      ...(holder !== undefined && { holder }),
      ...(stored.lost_times !== null &&
        stored.lost_seq === stored.next_seq && { lostHolders: stored.lost_times }),
      ...(stored.erased !== null && { erasedAt: stored.created_at + stored.erased }),
    };
  }

  function placeholderOf(runId: string, stored: StoredRun): CreationRecord {
    const [tenant = '', workflowId = ''] = [strings.read(stored.tenant), strings.read(stored.workflow)];
    return placeholderRecord({ runId, tenant, workflowId, createdAt: stored.created_at });
  }

  /** The row of a run that this process holds since it was created, and whose inbox is empty; else only the file has it all. */
  function rowOfKnown({ record, head, nextSeq, epoch, holder: number, inbox }: KnownRun): RunRow | undefined {
    if (record === undefined || head === undefined || number === null || inbox > 0) return undefined;
    const holder = holders.alive(number, clock());
    return holder === undefined
      ? { record, head, nextSeq, epoch, pendingCommands: [] }
      : { record, head, nextSeq, epoch, holder, pendingCommands: [] };
  }

  return {
    rowFrom,
    readRun(runId, tenant) {
      const known = knownRuns.get(runId);
      const row = known && rowOfKnown(known);
      if (row !== undefined) return tenant === undefined || row.record.tenant === tenant ? row : undefined;
      const id = runIdBytes(runId);
      const stored = id && findRun.get(id);
      if (!stored || (tenant !== undefined && stored.tenant !== strings.find(tenant))) return undefined;
      return rowFrom(stored);
    },
    readEvents(runId, fromSeq, limit, maxBytes) {
      const known = knownRuns.get(runId)?.events;
      if (known !== undefined) return pageOf(known, fromSeq, limit, maxBytes);
      const run = ridOf(runId);
      const page: StoredEvent[] = [];
      let bytes = 0;
      let next = fromSeq;
      // In portions that grow: one row at a time is slow, and all at once could be a gigabyte.
      for (let most = FIRST_PORTION; run && page.length < limit; most = Math.min(2 * most, MOST_PORTION)) {
        const asked = Math.min(limit - page.length, most);
        const portion = events.all(run.rid, next, asked);
        for (const row of portion) {
          bytes += row.payload.length + (row.overlay?.length ?? 0);
          if (page.length > 0 && bytes > maxBytes) return page;
          // Within a log there is no gap: what should stand here is gone, or stands elsewhere.
          if (page.length > 0 && row.seq !== next) throw new DamagedRunError(runId, next);
          page.push(eventFrom(runId, row, run.created_at));
          next = row.seq + 1;
        }
        if (portion.length < asked) break;
      }
      return page;
    },
    readCheckpoint(runId) {
      const run = ridOf(runId);
      const row = run && checkpoint.get(run.rid);
      if (!row) return undefined;
      const { seq, foldVersion, state, sum } = row;
      // One that is damaged is as good as none: the log has it all.
      return sum === null || sum === checkpointSum(runId, seq, foldVersion, state)
        ? { seq, foldVersion, state }
        : undefined;
    },
    readInbox(runId) {
      const run = ridOf(runId);
      return run ? waiting.all(run.rid).map((row) => commandFrom(runId, row)) : [];
    },
    readCommand(runId, commandId) {
      const run = ridOf(runId);
      const row = run && command.get(run.rid, commandId);
      return row && commandFrom(runId, row);
    },
  };
}

/** Commands are written with their type first; undefined where that is damaged. */
function typeIn(head: string): Command['type'] | undefined {
  return /^\{"type":"([^"]+)"/.exec(head)?.[1] as Command['type'] | undefined;
}

function commandFrom(runId: string, row: StoredCommandRow): StoredCommand {
  return readOfRun(runId, () => {
    const command: Command = JSON.parse(row.body);
    return {
      commandId: row.id,
      command,
      acceptedAt: row.accepted_at,
      ...(row.verdict !== null && { commandResult: JSON.parse(row.verdict) }),
    };
  });
}
