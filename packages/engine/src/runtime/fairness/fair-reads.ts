import { decorateStore } from '../../ports/decorate-store.ts';
import type { Store } from '../../ports/store.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import { inTurn } from './run-cooperatively.ts';

const KNOWN_TENANTS = 10_000;

/**
 * A store whose reads of runs take turns. Where it is embedded, a read takes the event loop for as long as the record, the
 * page or the checkpoint is large; a crowd of such reads waits tenant by tenant. Where the database is elsewhere, asking takes no
 * time and nobody waits.
 */
export function fairReads(store: Store): Store {
  const tenants = createBoundedCache<string, string>(KNOWN_TENANTS);
  const tenantOf = (runId: string): string => tenants.get(runId) ?? '';

  return decorateStore(store, {
    async readRun(runId, tenant) {
      const row = await inTurn(tenant ?? tenantOf(runId), () => store.readRun(runId, tenant));
      if (row !== undefined) tenants.set(runId, row.record.tenant);
      return row;
    },
    readEvents: (runId, fromSeq, limit, maxBytes) =>
      inTurn(tenantOf(runId), () => store.readEvents(runId, fromSeq, limit, maxBytes)),
    listRuns: (tenant, filter, page) => inTurn(tenant, () => store.listRuns(tenant, filter, page)),
    readCheckpoint: (runId) => inTurn(tenantOf(runId), () => store.readCheckpoint(runId)),
  });
}
