import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExpiredRun, Store } from '@weft/engine';
import { runIdText } from '../runs/codec.ts';
import { FIRST_TERMINAL } from '../../status-number.ts';
import type { Connection } from '../file/connection.ts';
import { decodeCursor, encodeCursor } from '../runs/cursor.ts';
import { NO_TENANT } from './pending-deletes.ts';

/** Looked at per turn of the event loop, as in lists: most runs of a store may be too young. */
const SCAN_STEP = 1_000;

interface Row {
  readonly rid: number;
  readonly id: Uint8Array;
  readonly tenant: number;
  readonly created_at: number;
  readonly ended: number | null;
  readonly status: number;
  readonly next_seq: number;
}

interface Place {
  readonly createdAt: number;
  readonly rid: number;
}

const COLUMNS = 'rid, id, tenant, created_at, ended, status, next_seq';

/** Walks the runs of a tenant from the oldest on; those of all tenants by number, which is close to that order. */
export function prepareListExpired({ db, strings }: Connection): Store['listExpired'] {
  const ofTenant = db.prepare<Row>(
    `SELECT ${COLUMNS} FROM runs WHERE tenant = ? AND (created_at, rid) > (?, ?) AND created_at < ?
     ORDER BY created_at, rid LIMIT ${SCAN_STEP}`,
  );
  const ofAll = db.prepare<Row>(
    `SELECT ${COLUMNS} FROM runs WHERE rid > ? AND tenant <> ${NO_TENANT} ORDER BY rid LIMIT ${SCAN_STEP}`,
  );

  function step(tenant: number | undefined, place: Place, before: number): Row[] {
    return tenant === undefined
      ? ofAll.all(place.rid)
      : ofTenant.all(tenant, place.createdAt, place.rid, before);
  }

  return async (tenant, before, page) => {
    const number = tenant === undefined ? undefined : strings.find(tenant);
    if (tenant !== undefined && number === undefined) return { rows: [] };
    const [createdAt = Number.MIN_SAFE_INTEGER, rid = 0] =
      page.cursor === undefined ? [] : decodeCursor(page.cursor, 2);
    const rows: ExpiredRun[] = [];
    for (let place: Place = { createdAt, rid }; ; await nextTurn()) {
      const looked = step(number, place, before);
      for (const row of looked) {
        place = { createdAt: row.created_at, rid: row.rid };
        if (!isExpired(row, before)) continue;
        rows.push(expiredFrom(row, strings.read(row.tenant) ?? ''));
        if (rows.length >= page.limit)
          return { rows, nextCursor: encodeCursor([place.createdAt, place.rid]) };
      }
      if (looked.length < SCAN_STEP) return { rows };
    }
  };
}

function isExpired(row: Row, before: number): boolean {
  return row.status >= FIRST_TERMINAL && row.created_at < before && endOf(row) < before;
}

function endOf({ created_at, ended }: Row): number {
  return created_at + (ended ?? 0);
}

function expiredFrom(row: Row, tenant: string): ExpiredRun {
  return { runId: runIdText(row.id), tenant, endedAt: endOf(row), events: row.next_seq };
}
