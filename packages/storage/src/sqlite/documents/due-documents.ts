import type { DueDocument, DueDocuments } from '@weft/engine';
import { batchText } from '../runs/codec.ts';
import type { Connection } from '../file/connection.ts';
import { type DocumentRow, documentFrom } from './documents.ts';

interface DueRow extends DocumentRow {
  readonly tenant: number;
  readonly scope: string;
  readonly due_at: number;
}

const COLUMNS = 'ord, tenant, scope, id, at, expires_at, due_at, batch, body';
const TIMED = 'documents INDEXED BY documents_due WHERE collection = ? AND due_at IS NOT NULL';
const IN_TURN = 'documents INDEXED BY documents_due_in_turn WHERE collection = ? AND due_at IS NOT NULL';
/** Restates isLive. */
const LIVE = '(expires_at IS NULL OR expires_at > ?)';

/**
 * Finds due documents. Leases stand in memory, because the file has one owner and a new one need not wait for them. Each is on
 * a version: whatever is written to the document ends it.
 */
export function prepareClaimDueDocuments({
  db,
  strings,
  clock,
}: Connection): (collection: string, limit: number, leaseMs: number) => DueDocuments {
  const oldest = db.prepare<DueRow>(
    `SELECT ${COLUMNS} FROM ${TIMED} AND due_at <= ? AND ${LIVE} ORDER BY due_at LIMIT ?`,
  );
  const nextTenant = db.prepare<{ tenant: number }>(
    `SELECT tenant FROM ${IN_TURN} AND tenant > ? ORDER BY tenant LIMIT 1`,
  );
  const oldestOf = db.prepare<DueRow>(
    `SELECT ${COLUMNS} FROM ${IN_TURN} AND tenant = ? AND due_at <= ? AND ${LIVE} ORDER BY due_at LIMIT ?`,
  );
  const following = db.prepare<Pick<DueRow, 'ord' | 'batch' | 'due_at'>>(
    `SELECT ord, batch, due_at FROM ${TIMED} ORDER BY due_at LIMIT ?`,
  );
  const leases = new Map<number, { readonly until: number; readonly version: string }>();

  function forgetLeases(now: number): void {
    for (const [ord, { until }] of leases) if (until <= now) leases.delete(ord);
  }

  const isFree = ({ ord, batch }: Pick<DueRow, 'ord' | 'batch'>): boolean =>
    leases.get(ord)?.version !== batchText(batch);

  /** When there are more than can be taken: one of each tenant, then a second of each. */
  function inTurn(collection: number, limit: number, now: number): DueRow[] {
    const lanes: DueRow[][] = [];
    for (
      let tenant = nextTenant.get(collection, 0)?.tenant;
      tenant !== undefined && lanes.length < limit;
      tenant = nextTenant.get(collection, tenant)?.tenant
    ) {
      const own = oldestOf.all(collection, tenant, now, now, limit + leases.size).filter(isFree);
      if (own.length > 0) lanes.push(own);
    }
    const chosen: DueRow[] = [];
    for (let round = 0; chosen.length < limit && lanes.some((own) => own.length > round); round += 1) {
      for (const own of lanes) {
        const next = own[round];
        if (next !== undefined && chosen.length < limit) chosen.push(next);
      }
    }
    return chosen;
  }

  return (name, limit, leaseMs) => {
    const now = clock();
    forgetLeases(now);
    const collection = strings.find(name);
    if (collection === undefined) return { now, rows: [] };
    // What is leased is in the way, so as much more is looked at.
    const due = oldest.all(collection, now, now, limit + 1 + leases.size).filter(isFree);
    const rows = due.length > limit ? inTurn(collection, limit, now) : due;
    for (const { ord, batch } of rows) leases.set(ord, { until: now + leaseMs, version: batchText(batch) });
    const next = following.all(collection, leases.size + 1).find(isFree);
    const times = [...(next ? [next.due_at] : []), ...[...leases.values()].map(({ until }) => until)];
    return {
      now,
      rows: rows.map(
        (row): DueDocument => ({
          ...documentFrom(row),
          tenant: strings.read(row.tenant) ?? '',
          scope: row.scope,
        }),
      ),
      ...(times.length > 0 && { nextAt: Math.min(...times) }),
    };
  };
}
