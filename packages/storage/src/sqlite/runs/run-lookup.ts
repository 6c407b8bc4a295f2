import type { RunLookup } from '@weft/engine/store-rules';
import type { Connection } from '../file/connection.ts';
import { runIdBytes, runIdText } from './codec.ts';
import { statusOf } from '../../status-number.ts';

/** What the rules of the store ask about other runs than the one that is written. */
export function prepareRunLookup({ db, strings }: Connection): RunLookup {
  const findOther = db.prepare<{ status: number; isErased: number }>(
    'SELECT status, erased IS NOT NULL AS isErased FROM runs WHERE id = ?',
  );
  // Restates isOpen, by the index that has open runs by scope.
  const findActive = db.prepare<{ id: Uint8Array }>(
    'SELECT id FROM runs WHERE tenant = ? AND scope = ? AND scope IS NOT NULL AND status < 6 ORDER BY rid LIMIT 1',
  );

  return {
    isTaken(runId) {
      const id = runIdBytes(runId);
      return id !== undefined && findOther.get(id) !== undefined;
    },
    find(runId) {
      const id = runIdBytes(runId);
      const run = id && findOther.get(id);
      return run && { status: statusOf(run.status), isErased: run.isErased === 1 };
    },
    openIn(tenant, scopeId) {
      const number = strings.find(tenant);
      const active = number === undefined ? undefined : findActive.get(number, scopeId);
      return active && runIdText(active.id);
    },
  };
}
