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
import { placeholderRecord } from '../../placeholder-record.ts';
import { type HeadColumns, headFrom, isRunId, type RecordColumns, recordFrom } from './codec.ts';
import { gather } from '../connections/gather.ts';
import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from './read-rows.ts';
import { arrayText, type Scalar } from './rows.ts';

export interface RunReader {
  readRun(runId: string, tenant: string | undefined): Promise<RunRow | undefined>;
  readEvents(runId: string, fromSeq: number, limit: number, maxBytes: number): Promise<StoredEvent[]>;
  readCheckpoint(runId: string): Promise<Checkpoint | undefined>;
  readInbox(runId: string): Promise<StoredCommand[]>;
  readCommand(runId: string, commandId: string): Promise<StoredCommand | undefined>;
}

/** What the run's record has in common with others. */
export const ORIGIN = '(SELECT body FROM origins WHERE origins.id = runs.origin) AS origin';

/** A whole run row, as of the store's clock in parameter 1. */
export const RUN_COLUMNS = `runs.id, runs.ord, runs.tenant, workflow, runs.created_at, scope, ${ORIGIN}, record, sum, status, wake_at, started_at,
  ended_at, node, error, next_seq, epoch, erased_at,
  suspicion, lost_seq, lost_times,
  (SELECT name FROM holders WHERE name = runs.holder AND deadline > ${nowSql(1)}) AS holder,
  CASE WHEN inbox > 0 THEN
    (SELECT string_agg(kind, ',' ORDER BY commands.ord) FROM commands WHERE run = runs.id AND verdict IS NULL)
  END AS pending`;

const RUNS = `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ANY ($2::uuid[])`;
const MOST_GATHERED = 100;

export interface StoredRun extends RecordColumns, HeadColumns {
  readonly ord: number;
  readonly next_seq: number;
  readonly epoch: number;
  readonly holder: string | null;
  readonly erased_at: number | null;
  readonly suspicion: string | null;
  readonly lost_seq: number | null;
  readonly lost_times: number | null;
  /** Kinds of the waiting commands, with commas between them. */
  readonly pending: string | null;
}

/** Of a damaged record only the place is shown; the others of a list are not affected. */
export function runFrom(stored: StoredRun): RunRow {
  const { record, isDamaged } = keptRecord(stored);
  const { id, suspicion: text } = stored;
  const suspicion =
    text === null ? undefined : ifWhole(() => readOfRun(id, (): Suspicion => JSON.parse(text)));
  const isWhole = !isDamaged && (text === null || suspicion !== undefined);
  return {
    ...withRecord(stored, record),
    ...(suspicion !== undefined && { suspicion }),
    ...(!isWhole && { isDamaged: true }),
  };
}

/** A placeholder where the record is damaged. */
export function keptRecord(row: RecordColumns): {
  readonly record: CreationRecord;
  readonly isDamaged: boolean;
} {
  const record = ifWhole(() => recordFrom(row));
  if (record !== undefined) return { record, isDamaged: false };
  const { id: runId, tenant, workflow: workflowId, created_at: createdAt } = row;
  return { record: placeholderRecord({ runId, tenant, workflowId, createdAt }), isDamaged: true };
}

function withRecord(stored: StoredRun, record: CreationRecord): RunRow {
  return {
    record,
    head: headFrom(stored),
    nextSeq: stored.next_seq,
    epoch: stored.epoch,
    ...(stored.holder !== null && { holder: stored.holder }),
    pendingCommands: stored.pending === null ? [] : (stored.pending.split(',') as Command['type'][]),
    ...(stored.lost_times !== null &&
      stored.lost_seq === stored.next_seq && { lostHolders: stored.lost_times }),
    ...(stored.erased_at !== null && { erasedAt: stored.erased_at }),
  };
}

const PORTION = 1_000;

/** Pages of several logs. A page's first row is given whatever its size when `whole` says so: it is never empty while there is an event. */
const EVENTS = `
  SELECT place, seq, type, at, node, cause, payload, overlay, sum, overlay_sum, bytes
  FROM unnest($1::int[], $2::uuid[], $3::int[], $4::int[], $5::bigint[], $6::boolean[])
    AS asked (place, log, from_seq, most, budget, whole)
  CROSS JOIN LATERAL (
    SELECT *, pg_catalog.sum(octet_length(payload) + coalesce(octet_length(overlay), 0)) OVER (ORDER BY seq)::bigint AS bytes, row_number() OVER (ORDER BY seq) AS line
    FROM (SELECT * FROM events WHERE run = asked.log AND seq >= from_seq ORDER BY seq LIMIT asked.most) AS portion
  ) AS measured
  WHERE bytes <= budget OR (whole AND line = 1) ORDER BY place, seq`;

/** A page may be large, so not as many of them as of small rows. */
const MOST_PAGES = 20;

interface AskedPage {
  readonly runId: string;
  readonly from: number;
  readonly most: number;
  readonly budget: number;
  readonly whole: boolean;
}

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly node: string | null;
  readonly cause: number | null;
  readonly payload: string;
  readonly overlay: string | null;
  readonly sum: number | null;
  readonly overlay_sum: number | null;
}

interface PagedEventRow extends EventRow {
  readonly place: number;
  readonly bytes: number;
}

interface CommandRow {
  readonly run: string;
  readonly id: string;
  readonly accepted_at: number;
  readonly body: string;
  readonly verdict: string | null;
}

const COMMAND = 'SELECT run, id, accepted_at, body, verdict FROM commands';
const INBOXES = `${COMMAND} WHERE run = ANY ($1::uuid[]) AND verdict IS NULL ORDER BY run, ord`;
const CHECKPOINT =
  'SELECT seq, fold_version AS "foldVersion", state, sum FROM checkpoints WHERE run = $1::uuid';

export function prepareRunReader(pool: Pool, clock: (() => number) | undefined): RunReader {
  /** What is no run id names no run. */
  const ofRun = async <Row>(runId: string, text: string, ...values: Scalar[]) =>
    isRunId(runId) ? readRows<Row>(pool, text, [runId, ...values]) : [];

  const readStored = gather<string, StoredRun | undefined>(MOST_GATHERED, async (runIds) => {
    const values = [clock?.() ?? null, arrayText(runIds)];
    const rows = await readRows<StoredRun>(pool, RUNS, values);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return runIds.map((runId) => byId.get(runId));
  });

  const readPage = gather<AskedPage, readonly PagedEventRow[]>(MOST_PAGES, async (asked) => {
    const rows = await readRows<PagedEventRow>(pool, EVENTS, [
      arrayText([...asked.keys()]),
      arrayText(asked.map(({ runId }) => runId)),
      arrayText(asked.map(({ from }) => from)),
      arrayText(asked.map(({ most }) => most)),
      arrayText(asked.map(({ budget }) => budget)),
      arrayText(asked.map(({ whole }) => whole)),
    ]);
    const pages = asked.map((): PagedEventRow[] => []);
    for (const row of rows) pages[row.place]?.push(row);
    return pages;
  });

  const readWaiting = gather<string, readonly CommandRow[]>(MOST_GATHERED, async (runIds) => {
    const inboxes = new Map(runIds.map((runId) => [runId, [] as CommandRow[]]));
    for (const row of await readRows<CommandRow>(pool, INBOXES, [arrayText(runIds)]))
      inboxes.get(row.run)?.push(row);
    return runIds.map((runId) => inboxes.get(runId) ?? []);
  });

  return {
    async readRun(runId, tenant) {
      const stored = isRunId(runId) ? await readStored(runId) : undefined;
      return stored && (tenant === undefined || stored.tenant === tenant) ? runFrom(stored) : undefined;
    },
    async readEvents(runId, fromSeq, limit, maxBytes) {
      const page: StoredEvent[] = [];
      if (!isRunId(runId)) return page;
      let next = fromSeq;
      let budget = maxBytes;
      // In portions, so that the sizes of a million events are not added up for a page of a few.
      while (page.length < limit) {
        const wanted = Math.min(limit - page.length, PORTION);
        const whole = page.length === 0;
        const portion = await readPage({ runId, from: next, most: wanted, budget, whole });
        for (const row of portion) {
          // Within a log there is no gap: what should stand here is gone.
          if (page.length > 0 && row.seq !== next) throw new DamagedRunError(runId, next);
          page.push(eventFrom(runId, row));
          next = row.seq + 1;
        }
        const last = portion.at(-1);
        if (!last || portion.length < wanted) break;
        budget -= last.bytes;
      }
      return page;
    },
    async readCheckpoint(runId) {
      const [row] = await ofRun<Checkpoint & { readonly sum: number | null }>(runId, CHECKPOINT);
      if (!row) return undefined;
      const { seq, foldVersion, state, sum } = row;
      // One that is damaged is as good as none: the log has it all.
      return sum === null || sum === checkpointSum(runId, seq, foldVersion, state)
        ? { seq, foldVersion, state }
        : undefined;
    },
    async readInbox(runId) {
      return isRunId(runId) ? (await readWaiting(runId)).map(commandFrom) : [];
    },
    async readCommand(runId, commandId) {
      const [row] = await ofRun<CommandRow>(
        runId,
        `${COMMAND} WHERE run = $1::uuid AND id = $2::text`,
        commandId,
      );
      return row && commandFrom(row);
    },
  };
}

function eventFrom(runId: string, row: EventRow): StoredEvent {
  const event = eventOf(row);
  checkEvent(runId, event, { sum: row.sum, overlaySum: row.overlay_sum });
  return event;
}

export function eventOf(row: EventRow): StoredEvent {
  return {
    seq: row.seq,
    type: row.type,
    at: row.at,
    ...(row.node !== null && { nodeId: row.node }),
    ...(row.cause !== null && { causeSeq: row.cause }),
    payload: row.payload,
    ...(row.overlay !== null && { overlay: row.overlay }),
  };
}

function commandFrom(row: CommandRow): StoredCommand {
  return readOfRun(row.run, () => {
    const command: Command = JSON.parse(row.body);
    return {
      commandId: row.id,
      command,
      acceptedAt: row.accepted_at,
      ...(row.verdict !== null && { commandResult: JSON.parse(row.verdict) }),
    };
  });
}
