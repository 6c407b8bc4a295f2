import { decorateStore } from '../../ports/decorate-store.ts';
import type { Store } from '../../ports/store.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import { createGate } from './gate.ts';
import { inTurn } from './run-cooperatively.ts';

const KNOWN_TENANTS = 10_000;
/** A page of a list may be a megabyte of records, and keeps a connection to the database busy for as long as that takes. */
const LISTS_AT_A_TIME = { inAll: 4, perTenant: 2 };

/**
 * A store whose reads of runs take turns. Where it is embedded, a read takes the event loop for as long as the record, the
 * page or the checkpoint is large; a crowd of such reads waits tenant by tenant. Where the database is elsewhere, asking takes no
 * time; there pages of lists are few at a time, so that other reads and writes find a connection.
 */
export function fairReads(store: Store): Store {
  const tenants = createBoundedCache<string, string>(KNOWN_TENANTS);
  const lists = createGate(LISTS_AT_A_TIME);
  const tenantOf = (runId: string): string => tenants.get(runId) ?? '';

  return decorateStore(store, {
    async readRun(runId, tenant) {
      const row = await inTurn(tenant ?? tenantOf(runId), () => store.readRun(runId, tenant));
      if (row !== undefined) tenants.set(runId, row.record.tenant);
      return row;
    },
    readEvents: (runId, fromSeq, limit, maxBytes) =>
      inTurn(tenantOf(runId), () => store.readEvents(runId, fromSeq, limit, maxBytes)),
    listRuns: (tenant, filter, page) =>
      lists.pass(tenant, () => inTurn(tenant, () => store.listRuns(tenant, filter, page))),
    countRuns: (tenant, filter, bucketMs, most) =>
      lists.pass(tenant, () => inTurn(tenant, () => store.countRuns(tenant, filter, bucketMs, most))),
    readCosts: (tenant, query) =>
      lists.pass(tenant, () => inTurn(tenant, () => store.readCosts(tenant, query))),
    readCheckpoint: (runId) => inTurn(tenantOf(runId), () => store.readCheckpoint(runId)),
  });
}
